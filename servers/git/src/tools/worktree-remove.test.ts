import { existsSync, rmSync, writeFileSync } from "node:fs";
import { fakeCall } from "@refmcp/testing";
import { describe, expect, it } from "vitest";
import { commitFiles, failureOf, useSample } from "../../test/fixture.ts";

const sample = useSample("clean");

describe("git_worktree_remove", () => {
  it("removes a worktree after stating what is lost, and keeps that", async () => {
    const { call, git, place } = sample();
    const path = place.path("twin");
    await call("git_worktree_add", { path, branch_name: "feature" });
    writeFileSync(`${path}/README.md`, "changed\n");
    writeFileSync(`${path}/fresh.txt`, "fresh\n");
    const asked = fakeCall({ agrees: true });
    const { data } = await call("git_worktree_remove", { path }, asked);
    expect(asked.questions[0]).toContain("2 files: README.md, fresh.txt");
    expect(existsSync(path)).toBe(false);
    expect(git("show", `${data.recovery}:fresh.txt`)).toBe("fresh\n");
    expect(git("worktree", "list").trim().split("\n")).toHaveLength(1);
    expect(git("rev-parse", "--verify", "feature").trim()).not.toBe("");
  });

  it("without a path forgets missing worktrees after asking, and keeps commits that only they have", async () => {
    const { call, git, place } = sample();
    expect((await failureOf(call("git_worktree_remove"))).code).toBe("not_a_worktree");
    git("worktree", "add", "--quiet", place.path("here"), "feature");
    git("worktree", "add", "--quiet", "--detach", place.path("gone"), "v0.9");
    const lost = commitFiles(place.path("gone"), "Only there", { x: "x\n" });
    rmSync(place.path("gone"), { recursive: true });
    expect(
      (await failureOf(call("git_worktree_remove", {}, fakeCall({ agrees: false })))).code,
    ).toBe("declined");
    expect(git("worktree", "list")).toContain(place.path("gone"));
    const asked = fakeCall({ agrees: true });
    const { data } = await call("git_worktree_remove", {}, asked);
    expect(asked.questions[0]).toContain(
      `1 worktree whose directory is missing: ${place.path("gone")}`,
    );
    expect(git("rev-parse", String(data.recovery)).trim()).toBe(lost);
    expect(git("worktree", "list").trim().split("\n")).toHaveLength(2);
  });

  it("removes nothing else", async () => {
    const { call, root, place } = sample();
    for (const path of [root, `${root}/src`])
      expect((await failureOf(call("git_worktree_remove", { path }))).code, path).toBe(
        "not_a_worktree",
      );
    expect((await failureOf(call("git_worktree_remove", { path: place.home }))).code).toBe(
      "outside",
    );
  });
});
