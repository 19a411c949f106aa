import { existsSync } from "node:fs";
import { connectInMemory, fakeCall } from "@refmcp/testing";
import { describe, expect, it } from "vitest";
import type { GitOptions } from "../src/git/open/machine.ts";
import { server } from "../src/server.ts";
import { at, cloned, failureOf, LOOPBACK, place, useSample } from "./fixture.ts";
import { executable } from "./traps.ts";
import { ALL_TOOLS } from "./world.ts";

const sample = useSample("clean");

/** Installs a hook that leaves a mark, complains and rejects. */
function rejecting(name: string, root = sample().root): () => boolean {
  const mark = place.path(`${name} ran`);
  const script = `touch "${mark}"\necho "error: lint failed in a.ts" >&2\nexit 1`;
  executable(`${root}/.git/hooks/${name}`, script);
  return () => existsSync(mark);
}

const head = () => sample().id("HEAD");
const call = (
  tool: string,
  args: object,
  recorded = fakeCall(),
  options: Partial<GitOptions> = {},
) => at(sample().root, options).call(tool, { ...args }, recorded);
const COMMIT = { message: "Empty", allow_empty: true };

it.each(["legacy", "modern"] as const)(
  "the user decides, regardless of skip_hooks (%s)",
  async (era) => {
    const ran = rejecting("pre-commit");
    const before = head();
    const questions: string[] = [];
    let agrees = true;
    const { client, close } = await connectInMemory(server, {
      era,
      args: [place.folder, ...ALL_TOOLS],
      elicit({ message }) {
        questions.push(message);
        return agrees ? { action: "accept", content: { confirm: true } } : { action: "decline" };
      },
    });
    const commit = { name: "git_commit", arguments: { repo_path: sample().root, ...COMMIT } };
    const failed = await client.callTool(commit);
    expect(failed.isError).toBe(true);
    expect(JSON.stringify(failed.content)).toContain("lint failed in a.ts");
    expect([ran(), head()]).toEqual([true, before]);
    agrees = false;
    const { structuredContent } = await client.callTool(commit);
    expect(structuredContent).toMatchObject({
      notes: ["Did not run the hooks pre-commit: the user declined."],
    });
    expect(questions).toHaveLength(2);
    await close();
  },
);

it("with --hooks run or off, or --confirm never, nobody is asked", async () => {
  const ran = rejecting("commit-msg");
  const asked = fakeCall({ agrees: true });
  const { data } = await call("git_commit", COMMIT, asked, { hooks: "off" });
  expect(data.notes).toEqual(["Did not run the hooks commit-msg: --hooks off."]);
  const never = await failureOf(call("git_commit", COMMIT, asked, { mayAsk: false }));
  expect(never.code).toBe("hook_needed");
  expect(ran()).toBe(false);
  const skip = { ...COMMIT, skip_hooks: true };
  const failed = await failureOf(call("git_commit", skip, asked, { hooks: "run" }));
  expect(failed.code).toBe("hook_failed");
  expect([ran(), asked.questions]).toEqual([true, []]);
});

describe("every tool that would run a hook that checks", () => {
  const cases: [tool: string, hook: string, args: object][] = [
    ["git_commit", "pre-commit", COMMIT],
    ["git_commit", "prepare-commit-msg", COMMIT],
    ["git_commit", "commit-msg", COMMIT],
    ["git_merge", "pre-merge-commit", { revision: "feature" }],
    ["git_merge", "commit-msg", { revision: "feature" }],
    ["git_cherry_pick", "prepare-commit-msg", { commits: ["feature"] }],
    ["git_revert", "prepare-commit-msg", { commit: "HEAD" }],
    ["git_rebase", "pre-rebase", { onto: "feature", on_conflict: "keep" }],
    ["git_rebase", "prepare-commit-msg", { onto: "feature", on_conflict: "keep" }],
  ];

  it.each(cases)(
    "%s refuses %s, runs it if the user agrees, and goes past it on request",
    async (tool, hook, args) => {
      const before = head();
      const ran = rejecting(hook);
      const refused = await failureOf(call(tool, args));
      expect(refused).toMatchObject({ code: "hook_needed", message: expect.stringMatching(hook) });
      expect(refused.hint).toMatch(/--hooks run.*skip_hooks: true/);
      expect(ran()).toBe(false);
      const failed = await failureOf(call(tool, args, fakeCall({ agrees: true })));
      expect(failed.code).toBe("hook_failed");
      expect(failed.message).toContain("error: lint failed in a.ts");
      expect(ran()).toBe(true);
      expect([head(), sample().git("status", "--porcelain")]).toEqual([before, ""]);
      expect((await call("git_status", {})).data.operation).toBeUndefined();
      const { data } = await call(tool, { ...args, skip_hooks: true });
      expect(data.notes).toEqual([`Did not run the hooks ${hook}: skip_hooks.`]);
      expect(head()).not.toBe(before);
    },
  );

  it("a fast-forward calls none of them", async () => {
    rejecting("pre-merge-commit");
    sample().git("reset", "--quiet", "--hard", "v0.9");
    const { data } = await call("git_merge", { revision: "feature" });
    expect(data).toMatchObject({ fast_forward: true });
    expect(data.notes).toBeUndefined();
  });

  it("a push, with and without force", async () => {
    const { root, id, commit, bare, ...here } = await cloned();
    const before = bare.id("main");
    commit("New", { "new.txt": "new\n" });
    const ran = rejecting("pre-push", root);
    /** Agrees that commits are replaced, and to the hooks or not. */
    const push = (tool: string, args: object, agrees: boolean) => {
      const [yes, no] = [fakeCall({ agrees: true }), fakeCall()];
      const confirm = (question: string) =>
        (agrees || question.startsWith("Replace") ? yes : no).confirm(question);
      const asked = Object.assign(fakeCall(), { confirm });
      return at(root, LOOPBACK).call(tool, { ...args }, asked);
    };
    const tools = ["git_push", "git_push_force_with_lease"];
    for (const tool of tools)
      expect((await failureOf(push(tool, {}, false))).code).toBe("hook_needed");
    expect(ran()).toBe(false);
    for (const tool of tools)
      expect((await failureOf(push(tool, {}, true))).message).toContain("lint failed in a.ts");
    expect(bare.id("main")).toBe(before);
    const { data } = await push("git_push", { skip_hooks: true }, false);
    expect(data.notes).toEqual(["Did not run the hooks pre-push: skip_hooks."]);
    expect(bare.id("main")).toBe(id("HEAD"));
    here.git("reset", "--quiet", "--hard", before);
    await push("git_push_force_with_lease", { skip_hooks: true }, false);
    expect(bare.id("main")).toBe(before);
  });
});

it("a hook can use patterns of paths, and the files of a commit stay literal", async () => {
  const { root, git, write } = sample();
  const list = "git diff --cached --name-only -- '*.env'";
  executable(`${root}/.git/hooks/pre-commit`, `${list}; test -z "$(${list})"`);
  for (const path of ["deep/secret.env", "*.ts", "src/app.ts"]) write(path, "changed\n");
  const commit = (file: string) =>
    call("git_commit", { message: file, files: [file] }, undefined, { hooks: "run" });
  const refused = await failureOf(commit("deep/secret.env"));
  expect(refused.code).toBe("hook_failed");
  expect(refused.message).toContain("secret.env");
  git("reset", "--quiet");
  await commit("*.ts");
  expect(git("show", "--name-only", "--format=").trim()).toBe("*.ts");
});
