import { type Connected, type ConnectOptions, connectInMemory } from "@refmcp/testing";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import * as z from "zod";
import { server } from "../src/server.ts";
import { git, makeDirty, type Scratch, sampleRepository, scratch } from "./fixture.ts";
import { ALL_TOOLS } from "./world.ts";

let place: Scratch;
let root: string;
const open: { close(): Promise<unknown> }[] = [];
beforeEach(() => {
  place = scratch();
  root = makeDirty(sampleRepository(place.path("my repo")));
});
afterEach(async () => {
  for (const one of open.splice(0)) await one.close();
  place.dispose();
});

async function connect(options: ConnectOptions = {}): Promise<Connected> {
  const args = [place.folder, ...ALL_TOOLS, ...(options.args ?? [])];
  const connected = await connectInMemory(server, { ...options, args });
  open.push(connected);
  return connected;
}

const textOf = (result: { content: { type: string; text?: string }[] }) =>
  result.content.map(({ text }) => text ?? "").join("\n");

describe.each(["legacy", "modern"] as const)("in the %s era", (era) => {
  it("danger shows the exact loss, waits for the user's confirmation, and leaves a recovery ref", async () => {
    const questions: string[] = [];
    let agrees = false;
    const { client } = await connect({
      era,
      elicit: ({ message }) => {
        questions.push(message);
        return { action: "accept", content: { confirm: agrees } };
      },
    });
    const reset = { name: "git_reset_hard", arguments: { revision: "v0.9" } };
    const head = git(root, "rev-parse", "HEAD");
    const declined = await client.callTool(reset);
    expect(declined.isError).toBe(true);
    expect(git(root, "rev-parse", "HEAD")).toBe(head);
    agrees = true;
    const done = await client.callTool(reset);
    expect(done.isError).not.toBe(true);
    expect(questions).toHaveLength(2);
    expect(questions[1]).toContain('This discards 1 commit: "');
    expect(questions[1]).toContain("src/app.ts, src/util.ts");
    expect(git(root, "rev-parse", "HEAD")).toBe(git(root, "rev-parse", "v0.9"));
    const { recovery } = z.object({ recovery: z.string() }).parse(done.structuredContent);
    expect(git(root, "rev-parse", `${recovery}^1`)).toBe(head);
  });

  it("danger is refused if the user cannot be asked, and the error names the option; with --confirm never it proceeds", async () => {
    const { client } = await connect({ era });
    const refused = await client.callTool({
      name: "git_delete",
      arguments: { kind: "stash", name: "stash@{0}" },
    });
    expect(refused.isError).toBe(true);
    expect(textOf(refused)).toContain("--confirm never");
    expect(git(root, "stash", "list")).not.toBe("");
    const unasked = await connect({ era, args: ["--confirm", "never"] });
    const done = await unasked.client.callTool({
      name: "git_delete",
      arguments: { kind: "stash", name: "stash@{0}" },
    });
    expect(done.isError).not.toBe(true);
    expect(git(root, "stash", "list")).toBe("");
  });

  it("the resource of a repository shows its status", async () => {
    const { client } = await connect({ era });
    const { contents } = await client.readResource({ uri: "git://my%20repo/status" });
    const [status] = contents;
    expect(JSON.parse(status !== undefined && "text" in status ? status.text : "")).toMatchObject({
      branch: "main",
    });
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
    for (const part of [
      "+let x = 1;",
      "Our line\\nAdd café",
      '"uri":"git://my%20repo/diff/staged"',
    ])
      expect(message).toContain(part);
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
