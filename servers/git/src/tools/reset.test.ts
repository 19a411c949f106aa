import { describe, expect, it } from "vitest";
import { failureOf, useSample } from "../../test/fixture.ts";

const sample = useSample("dirty");

describe("git_reset", () => {
  it("unstages everything and leaves the files unchanged", async () => {
    const { call, git } = sample();
    const { data } = await call("git_reset");
    expect(data.files).toEqual([{ path: "src/util.ts", status: "modified" }]);
    expect(git("diff", "--cached", "--name-only")).toBe("");
    expect(git("diff", "--name-only").trim()).toBe("src/app.ts\nsrc/util.ts");
  });

  it("its undo works", async () => {
    const { call, git } = sample();
    const staged = git("diff", "--cached");
    const { data } = await call("git_reset");
    const [, source] = /source ([0-9a-f]{40})/.exec(String(data.undo)) ?? [];
    await call("git_restore", { files: ["src/util.ts"], source, staged: true, worktree: false });
    expect(git("diff", "--cached")).toBe(staged);
  });

  it("unstages only the named files, even before the first commit", async () => {
    const { call, git, write } = sample();
    write("other.txt", "x\n");
    git("add", "other.txt");
    await call("git_reset", { files: ["other.txt"] });
    expect(git("diff", "--cached", "--name-only").trim()).toBe("src/util.ts");
    git("checkout", "--quiet", "--force", "--orphan", "fresh");
    await call("git_reset");
    expect(git("ls-files")).toBe("");
  });

  it("does not discard a merge in progress", async () => {
    const { call, git } = sample();
    git("reset", "--quiet", "--hard");
    expect(() => git("merge", "conflicting")).toThrow();
    expect((await failureOf(call("git_reset"))).code).toBe("operation_in_progress");
    expect(git("rev-parse", "MERGE_HEAD")).toBe(git("rev-parse", "conflicting"));
  });

  it("moves the branch and keeps the files: soft leaves all changes staged, so that a commit squashes", async () => {
    const { call, git } = sample();
    const head = git("rev-parse", "HEAD").trim();
    const tree = git("rev-parse", "HEAD^{tree}");
    git("reset", "--quiet", "--hard");
    const { data } = await call("git_reset", { revision: "HEAD~2", mode: "soft" });
    expect(data).toMatchObject({
      count: 5,
      notes: [expect.stringMatching(/^Left the branch: 2 commits/)],
    });
    expect(git("rev-parse", String(data.recovery)).trim()).toBe(head);
    await call("git_commit", { message: "Squashed" });
    expect(git("rev-parse", "HEAD^{tree}")).toBe(tree);
    expect(git("log", "--format=%s")).toBe("Squashed\nFirst commit\n");
    await call("git_reset", { revision: head, mode: "soft" });
    expect(git("rev-parse", "HEAD").trim()).toBe(head);
    expect(git("status", "--porcelain", "--untracked-files=no")).toBe("");
  });

  it("with mixed keeps the index under the recovery ref, and its undo works", async () => {
    const { call, git, write } = sample();
    write("src/util.ts", "staged\n");
    git("add", "src/util.ts");
    write("src/util.ts", "worktree\n");
    const before = git("diff", "--cached") + git("diff");
    const { data } = await call("git_reset", { revision: "HEAD~1" });
    expect(git("diff", "--cached")).toBe("");
    const [, revision, source] =
      /revision (\w+) and mode soft; git_restore with source (\S+)/.exec(String(data.undo)) ?? [];
    await call("git_reset", { revision, mode: "soft" });
    await call("git_restore", { files: ["."], source, staged: true, worktree: false });
    expect(git("diff", "--cached") + git("diff")).toBe(before);
    expect((await failureOf(call("git_reset", { revision: "HEAD~1", files: ["a"] }))).kind).toBe(
      "invalid",
    );
    expect((await failureOf(call("git_reset", { revision: "nothing" }))).code).toBe("bad_revision");
  });
});
