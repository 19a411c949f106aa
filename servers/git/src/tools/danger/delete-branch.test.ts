import { fakeCall } from "@refmcp/testing";
import { describe, expect, it } from "vitest";
import { failureOf, useSample } from "../../../test/fixture.ts";

const sample = useSample("clean");

describe("git_delete_branch", () => {
  it("lists commits that are on no other branch, and its undo works", async () => {
    const { call, git } = sample();
    const tip = git("rev-parse", "feature").trim();
    const asked = fakeCall({ agrees: true });
    const { data } = await call("git_delete_branch", { branch_name: "feature" }, asked);
    expect(asked.questions[0]).toMatch(/1 commit on no other branch: "\w+ Feature work"/);
    expect(git("branch", "--list", "feature")).toBe("");
    expect(git("rev-parse", String(data.recovery)).trim()).toBe(tip);
    await call("git_create_branch", { branch_name: "feature", base_branch: tip });
    expect(git("rev-parse", "feature").trim()).toBe(tip);
  });

  it("refuses the current branch and unknown names, and asks first", async () => {
    const { call, git } = sample();
    const refs = git("for-each-ref");
    expect((await failureOf(call("git_delete_branch", { branch_name: "main" }))).code).toBe("branch_in_use");
    expect((await failureOf(call("git_delete_branch", { branch_name: "--all" }))).code).toBe("bad_revision");
    const declined = call("git_delete_branch", { branch_name: "feature" }, fakeCall({ agrees: false }));
    expect((await failureOf(declined)).kind).toBe("denied");
    expect(git("for-each-ref")).toBe(refs);
  });

  it("does not ask about a branch that is checked out", async () => {
    const { call } = sample();
    const asked = fakeCall({ agrees: true });
    expect((await failureOf(call("git_delete_branch", { branch_name: "main" }, asked))).code).toBe(
      "branch_in_use",
    );
    expect(asked.questions).toEqual([]);
  });
});
