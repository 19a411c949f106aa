import { fakeCall } from "@refmcp/testing";
import { describe, expect, it } from "vitest";
import { failureOf, useSample } from "../../../test/fixture.ts";

const sample = useSample("clean");

describe("git_rebase", () => {
  it("rebases after asking, and its undo works", async () => {
    const { call, git } = sample();
    const head = git("rev-parse", "HEAD").trim();
    const asked = fakeCall({ agrees: true });
    const { data } = await call("git_rebase", { onto: "feature" }, asked);
    expect(asked.questions[0]).toMatch(
      /^Rebase main onto feature \([0-9a-f]{10}\)\? This rewrites 1 commit: "\w+ Our line"\./,
    );
    expect(git("rev-parse", "HEAD~1")).toBe(git("rev-parse", "feature"));
    expect(git("rev-parse", String(data.recovery)).trim()).toBe(head);
    await call("git_reset_hard", { revision: head });
    expect(git("rev-parse", "HEAD").trim()).toBe(head);
  });

  it("aborts on conflicts and leaves no trace", async () => {
    const { call, git } = sample();
    const before = git("for-each-ref") + git("status", "--porcelain");
    const error = await failureOf(call("git_rebase", { onto: "conflicting" }));
    expect(error.code).toBe("conflict");
    expect(error.message).toContain("src/app.ts");
    expect(git("for-each-ref") + git("status", "--porcelain")).toBe(before);
    expect(git("branch", "--show-current").trim()).toBe("main");
  });

  it("needs a branch and the user's confirmation", async () => {
    const { call, git } = sample();
    expect((await failureOf(call("git_rebase", { onto: "feature" }, fakeCall()))).kind).toBe("denied");
    git("checkout", "--quiet", "--detach");
    expect((await failureOf(call("git_rebase", { onto: "feature" }))).code).toBe("detached_head");
  });
});
