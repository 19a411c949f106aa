import { describe, expect, it } from "vitest";
import { failureOf, useSample } from "../../test/fixture.ts";

const sample = useSample("dirty");

describe("git_stash", () => {
  it("stashes changes with a message", async () => {
    const { call, git } = sample();
    const { data } = await call("git_stash", { message: "for later" });
    expect(data).toMatchObject({
      stash: "stash@{0}",
      count: 2,
      commit: git("rev-parse", "stash@{0}").trim(),
    });
    expect(git("stash", "list")).toContain("On main: for later");
    expect(git("status", "--porcelain").trim()).toBe("?? notes.txt");
  });

  it("includes new files, or only some files, on request", async () => {
    const { call, git } = sample();
    await call("git_stash", { files: ["src/app.ts"] });
    expect(git("diff", "--name-only")).toBe("");
    expect(git("diff", "--cached", "--name-only").trim()).toBe("src/util.ts");
    await call("git_stash", { include_untracked: true });
    expect(git("status", "--porcelain")).toBe("");
  });

  it("leaves staged changes in place with keep_index", async () => {
    const { call, git } = sample();
    const staged = git("ls-files", "--stage");
    await call("git_stash", { keep_index: true });
    expect(git("ls-files", "--stage")).toBe(staged);
    expect(git("status", "--porcelain", "--untracked-files=no")).toBe("M  src/util.ts\n");
  });

  it("reports if there is nothing to stash", async () => {
    const { call, git } = sample();
    git("reset", "--quiet", "--hard");
    expect((await failureOf(call("git_stash"))).code).toBe("nothing_to_stash");
    expect(git("stash", "list").trim().split("\n")).toHaveLength(1);
  });
});
