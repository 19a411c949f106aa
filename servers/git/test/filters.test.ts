import { appendFileSync, existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, describe, expect, it } from "vitest";
import type { GitOptions } from "../src/git/open/machine.ts";
import {
  callTool,
  commitFiles,
  emptyRepository,
  failureOf,
  git,
  gitOver,
  write,
} from "./fixture.ts";
import { executable, set } from "./traps.ts";
import { place, useTestDirectory } from "./upstream.ts";

// Like git-lfs: the working tree has the content, the repository a pointer to it.
useTestDirectory();

const POINTER = "pointer to ";
let root: string;
let clean: string;
let smudge: string;

/** A user who has configured a filter, and a repository with two commits that need it. */
beforeEach(() => {
  clean = executable(join(place.home, "clean.sh"), `sed "s/^real/${POINTER}real/"`);
  smudge = executable(join(place.home, "smudge.sh"), `sed "s/^${POINTER}//"`);
  const filter = `[filter "large"]\n\tclean = ${clean}\n\tsmudge = ${smudge}\n\trequired = true\n`;
  appendFileSync(join(place.home, ".gitconfig"), filter);
  root = emptyRepository(place.path("repo"));
  commitFiles(root, "One", {
    ".gitattributes": "*.bin filter=large\n",
    "a.bin": "real one\n",
    "b.txt": "b\n",
  });
  commitFiles(root, "Two", { "a.bin": "real two\n" });
  git(root, "branch", "other", "HEAD~1");
  git(root, "tag", "plain");
});

const call = (tool: string, args: object = {}, options: Partial<GitOptions> = {}) =>
  callTool(gitOver([place.folder], options), tool, { repo_path: root, ...args });
const content = (file = "a.bin") => readFileSync(join(root, file), "utf8");

describe("a filter of the user that did not run", () => {
  const refused: [tool: string, args: object, change?: true][] = [
    ["git_add", { files: ["."] }, true],
    ["git_commit", { files: ["a.bin"], message: "x" }, true],
    ["git_stash", {}, true],
    ["git_restore", { files: ["a.bin"] }, true],
    ["git_reset_hard", {}, true],
    ["git_clean", { files: ["new.bin"] }, true],
    ["git_checkout", { branch_name: "other" }],
    ["git_restore", { files: ["."], source: "other" }],
    ["git_reset_hard", { revision: "other" }],
    ["git_revert", { commit: "HEAD" }],
    ["git_stash_apply", {}],
    ["git_merge", { revision: "ahead" }],
    ["git_cherry_pick", { commits: ["ahead"] }],
    ["git_rebase", { onto: "ahead", on_conflict: "keep" }],
  ];

  it.each(refused)(
    "%s refuses what would damage the working copy, and changes nothing: %o",
    async (tool, args, change) => {
      write(root, "a.bin", "real three\n");
      git(root, "stash", "push", "--quiet");
      git(root, "checkout", "--quiet", "-b", "ahead");
      commitFiles(root, "Ahead", { "a.bin": "real ahead\n" });
      git(root, "checkout", "--quiet", "main");
      if (tool === "git_rebase") git(root, "commit", "--quiet", "--allow-empty", "-m", "Ours");
      if (change) {
        write(root, "a.bin", "real changed\n");
        write(root, "new.bin", "real new\n");
      }
      const before = [
        content(),
        git(root, "status", "--porcelain"),
        git(root, "rev-parse", "HEAD"),
      ];
      const error = await failureOf(call(tool, args));
      expect(error).toMatchObject({ kind: "denied", code: "filter_needed" });
      expect(error.message).toMatch(/"large".*(a|new)\.bin/);
      expect(error.hint).toContain("--filters own");
      expect([
        content(),
        git(root, "status", "--porcelain"),
        git(root, "rev-parse", "HEAD"),
      ]).toEqual(before);
    },
  );
});

describe("--filters own", () => {
  it("converts both ways, like git", async () => {
    const own = { filters: "own" } as const;
    await call("git_checkout", { branch_name: "other" }, own);
    expect(content()).toBe("real one\n");
    write(root, "a.bin", "real three\n");
    await call("git_add", { files: ["a.bin"] }, own);
    expect(git(root, "show", ":a.bin")).toBe(`${POINTER}real three\n`);
    await call("git_commit", { message: "Three" }, own);
    expect((await call("git_status", {}, own)).data).toMatchObject({ clean: true });
    write(root, "a.bin", "real four\n");
    await call("git_stash", {}, own);
    expect(content()).toBe("real three\n");
    expect(git(root, "show", "stash@{0}:a.bin")).toBe(`${POINTER}real four\n`);
    await call("git_stash_apply", {}, own);
    expect(content()).toBe("real four\n");
    await call("git_reset_hard", { revision: "main" }, own);
    expect(content()).toBe("real two\n");
  });

  it("runs nothing that the repository's configuration substitutes for the user's filter", async () => {
    const mark = place.path("ran");
    const evil = executable(place.path("evil.sh"), `touch "${mark}"; cat`);
    set(root, ["filter.large.smudge", evil], ["filter.large.clean", evil]);
    set(root, ["filter.theirs.smudge", evil], ["lfs.customtransfer.x.path", evil]);
    await call("git_checkout", { branch_name: "other" }, { filters: "own" });
    expect(existsSync(mark)).toBe(false);
    expect(content()).toBe("real one\n");
    git(root, "checkout", "--force", "--quiet", "main");
    expect(existsSync(mark), "no trap").toBe(true);
    // git would prefer a process to the user's two programs, so none of them runs.
    set(root, ["filter.large.process", evil]);
    const error = await failureOf(
      call("git_checkout", { branch_name: "other" }, { filters: "own" }),
    );
    expect(error.code).toBe("filter_needed");
  });

  it("still refuses a filter that only the repository sets", async () => {
    set(root, ["filter.theirs.clean", "cat"]);
    write(root, ".git/info/attributes", "*.txt filter=theirs\n");
    write(root, "b.txt", "changed\n");
    const error = await failureOf(call("git_add", { files: ["b.txt"] }, { filters: "own" }));
    expect(error.code).toBe("filter_needed");
    expect(error.hint).toContain("git config --global");
  });
});
