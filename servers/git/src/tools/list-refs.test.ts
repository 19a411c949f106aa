import { rmSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { failureOf, useSample } from "../../test/fixture.ts";

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

  it("lists stashes, worktrees and recovery refs", async () => {
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
      state: "locked: on a stick",
    });
    expect(listed.find(({ path }) => path === place.path("lost"))).toMatchObject({
      state: expect.stringMatching(/^prunable/),
    });
    expect((await call("git_list_refs", { kind: "recovery" })).data.refs).toEqual([]);
    await call("git_delete", { kind: "stash" });
    expect((await call("git_list_refs", { kind: "recovery" })).data.refs).toHaveLength(1);
  });

  it("refuses a cursor whose position no longer exists", async () => {
    const { call, git } = sample();
    const { data } = await call("git_list_refs", { kind: "tags", limit: 1 });
    git("tag", "-d", "v1.0");
    const error = await failureOf(
      call("git_list_refs", { kind: "tags", limit: 1, cursor: data.next_cursor }),
    );
    expect(error.code).toBe("stale_cursor");
  });

  it("finds the nearest tag before a commit and the oldest that contains it, like git describe", async () => {
    const { call, git } = sample();
    git("branch", "v1.0", "main");
    git("tag", "x-1-gabc", "main");
    const nearest = async (revision: string) =>
      (await call("git_list_refs", { kind: "tags", revision })).data.refs;
    for (const revision of ["feature", "main", "conflicting", "v0.9"]) {
      const [, name, ahead] =
        /^(.*)-(\d+)-g/.exec(git("describe", "--tags", "--long", revision)) ?? [];
      const before = expect.objectContaining({ name, ahead: Number(ahead) });
      expect(await nearest(revision), revision).toContainEqual(before);
    }
    expect(await nearest("feature")).toHaveLength(1);
    const release = git("describe", "--contains", "main~2").replace(/[~^].*\n/, "");
    expect(await nearest("main~2")).toMatchObject([{ name: release }]);
    git("tag", "-d", "v0.9", "v1.0", "x-1-gabc");
    expect(await nearest("main")).toEqual([]);
    expect(
      (await failureOf(call("git_list_refs", { kind: "stashes", revision: "main" }))).code,
    ).toBe("bad_argument");
    expect((await failureOf(nearest("--all"))).code).toBe("bad_revision");
  });
});
