import { type Connected, type ConnectOptions, connectInMemory } from "@refmcp/testing";
import { beforeEach, describe, expect, it } from "vitest";
import { server } from "../src/server.ts";
import { git, makeDirty, place, sampleRepository, servers, useTestDirectory } from "./fixture.ts";
import { ALL_TOOLS } from "./world.ts";

useTestDirectory();
let root: string;
beforeEach(() => {
  root = makeDirty(sampleRepository(place.path("my repo")));
});

async function connect(options: ConnectOptions = {}): Promise<Connected> {
  const args = [place.folder, ...ALL_TOOLS, ...(options.args ?? [])];
  const connected = await connectInMemory(server, { ...options, args });
  servers.push(connected);
  return connected;
}

describe.each(["legacy", "modern"] as const)("in the %s era", (era) => {
  it("danger is refused if the user cannot be asked, and the error names the option; with --confirm never it proceeds", async () => {
    const drop = { name: "git_delete", arguments: { kind: "stash", name: "stash@{0}" } };
    const refused = await (await connect({ era })).client.callTool(drop);
    expect(refused.isError).toBe(true);
    expect(JSON.stringify(refused.content)).toContain("--confirm never");
    expect(git(root, "stash", "list")).not.toBe("");
    const unasked = await connect({ era, args: ["--confirm", "never"] });
    expect((await unasked.client.callTool(drop)).isError).not.toBe(true);
    expect(git(root, "stash", "list")).toBe("");
  });

  it("the resource of a repository shows its status", async () => {
    const { client } = await connect({ era });
    const { contents } = await client.readResource({ uri: "git://my%20repo/status" });
    expect(contents).toMatchObject([{ text: expect.stringMatching(/"branch": ?"main"/) }]);
    await expect(
      client.readResource({ uri: `git://${encodeURIComponent(place.home)}/status` }),
    ).rejects.toThrow();
    const { resources } = await client.listResources();
    expect(resources.map(({ uri }) => uri)).toEqual(["git://my%20repo/status"]);
  });

  it("prompts contain the current state of the repository, and refuse to show nothing", async () => {
    const { client } = await connect({ era });
    const prompt = async (name: string, args: Record<string, string> = {}) =>
      JSON.stringify((await client.getPrompt({ name, arguments: args })).messages);
    const message = await prompt("commit_message");
    const parts = ["+let x = 1;", "Our line\\nAdd café", '"uri":"git://my%20repo/diff/staged"'];
    for (const part of parts) expect(message).toContain(part);
    const staged = await prompt("review_changes", { changes: "staged" });
    expect(staged).toContain("+let x = 1;");
    expect(staged).not.toContain("+FOUR");
    expect(await prompt("review_changes")).toMatch(/\+let x = 1;.*\+FOUR|\+FOUR.*\+let x = 1;/);
    expect(await prompt("review_changes")).toContain("+not tracked");
    expect(await prompt("review_changes", { branch: "feature" })).toContain(
      "refs/heads/main...feature",
    );
    git(root, "update-ref", "refs/remotes/origin/dev", "v0.9");
    git(root, "symbolic-ref", "refs/remotes/origin/HEAD", "refs/remotes/origin/dev");
    const branch = await prompt("review_changes", { branch: "feature" });
    expect(branch).toContain("refs/remotes/origin/HEAD...feature");
    git(root, "stash", "push", "--quiet", "--include-untracked");
    await expect(prompt("commit_message")).rejects.toThrow(/Nothing is staged/);
    await expect(prompt("review_changes")).rejects.toThrow();
  });
});
