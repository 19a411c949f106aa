import { existsSync, writeFileSync } from "node:fs";
import { fakeCall } from "@refmcp/testing";
import { describe, expect, it } from "vitest";
import { callTool, codeOf, failureOf, git, useSample } from "../../test/fixture.ts";
import { cloned, over, useTestDirectory } from "../../test/upstream.ts";

const sample = useSample("clean");

describe("git_delete of a branch on a remote", () => {
  useTestDirectory();

  it("states the loss, keeps the commit here, and its undo works", async () => {
    const { root, bare } = await cloned();
    const tip = git(bare, "rev-parse", "feature").trim();
    const gone = { repo_path: root, kind: "branch", name: "feature", remote: "origin" };
    const asked = fakeCall({ agrees: true });
    const { data } = await callTool(over(), "git_delete", gone, asked);
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
    const gone = { repo_path: root, kind: "branch", name: "feature", remote: "origin" };
    const refs = () =>
      git(bare, "for-each-ref") + git(root, "for-each-ref", "refs/heads", "refs/remotes");
    git(bare, "update-ref", "refs/heads/feature", "main");
    const before = refs();
    expect(await codeOf(callTool(over(), "git_delete", gone))).toBe("stale_lease");
    for (const [branch_name, code] of [
      ["nothing", "no_lease"],
      ["--mirror", "bad_revision"],
    ])
      expect(await codeOf(callTool(over(), "git_delete", { ...gone, name: branch_name }))).toBe(
        code,
      );
    const declined = fakeCall({ agrees: false });
    expect(await codeOf(callTool(over(), "git_delete", gone, declined))).toBe("declined");
    expect(refs()).toBe(before);
  });
});

describe("git_delete of a branch", () => {
  it("lists commits that are on no other branch, and its undo works", async () => {
    const { call, git } = sample();
    const tip = git("rev-parse", "feature").trim();
    const asked = fakeCall({ agrees: true });
    const { data } = await call("git_delete", { kind: "branch", name: "feature" }, asked);
    expect(asked.questions[0]).toMatch(/1 commit on no other branch: "\w+ Feature work"/);
    expect(git("branch", "--list", "feature")).toBe("");
    expect(git("rev-parse", String(data.recovery)).trim()).toBe(tip);
    await call("git_create_branch", { branch_name: "feature", base_branch: tip });
    expect(git("rev-parse", "feature").trim()).toBe(tip);
  });

  it("refuses the current branch and unknown names, and asks first", async () => {
    const { call, git } = sample();
    const refs = git("for-each-ref");
    expect((await failureOf(call("git_delete", { kind: "branch", name: "main" }))).code).toBe(
      "branch_in_use",
    );
    expect((await failureOf(call("git_delete", { kind: "branch", name: "--all" }))).code).toBe(
      "bad_revision",
    );
    const declined = call(
      "git_delete",
      { kind: "branch", name: "feature" },
      fakeCall({ agrees: false }),
    );
    expect((await failureOf(declined)).kind).toBe("denied");
    expect(git("for-each-ref")).toBe(refs);
  });

  it("takes no tag for a branch", async () => {
    const { call, git } = sample();
    git("tag", "featura");
    const error = await failureOf(call("git_delete", { kind: "branch", name: "featur" }));
    expect(error.message).toBe('There is no branch "featur".');
  });

  it("does not ask about a branch that is checked out", async () => {
    const { call } = sample();
    const asked = fakeCall({ agrees: true });
    expect(
      (await failureOf(call("git_delete", { kind: "branch", name: "main" }, asked))).code,
    ).toBe("branch_in_use");
    expect(asked.questions).toEqual([]);
  });
});

describe("git_delete of a tag", () => {
  it("deletes a tag after asking, and keeps it", async () => {
    const { call, git } = sample();
    const tag = git("rev-parse", "v1.0").trim();
    const asked = fakeCall({ agrees: true });
    const { data } = await call("git_delete", { kind: "tag", name: "v1.0" }, asked);
    expect(asked.questions[0]).toContain("the tag v1.0");
    expect(git("tag", "--list", "v1.0")).toBe("");
    expect(git("rev-parse", String(data.recovery)).trim()).toBe(tag);
  });

  it("changes nothing without confirmation, or if the tag does not exist", async () => {
    const { call, git } = sample();
    const refused = call("git_delete", { kind: "tag", name: "v0.9" }, fakeCall({ agrees: false }));
    expect((await failureOf(refused)).kind).toBe("denied");
    expect(git("tag", "--list", "v0.9").trim()).toBe("v0.9");
    const missing = await failureOf(call("git_delete", { kind: "tag", name: "v1.1" }));
    expect(missing.message).toBe('There is no tag "v1.1".');
    for (const tag_name of ["v7", "-d", "main"])
      expect(
        (await failureOf(call("git_delete", { kind: "tag", name: tag_name }))).code,
        tag_name,
      ).toBe("bad_revision");
  });
});

describe("git_delete of a stash", () => {
  it("drops after asking, and the stash can be applied from recovery", async () => {
    const { call, git } = sample();
    const asked = fakeCall({ agrees: true });
    const { data } = await call("git_delete", { kind: "stash", name: "stash@{0}" }, asked);
    expect(asked.questions[0]).toContain("changes in 1 file: README.md?");
    expect(git("stash", "list")).toBe("");
    await call("git_stash_apply", { stash: data.recovery });
    expect(git("diff", "--name-only").trim()).toBe("README.md");
  });

  it("accepts only stash names", async () => {
    const { call, git } = sample();
    for (const stash of ["--all", "main", "stash@{5}", "0"])
      expect(
        (await failureOf(call("git_delete", { kind: "stash", name: stash }))).code,
        stash,
      ).toBe("bad_revision");
    expect(
      (await failureOf(call("git_delete", { kind: "stash", name: "stash@{0}" }, fakeCall()))).kind,
    ).toBe("denied");
    expect(git("stash", "list")).not.toBe("");
  });
});

describe("git_delete of a worktree", () => {
  it("removes a worktree after stating what is lost, and keeps that", async () => {
    const { call, git, place } = sample();
    const path = place.path("twin");
    await call("git_worktree_add", { path, branch_name: "feature" });
    writeFileSync(`${path}/README.md`, "changed\n");
    writeFileSync(`${path}/fresh.txt`, "fresh\n");
    const asked = fakeCall({ agrees: true });
    const { data } = await call("git_delete", { kind: "worktree", name: path }, asked);
    expect(asked.questions[0]).toContain("2 files: README.md, fresh.txt");
    expect(existsSync(path)).toBe(false);
    expect(git("show", `${data.recovery}:fresh.txt`)).toBe("fresh\n");
    expect(git("worktree", "list").trim().split("\n")).toHaveLength(1);
    expect(git("rev-parse", "--verify", "feature").trim()).not.toBe("");
  });

  it("removes nothing else", async () => {
    const { call, root, place } = sample();
    for (const path of [root, `${root}/src`])
      expect(
        (await failureOf(call("git_delete", { kind: "worktree", name: path }))).code,
        path,
      ).toBe("not_a_worktree");
    expect((await failureOf(call("git_delete", { kind: "worktree", name: place.home }))).code).toBe(
      "outside",
    );
  });
});
