import { describe, expect, it } from "vitest";
import { failureOf, useSample } from "../../test/fixture.ts";

const sample = useSample("clean");

describe("git_stash_apply", () => {
  it("applies a stash and keeps it", async () => {
    const { call, git } = sample();
    const { data } = await call("git_stash_apply");
    expect(data.files).toEqual([{ path: "README.md", status: "modified" }]);
    expect(git("diff", "--name-only").trim()).toBe("README.md");
    expect(git("stash", "list")).not.toBe("");
  });

  it("reports conflicts that it leaves in the files", async () => {
    const { call, write, git } = sample();
    write("README.md", "# Another\n\ntext\n");
    git("commit", "--quiet", "--all", "-m", "Another");
    const { data } = await call("git_stash_apply");
    expect(data.conflicted).toEqual(["README.md"]);
  });

  it("accepts only stashes", async () => {
    const { call } = sample();
    expect((await failureOf(call("git_stash_apply", { stash: "v0.9" }))).code).toBe("bad_revision");
    expect((await failureOf(call("git_stash_apply", { stash: "stash@{9}" }))).code).toBe(
      "bad_revision",
    );
  });
});

describe("git_stash_apply with drop", () => {
  it("drops the stash after a clean application, and keeps it under a recovery ref", async () => {
    const { call, git } = sample();
    const oid = git("rev-parse", "stash@{0}").trim();
    const { data } = await call("git_stash_apply", { drop: true });
    expect(git("stash", "list")).toBe("");
    expect(git("rev-parse", String(data.recovery)).trim()).toBe(oid);
    git("checkout", "--quiet", "HEAD", "--", ".");
    await call("git_stash_apply", { stash: data.recovery });
    expect(git("diff", "--name-only").trim()).toBe("README.md");
    expect(
      (await failureOf(call("git_stash_apply", { stash: data.recovery, drop: true }))).code,
    ).toBe("bad_revision");
  });

  it("keeps the stash if there are conflicts", async () => {
    const { call, write, git } = sample();
    write("README.md", "# Another\n\ntext\n");
    git("commit", "--quiet", "--all", "-m", "Another");
    const { data } = await call("git_stash_apply", { drop: true });
    expect(data.conflicted).toEqual(["README.md"]);
    expect(data.recovery).toBeUndefined();
    expect(git("stash", "list")).not.toBe("");
  });
});
