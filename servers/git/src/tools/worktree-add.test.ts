import { existsSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { failureOf, useSample } from "../../test/fixture.ts";

const sample = useSample("clean");

describe("git_worktree_add", () => {
  it("checks out an existing branch or a new one", async () => {
    const { call, place, git } = sample();
    const there = await call("git_worktree_add", {
      path: place.path("one"),
      branch_name: "feature",
    });
    expect(there.data).toMatchObject({ branch: "feature", created_branch: false });
    expect(existsSync(place.path("one", "src", "feature.ts"))).toBe(true);
    const made = { path: place.path("two"), branch_name: "topic", revision: "v0.9" };
    expect((await call("git_worktree_add", made)).data.created_branch).toBe(true);
    expect(git("rev-parse", "topic")).toBe(git("rev-parse", "v0.9"));
    expect((await call("git_status", { repo_path: place.path("two") })).data).toMatchObject({
      branch: "topic",
      clean: true,
    });
  });

  it("leaves nothing behind on failure", async () => {
    const { call, place } = sample();
    const taken = { path: place.path("taken"), branch_name: "main" };
    expect((await failureOf(call("git_worktree_add", taken))).code).toBe("branch_in_use");
    expect(existsSync(place.path("taken"))).toBe(false);
  });

  it("stays inside the allowed directories", async () => {
    const { call, place } = sample();
    const outside = { path: `${place.home}/twin`, branch_name: "feature" };
    expect((await failureOf(call("git_worktree_add", outside))).code).toBe("outside");
  });
});
