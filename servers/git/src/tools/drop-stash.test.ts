import { fakeCall } from "@refmcp/testing";
import { describe, expect, it } from "vitest";
import { failureOf, useSample } from "../../test/fixture.ts";

const sample = useSample("clean");

describe("git_drop_stash", () => {
  it("drops after asking, and the stash can be applied from the recovery ref", async () => {
    const { call, git } = sample();
    const asked = fakeCall({ agrees: true });
    const { data } = await call("git_drop_stash", {}, asked);
    expect(asked.questions[0]).toContain("changes in 1 file: README.md?");
    expect(git("stash", "list")).toBe("");
    await call("git_stash_apply", { stash: data.recovery });
    expect(git("diff", "--name-only").trim()).toBe("README.md");
  });

  it("accepts only stash names", async () => {
    const { call, git } = sample();
    for (const stash of ["--all", "main", "stash@{5}", "0"])
      expect((await failureOf(call("git_drop_stash", { stash }))).code, stash).toBe("bad_revision");
    expect((await failureOf(call("git_drop_stash", {}, fakeCall()))).kind).toBe("denied");
    expect(git("stash", "list")).not.toBe("");
  });
});
