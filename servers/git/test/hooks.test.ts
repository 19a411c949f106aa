import { existsSync, mkdirSync } from "node:fs";
import { dirname } from "node:path";
import { connectInMemory, fakeCall } from "@refmcp/testing";
import { beforeEach, describe, expect, it } from "vitest";
import type { GitOptions } from "../src/git/open/machine.ts";
import { server } from "../src/server.ts";
import {
  callTool,
  commitFiles,
  failureOf,
  git,
  gitOver,
  sampleRepository,
  write,
} from "./fixture.ts";
import { executable } from "./traps.ts";
import { cloned, LOOPBACK, place, useTestDirectory } from "./upstream.ts";
import { ALL_TOOLS } from "./world.ts";

useTestDirectory();

let root: string;
beforeEach(() => {
  root = sampleRepository(place.path("repo"));
  git(root, "stash", "clear");
});

/** Installs a hook that leaves a mark, complains and rejects. */
function rejecting(name: string): () => boolean {
  const mark = place.path(`${name} ran`);
  const file = `${root}/.git/hooks/${name}`;
  mkdirSync(dirname(file), { recursive: true });
  executable(file, `touch "${mark}"\necho "error: lint failed in a.ts" >&2\nexit 1`);
  return () => existsSync(mark);
}

const head = () => git(root, "rev-parse", "HEAD").trim();
const call = (
  tool: string,
  args: object,
  recorded = fakeCall(),
  options: Partial<GitOptions> = {},
) => callTool(gitOver([place.folder], options), tool, { repo_path: root, ...args }, recorded);
const COMMIT = { message: "Empty", allow_empty: true };

it.each(["legacy", "modern"] as const)(
  "the user decides, whatever skip_hooks says (%s)",
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
    const commit = { name: "git_commit", arguments: { repo_path: root, ...COMMIT } };
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
      expect([head(), git(root, "status", "--porcelain")]).toEqual([before, ""]);
      expect((await call("git_status", {})).data.operation).toBeUndefined();
      const { data } = await call(tool, { ...args, skip_hooks: true });
      expect(data.notes).toEqual([`Did not run the hooks ${hook}: skip_hooks.`]);
      expect(head()).not.toBe(before);
    },
  );

  it("a fast-forward calls none of them", async () => {
    rejecting("pre-merge-commit");
    git(root, "reset", "--quiet", "--hard", "v0.9");
    const { data } = await call("git_merge", { revision: "feature" });
    expect(data).toMatchObject({ fast_forward: true });
    expect(data.notes).toBeUndefined();
  });

  it("a push, with and without force", async () => {
    const { root: clone, bare } = await cloned();
    root = clone;
    commitFiles(root, "New", { "new.txt": "new\n" });
    const remote = () => git(bare, "rev-parse", "main").trim();
    const before = remote();
    const ran = rejecting("pre-push");
    /** Agrees that commits are replaced, and to the hooks or not. */
    const push = (tool: string, args: object, agrees: boolean) => {
      const yes = fakeCall({ agrees: true });
      const no = fakeCall();
      const confirm = (question: string) =>
        (agrees || question.startsWith("Replace") ? yes : no).confirm(question);
      return call(tool, args, Object.assign(fakeCall(), { confirm }), LOOPBACK);
    };
    for (const tool of ["git_push", "git_push_force_with_lease"]) {
      expect((await failureOf(push(tool, {}, false))).code).toBe("hook_needed");
      expect(ran()).toBe(false);
    }
    for (const tool of ["git_push", "git_push_force_with_lease"])
      expect((await failureOf(push(tool, {}, true))).message).toContain("lint failed in a.ts");
    expect(remote()).toBe(before);
    const { data } = await push("git_push", { skip_hooks: true }, false);
    expect(data.notes).toEqual(["Did not run the hooks pre-push: skip_hooks."]);
    expect(remote()).toBe(head());
    git(root, "reset", "--quiet", "--hard", before);
    await push("git_push_force_with_lease", { skip_hooks: true }, false);
    expect(remote()).toBe(before);
  });
});

it("a hook can use patterns of paths, and the files of a commit stay literal", async () => {
  const file = `${root}/.git/hooks/pre-commit`;
  mkdirSync(dirname(file), { recursive: true });
  executable(
    file,
    "git diff --cached --name-only -- '*.env'; test -z \"$(git diff --cached --name-only -- '*.env')\"",
  );
  write(root, "deep/secret.env", "password\n");
  write(root, "*.ts", "literal\n");
  write(root, "src/app.ts", "changed\n");
  const refused = await failureOf(
    call("git_commit", { message: "Secret", files: ["deep/secret.env"] }, undefined, {
      hooks: "run",
    }),
  );
  expect(refused).toMatchObject({
    code: "hook_failed",
    message: expect.stringContaining("secret.env"),
  });
  git(root, "reset", "--quiet");
  await call("git_commit", { message: "One file", files: ["*.ts"] }, undefined, { hooks: "run" });
  expect(git(root, "show", "--name-only", "--format=").trim()).toBe("*.ts");
});
