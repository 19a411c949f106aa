import { fakeCall } from "@refmcp/testing";
import { describe, expect, it } from "vitest";
import { callTool, codeOf, failureOf, git, useSample } from "../../test/fixture.ts";
import { cloned, over, useTestDirectory } from "../../test/upstream.ts";

const sample = useSample("clean");

describe("git_delete_branch on a remote", () => {
  useTestDirectory();

  it("states the loss, keeps the commit here, and its undo works", async () => {
    const { root, bare } = await cloned();
    const tip = git(bare, "rev-parse", "feature").trim();
    const gone = { repo_path: root, branch_name: "feature", remote: "origin" };
    const asked = fakeCall({ agrees: true });
    const { data } = await callTool(over(), "git_delete_branch", gone, asked);
    expect(asked.questions[0]).toMatch(
      /^Delete feature on origin, at [0-9a-f]{10}\? 1 commit on no other branch known here: "\w+ Feature work"/,
    );
    expect(git(bare, "branch", "--list", "feature")).toBe("");
    expect(git(root, "branch", "--list", "--remotes", "origin/feature")).toBe("");
    expect(git(root, "rev-parse", String(data.recovery)).trim()).toBe(tip);
    await callTool(over(), "git_create_branch", {
      repo_path: root,
      branch_name: "feature",
      base_branch: tip,
    });
    await callTool(over(), "git_push", { repo_path: root, branch_name: "feature" });
    expect(git(bare, "rev-parse", "feature").trim()).toBe(tip);
  });

  it("refuses a branch that moved since it was fetched, one that is not known, and a user who declines", async () => {
    const { root, bare } = await cloned();
    const gone = { repo_path: root, branch_name: "feature", remote: "origin" };
    const refs = () => git(bare, "for-each-ref") + git(root, "for-each-ref");
    git(bare, "update-ref", "refs/heads/feature", "main");
    const before = refs();
    expect(await codeOf(callTool(over(), "git_delete_branch", gone))).toBe("stale_lease");
    for (const [branch_name, code] of [
      ["nothing", "no_lease"],
      ["--mirror", "bad_revision"],
    ])
      expect(await codeOf(callTool(over(), "git_delete_branch", { ...gone, branch_name }))).toBe(
        code,
      );
    const declined = fakeCall({ agrees: false });
    expect(await codeOf(callTool(over(), "git_delete_branch", gone, declined))).toBe("declined");
    expect(refs()).toBe(before);
  });
});

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
    expect((await failureOf(call("git_delete_branch", { branch_name: "main" }))).code).toBe(
      "branch_in_use",
    );
    expect((await failureOf(call("git_delete_branch", { branch_name: "--all" }))).code).toBe(
      "bad_revision",
    );
    const declined = call(
      "git_delete_branch",
      { branch_name: "feature" },
      fakeCall({ agrees: false }),
    );
    expect((await failureOf(declined)).kind).toBe("denied");
    expect(git("for-each-ref")).toBe(refs);
  });

  it("names similar branches for one that does not exist, and no tags", async () => {
    const { call, git } = sample();
    git("tag", "featura");
    const error = await failureOf(call("git_delete_branch", { branch_name: "featur" }));
    expect(error.message).toBe('There is no branch "featur". Did you mean feature?');
    expect(error.hint).toContain("git_branch");
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
