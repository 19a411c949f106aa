import { fakeCall } from "@refmcp/testing";
import { beforeEach, describe, expect, it } from "vitest";
import { prompts } from "../src/prompts/index.ts";
import {
  callTool,
  commitFiles,
  emptyRepository,
  failureOf,
  git,
  gitOver,
  sampleRepository,
  write,
} from "./fixture.ts";
import { place, useTestDirectory } from "./upstream.ts";

useTestDirectory();

const over = () => gitOver([place.folder]);
const call = (root: string, tool: string, args: object = {}) =>
  callTool(over(), tool, { repo_path: root, ...args });

describe("a name of two things", () => {
  let root: string;
  beforeEach(() => {
    root = sampleRepository(place.path("repo"));
    git(root, "reset", "--quiet", "--hard");
    git(root, "tag", "feature", "main");
  });

  const users: [tool: string, args: object][] = [
    ["git_merge", { revision: "feature" }],
    ["git_diff", { target: "main...feature" }],
    ["git_diff", { target: "feature" }],
    ["git_log", { revision: "main..feature" }],
    ["git_show", { revision: "feature:src/app.ts" }],
    ["git_show", { revision: "feature~1" }],
    ["git_blame", { path: "src/app.ts", revision: "feature" }],
    ["git_grep", { pattern: "x", revision: "feature" }],
    ["git_cherry_pick", { commits: ["main", "feature"] }],
    ["git_rebase", { onto: "feature" }],
    ["git_reset_hard", { revision: "feature" }],
    ["git_create_branch", { branch_name: "new", base_branch: "feature" }],
    ["git_branch", { contains: "feature" }],
  ];
  it.each(users)("is refused by %s %o", async (tool, args) => {
    // The repository cannot switch git's warning off.
    git(root, "config", "core.warnAmbiguousRefs", "false");
    const error = await failureOf(call(root, tool, args));
    expect(error).toMatchObject({ kind: "invalid", code: "ambiguous_name" });
    expect(error.hint).toContain("such as refs/heads/feature");
  });

  it("works by its full name, and where only a branch can be meant", async () => {
    const whole = await call(root, "git_diff", { target: "main...refs/heads/feature" });
    expect(whole.text).toContain("+TEN");
    expect((await call(root, "git_merge", { revision: "refs/heads/feature" })).data.count).toBe(2);
    expect((await call(root, "git_checkout", { branch_name: "feature" })).data.branch).toBe(
      "feature",
    );
  });

  it("works for git's own names", async () => {
    git(root, "tag", "HEAD", "v0.9");
    expect((await call(root, "git_log", { max_count: 1 })).data).toMatchObject({
      commits: [{ message: "Our line" }],
    });
  });

  it("is refused if a branch looks like a commit's id, or a file in the git directory hides it", async () => {
    const id = git(root, "rev-parse", "v0.9").trim().slice(0, 10);
    git(root, "branch", id, "feature~1");
    expect((await failureOf(call(root, "git_show", { revision: id }))).code).toBe("ambiguous_name");
    write(root, ".git/conflicting", git(root, "rev-parse", "v0.9"));
    const hidden = await failureOf(call(root, "git_diff", { target: "main...conflicting" }));
    expect(hidden.code).toBe("ambiguous_name");
  });
});

describe("the prompt review_changes", () => {
  const review = async (root: string, args: Record<string, string> = {}) => {
    const prompt = prompts.find(({ name }) => name === "review_changes");
    const run = prompt?.run as (args: object, over: unknown, call: unknown) => Promise<unknown>;
    return JSON.stringify(
      await run(prompt?.args.parse({ repo_path: root, ...args }) ?? {}, over(), fakeCall()),
    );
  };

  it("shows new files, or only what is staged, and refuses to review nothing", async () => {
    const root = sampleRepository(place.path("repo"));
    git(root, "reset", "--quiet", "--hard");
    expect(await failureOf(review(root))).toMatchObject({ code: "nothing_to_review" });
    write(root, "new.ts", "brand new\n");
    expect(await review(root)).toMatch(/\(uncommitted changes\).*\+brand new/);
    expect(await failureOf(review(root, { changes: "staged" }))).toMatchObject({
      code: "nothing_to_review",
    });
    write(root, "src/util.ts", "staged line\n");
    git(root, "add", "src/util.ts");
    const both = await review(root);
    expect(both).toContain("+staged line");
    expect(both).toContain("+brand new");
    const staged = await review(root, { changes: "staged" });
    expect(staged).toContain("+staged line");
    expect(staged).not.toContain("brand new");
  });

  it("finds the default branch: origin/HEAD, main or master", async () => {
    const root = emptyRepository(place.path("master"), "--initial-branch=master");
    commitFiles(root, "One", { "a.txt": "one\n" });
    git(root, "checkout", "--quiet", "-b", "work");
    commitFiles(root, "Two", { "a.txt": "two\n" });
    expect(await review(root, { branch: "work" })).toContain("refs/heads/master...work");
    expect(await failureOf(review(root, { branch: "master" }))).toMatchObject({
      code: "nothing_to_review",
    });
    git(root, "update-ref", "refs/remotes/origin/dev", "master");
    git(root, "symbolic-ref", "refs/remotes/origin/HEAD", "refs/remotes/origin/dev");
    expect(await review(root, { branch: "work" })).toContain("refs/remotes/origin/HEAD...work");
    git(root, "symbolic-ref", "--delete", "refs/remotes/origin/HEAD");
    git(root, "branch", "-D", "--quiet", "master");
    expect(await failureOf(review(root, { branch: "work" }))).toMatchObject({
      code: "no_default_branch",
    });
  });
});
