import { appendFileSync, existsSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, describe, expect, it } from "vitest";
import { at, commitFiles, emptyRepository, failureOf, place, useTestDirectory } from "./fixture.ts";
import { executable, set } from "./traps.ts";

// Like git-lfs: the working tree has the content, the repository a pointer to it.
useTestDirectory();

const POINTER = "pointer to ";
let root: string;

/** A user who has configured a filter, and a repository with two commits that need it. */
beforeEach(() => {
  const clean = executable(join(place.home, "clean.sh"), `sed "s/^real/${POINTER}real/"`);
  const smudge = executable(join(place.home, "smudge.sh"), `sed "s/^${POINTER}//"`);
  const filter = `[filter "large"]\n\tclean = ${clean}\n\tsmudge = ${smudge}\n\trequired = true\n`;
  appendFileSync(join(place.home, ".gitconfig"), filter);
  root = emptyRepository(place.path("repo"));
  const files = { ".gitattributes": "*.bin filter=large\n", "b.txt": "b\n" };
  commitFiles(root, "One", { ...files, "a.bin": "real one\n" });
  commitFiles(root, "Two", { "a.bin": "real two\n" });
  at(root).git("branch", "other", "HEAD~1");
});

const own = () => at(root, { filters: "own" });

describe("a filter of the user that did not run", () => {
  const files = ["a.bin"];
  it.each([
    ["git_add", { files: ["."] }, true],
    ["git_commit", { files, message: "x" }, true],
    ["git_stash", {}, true],
    ["git_restore", { files }, true],
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
  ] as [tool: string, args: object, isChanged?: true][])(
    "%s refuses what would damage the working copy, and changes nothing: %o",
    async (tool, args, isChanged) => {
      const { call, commit, git, id, read, write } = at(root);
      write("a.bin", "real three\n");
      git("stash", "push", "--quiet");
      git("checkout", "--quiet", "-b", "ahead");
      commit("Ahead", { "a.bin": "real ahead\n" });
      git("checkout", "--quiet", "main");
      if (tool === "git_rebase") commit("Ours");
      if (isChanged) for (const path of ["a.bin", "new.bin"]) write(path, "real new\n");
      const state = () => [read("a.bin"), git("status", "--porcelain"), id("HEAD")];
      const before = state();
      const error = await failureOf(call(tool, { ...args }));
      expect(error).toMatchObject({ kind: "denied", code: "filter_needed" });
      expect(error.message).toMatch(/"large".*(a|new)\.bin/);
      expect(error.hint).toContain("--filters own");
      expect(state()).toEqual(before);
    },
  );
});

describe("--filters own", () => {
  it("converts both ways, like git", async () => {
    const { call, git, read, write } = own();
    await call("git_checkout", { branch_name: "other" });
    expect(read("a.bin")).toBe("real one\n");
    write("a.bin", "real three\n");
    await call("git_add", { files: ["a.bin"] });
    expect(git("show", ":a.bin")).toBe(`${POINTER}real three\n`);
    await call("git_commit", { message: "Three" });
    expect((await call("git_status")).data).toMatchObject({ clean: true });
    write("a.bin", "real four\n");
    await call("git_stash");
    expect(read("a.bin")).toBe("real three\n");
    expect(git("show", "stash@{0}:a.bin")).toBe(`${POINTER}real four\n`);
    await call("git_stash_apply");
    expect(read("a.bin")).toBe("real four\n");
    await call("git_reset_hard", { revision: "main" });
    expect(read("a.bin")).toBe("real two\n");
  });

  it("runs nothing that the repository's configuration substitutes for the user's filter", async () => {
    const { call, code, git, read } = own();
    const mark = place.path("ran");
    const evil = executable(place.path("evil.sh"), `touch "${mark}"; cat`);
    set(root, ["filter.large.smudge", evil], ["filter.large.clean", evil]);
    set(root, ["filter.theirs.smudge", evil], ["lfs.customtransfer.x.path", evil]);
    await call("git_checkout", { branch_name: "other" });
    expect(existsSync(mark)).toBe(false);
    expect(read("a.bin")).toBe("real one\n");
    git("checkout", "--force", "--quiet", "main");
    expect(existsSync(mark), "no trap").toBe(true);
    // git would prefer a process to the user's two programs, so none of them runs.
    set(root, ["filter.large.process", evil]);
    expect(await code("git_checkout", { branch_name: "other" })).toBe("filter_needed");
  });

  it("still refuses a filter that only the repository sets", async () => {
    const { call, write } = own();
    set(root, ["filter.theirs.clean", "cat"]);
    write(".git/info/attributes", "*.txt filter=theirs\n");
    write("b.txt", "changed\n");
    const error = await failureOf(call("git_add", { files: ["b.txt"] }));
    expect(error.code).toBe("filter_needed");
    expect(error.hint).toContain("git config --global");
  });
});
