import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { connectStdio } from "@refmcp/testing";
import { expect, it } from "vitest";
import { BIN, cleanUp, type Project, project, start, textOf } from "./project.ts";

/** What the composed program promises, as a client over stdio sees it, however it is built. */

cleanUp();

const GIT = fileURLToPath(new URL("../../../servers/git/dist/bin.js", import.meta.url));

it("offers the tools of a server that are on by default when it runs alone, and no others", async () => {
  const place = project();
  const { client } = await start(place);
  const alone = await connectStdio(GIT, { args: [place.folder], env: place.env });
  const expected = (await alone.client.listTools()).tools.map(({ name }) => name).sort();
  await alone.close();
  const listed = (await client.listTools()).tools.map(({ name }) => name);
  expect(listed.filter((name) => name.startsWith("git_")).sort()).toEqual(expected);
  const searching = await start(place, { args: [place.folder, "--find-tools"] });
  const answer = await searching.client.callTool({
    name: "find_tools",
    arguments: { server: "git" },
  });
  const tools: readonly { name: string }[] = Object(answer.structuredContent).tools;
  expect(tools.map(({ name }) => name).sort()).toEqual(expected);

  const url = "https://attacker.invalid/x.git";
  const calls = [
    { name: "git_set_remote", arguments: { remote: "origin", action: "set", url } },
    { name: "git_push", arguments: {} },
  ];
  for (const call of calls) {
    expect(expected).not.toContain(call.name);
    await expect(client.callTool(call)).rejects.toThrow("nknown tool");
    const answer = await searching.client.callTool({ name: "call_tool", arguments: call });
    expect(answer.isError).toBe(true);
    expect(textOf(answer)).toContain(`Unknown tool "${call.name}"`);
  }
  expect(place.git("remote")).toBe("");
});

it("offers more of a server's tools if its option says so", async () => {
  const place = project();
  const args = [place.folder, "--git.toolsets=read,remote"];
  const { client } = await start(place, { args });
  const answer = await client.callTool({ name: "git_push", arguments: {} });
  expect(textOf(answer)).not.toContain("nknown tool");
});

/** Runs the program as at a terminal, with the hosts Cursor and Codex in the user's home. */
function run({ env, folder }: Project, ...args: string[]) {
  const home = env.HOME ?? "";
  for (const directory of [".cursor", ".codex"])
    mkdirSync(join(home, directory), { recursive: true });
  const { status, stdout, stderr } = spawnSync(process.execPath, [BIN, ...args], {
    cwd: folder,
    env: { ...env, PATH: process.env.PATH },
    encoding: "utf8",
  });
  return { status, stdout, stderr, cursor: join(home, ".cursor", "mcp.json") };
}

it("setup writes nothing if a directory does not exist, and --print-config warns", () => {
  const place = project();
  const { status, stdout, cursor } = run(place, "setup", "missing", "--yes");
  expect(status).toBe(2);
  expect(stdout).toContain(`The directory ${place.path("missing")} does not exist`);
  expect(stdout).not.toContain("✓");
  expect(existsSync(cursor)).toBe(false);
  const printed = run(place, "missing", "--print-config", "cursor");
  expect(printed.stderr).toContain(`Warning: ${place.path("missing")} does not exist.`);
});

it("setup claims for no host that the host has been checked", () => {
  const { status, stdout } = run(project(), "setup", ".", "--yes");
  expect(status, stdout).toBe(0);
  for (const title of ["Cursor", "Codex"])
    expect(stdout).toMatch(
      new RegExp(`^✓ ${title}: \\S+ has the entry, which starts and lists \\d+ tools\\.`, "m"),
    );
  expect(stdout).toContain("The hosts themselves were not started.");
});
