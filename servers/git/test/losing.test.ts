import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { fakeCall } from "@refmcp/testing";
import { describe, expect, it } from "vitest";
import { emptyRepository, useSample } from "./fixture.ts";

const sample = useSample("dirty");
/** Calls a tool for a user who agrees; returns the data and the question. */
async function lose(tool: string, args: object) {
  const asked = fakeCall({ agrees: true });
  const { data } = await sample().call(tool, { ...args }, asked);
  expect(asked.questions).toHaveLength(1);
  return { data, question: asked.questions[0] ?? "" };
}

describe("what loses something states the exact loss, and its undo works:", () => {
  it("git_reset_hard", async () => {
    const { call, git } = sample();
    const state = () => [git("rev-parse", "HEAD"), git("diff", "--cached"), git("diff")];
    const before = state();
    const { data, question } = await lose("git_reset_hard", { revision: "v0.9" });
    expect(question).toMatch(
      /^Reset main from [0-9a-f]{10} to [0-9a-f]{10}\? This discards 1 commit: "\w+ Our line"\./,
    );
    expect(question).toContain("are discarded in 2 files: src/app.ts, src/util.ts.");
    expect(git("status", "--porcelain").trim()).toBe("?? notes.txt");
    const [head = ""] = before;
    expect(data.undo).toBe(
      `git_reset_hard with revision ${head.trim()}, then git_stash_apply with stash ${data.recovery}`,
    );
    await call("git_reset_hard", { revision: head.trim() });
    await call("git_stash_apply", { stash: data.recovery, index: true });
    expect(state()).toEqual(before);
  });

  it("git_reset_hard during a merge, with the partial resolution", async () => {
    const { git, write } = sample();
    git("reset", "--quiet", "--hard");
    expect(() => git("merge", "conflicting")).toThrow();
    write("src/app.ts", "half resolved\n");
    const { data, question } = await lose("git_reset_hard", {});
    expect(question).toContain("The merge in progress is aborted.");
    expect(git("status", "--porcelain", "-uno")).toBe("");
    expect(git("show", `${String(data.recovery)}:src/app.ts`)).toBe("half resolved\n");
  });

  it("git_clean, of ignored files only on request, and never of another repository", async () => {
    const { call, write, root } = sample();
    const isThere = (path: string) => existsSync(`${root}/${path}`);
    write("tmp/deep/file.txt", "deep\n");
    emptyRepository(`${root}/inner`);
    mkdirSync(`${root}/empty`);
    const files = ["notes.txt", "tmp/deep/file.txt"];
    const { data, question } = await lose("git_clean", {});
    expect(question).toContain("Delete 2 untracked files: notes.txt, tmp/deep/file.txt");
    expect(files.map(isThere)).toEqual([false, false]);
    await call("git_restore", { files, source: data.recovery });
    expect(readFileSync(`${root}/tmp/deep/file.txt`, "utf8")).toBe("deep\n");
    expect([isThere("build.log"), isThere("notes.txt")]).toEqual([true, true]);
    await lose("git_clean", { ignored: true });
    expect([isThere("build.log"), isThere("inner/.git/HEAD")]).toEqual([false, true]);
  });

  it.each([
    ["branch", "feature", /1 commit on no other branch: "\w+ Feature work"/],
    ["tag", "v1.0", /the tag v1\.0/],
    ["stash", "stash@{0}", /changes in 1 file: README\.md\?/],
  ])("git_delete of a %s", async (kind, name, text) => {
    const { call, git } = sample();
    const tip = git("rev-parse", name).trim();
    const { data, question } = await lose("git_delete", { kind, name });
    expect(question).toMatch(text);
    expect(git("for-each-ref", "refs/heads", "refs/tags", "refs/stash")).not.toContain(tip);
    expect(git("rev-parse", String(data.recovery)).trim()).toBe(tip);
    if (kind === "branch") await call("git_create_branch", { branch_name: name, base_branch: tip });
    if (kind === "stash") await call("git_stash_apply", { stash: tip });
  });

  it("git_delete of a worktree", async () => {
    const { call, git, place } = sample();
    const path = place.path("twin");
    await call("git_worktree_add", { path, branch_name: "feature" });
    writeFileSync(`${path}/README.md`, "changed\n");
    writeFileSync(`${path}/fresh.txt`, "fresh\n");
    const { data, question } = await lose("git_delete", { kind: "worktree", name: path });
    expect(question).toContain("2 files: README.md, fresh.txt");
    expect(existsSync(path)).toBe(false);
    expect(git("show", `${data.recovery}:fresh.txt`)).toBe("fresh\n");
    expect(git("worktree", "list").trim().split("\n")).toHaveLength(1);
  });
});
