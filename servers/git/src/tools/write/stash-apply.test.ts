import { describe, expect, it } from "vitest";
import { failureOf, useSample } from "../../../test/fixture.ts";

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
    expect((await failureOf(call("git_stash_apply", { stash: "stash@{9}" }))).code).toBe("bad_revision");
  });
});
