import { rmSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { useSample } from "../../test/fixture.ts";

const sample = useSample("clean");

describe("git_list_refs", () => {
  it("lists tags, newest first, with their commits", async () => {
    const { data } = await sample().call("git_list_refs", { kind: "tags" });
    expect(data.refs).toMatchObject([
      {
        name: "v1.0",
        commit: sample().git("rev-parse", "--short=10", "main").trim(),
        subject: "Version one",
      },
      { name: "v0.9", commit: sample().git("rev-parse", "--short=10", "v0.9").trim() },
    ]);
  });

  it("lists remotes without their passwords", async () => {
    const { call, git } = sample();
    git("remote", "add", "work", "ssh://me:sesame@host.example/x");
    const { text } = await call("git_list_refs", { kind: "remotes" });
    expect(text).toContain('"url":"https://git.example.org/team/sample.git"');
    expect(text).toContain('"url":"ssh://me@host.example/x"');
    expect(text).not.toContain("sesame");
  });

  it("lists stashes and worktrees", async () => {
    const { call, git, place } = sample();
    expect((await call("git_list_refs", { kind: "stashes" })).data.refs).toMatchObject([
      { name: "stash@{0}", subject: "On main: aside" },
    ]);
    git("worktree", "add", "--quiet", place.path("twin"), "feature");
    expect((await call("git_list_refs", { kind: "worktrees" })).data.refs).toMatchObject([
      { path: sample().root, branch: "main" },
      { path: place.path("twin"), branch: "feature" },
    ]);
    git("worktree", "lock", "--reason", "on a stick", place.path("twin"));
    git("worktree", "add", "--quiet", "--detach", place.path("lost"), "v0.9");
    rmSync(place.path("lost"), { recursive: true });
    const listed = (await call("git_list_refs", { kind: "worktrees" })).data.refs as {
      path: string;
    }[];
    expect(listed.find(({ path }) => path === place.path("twin"))).toMatchObject({
      state: "locked on a stick",
    });
    expect(listed.find(({ path }) => path === place.path("lost"))).toMatchObject({
      state: expect.stringMatching(/^prunable/),
    });
  });
});
