import { fileURLToPath } from "node:url";
import { connectStdio } from "@refmcp/testing";
import { expect, it } from "vitest";
import { cleanUp, project, start, textOf } from "./project.ts";

/** What the composed program promises, as a client over stdio sees it, however it is built. */

cleanUp();

const GIT = fileURLToPath(new URL("../../../servers/git/dist/bin.js", import.meta.url));

it("offers the tools of a server that are on by default when it runs alone, and no others", async () => {
  const place = project();
  const { client } = await start(place);
  const alone = await connectStdio(GIT, { args: [place.folder], env: place.env });
  const expected = (await alone.client.listTools()).tools.map(({ name }) => name).sort();
  await alone.close();
  const found = await client.callTool({ name: "find_tools", arguments: { server: "git" } });
  const tools: readonly { name: string }[] = Object(found.structuredContent).tools;
  expect(tools.map(({ name }) => name).sort()).toEqual(expected);

  const url = "https://attacker.invalid/x.git";
  const calls = [
    { name: "git_set_remote", arguments: { remote: "origin", action: "set", url } },
    { name: "git_push", arguments: {} },
  ];
  for (const call of calls) {
    expect(expected).not.toContain(call.name);
    const answer = await client.callTool({ name: "call_tool", arguments: call });
    expect(answer.isError).toBe(true);
    expect(textOf(answer)).toContain(`no tool "${call.name}"`);
  }
  expect(place.git("remote")).toBe("");
});

it("offers more of a server's tools if its option says so", async () => {
  const place = project();
  const args = [place.folder, "--git.toolsets=read,remote"];
  const { client } = await start(place, { args });
  const answer = await client.callTool({
    name: "call_tool",
    arguments: { name: "git_push", arguments: {} },
  });
  expect(textOf(answer)).not.toContain("no tool");
});
