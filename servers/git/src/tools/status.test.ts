import { describe, expect, it } from "vitest";
import { failureOf, useSample } from "../../test/fixture.ts";

const sample = useSample("dirty");

describe("git_status", () => {
  it("lists staged, unstaged and untracked files, but not ignored ones", async () => {
    const { data } = await sample().call("git_status");
    expect(data).toMatchObject({
      branch: "main",
      head: sample().git("rev-parse", "HEAD").trim(),
      clean: false,
      staged: [{ path: "src/util.ts", status: "modified" }],
      unstaged: [{ path: "src/app.ts", status: "modified" }],
      untracked: ["notes.txt"],
      conflicted: [],
      stashes: 1,
    });
  });

  it("shows renames, deletions and both sides of one file", async () => {
    const { git, write, call } = sample();
    git("reset", "--quiet", "--hard");
    git("mv", "README.md", "READ ME.md");
    git("rm", "--quiet", "src/util.ts");
    write("READ ME.md", "# Sample\nchanged\n");
    const { data } = await call("git_status");
    expect(data.staged).toEqual([
      { path: "READ ME.md", status: "renamed", from: "README.md" },
      { path: "src/util.ts", status: "deleted" },
    ]);
    expect(data.unstaged).toEqual([{ path: "READ ME.md", status: "modified" }]);
  });

  it("counts commits ahead of and behind the upstream", async () => {
    const { git, call } = sample();
    git("update-ref", "refs/remotes/origin/main", "conflicting");
    git("config", "remote.origin.fetch", "+refs/heads/*:refs/remotes/origin/*");
    git("branch", "--quiet", "--set-upstream-to=origin/main");
    const { data } = await call("git_status");
    expect(data).toMatchObject({ upstream: "origin/main", ahead: 1, behind: 1 });
  });

  it("narrows to paths", async () => {
    const { data } = await sample().call("git_status", { paths: ["src"] });
    expect(data.untracked).toEqual([]);
    expect(data.unstaged).toHaveLength(1);
  });

  it("reports how much of a long list it omitted", async () => {
    const { write, call } = sample();
    for (let index = 0; index < 900; index++) write(`many/a-file-with-a-name-${index}.txt`, "x");
    const whole = (await call("git_status")).data;
    expect(whole).toMatchObject({ untracked: ["many/", "notes.txt"] });
    const { data, text } = await call("git_status", { paths: ["many"] });
    expect(text.length).toBeLessThanOrEqual(20_000);
    expect(Number(data.left_out)).toBeGreaterThan(100);
    expect(
      Number(data.left_out) + (Array.isArray(data.untracked) ? data.untracked.length : 0),
    ).toBe(900);
  });

  it("explains that a directory is not a repository", async () => {
    const { place, call } = sample();
    const error = await failureOf(call("git_status", { repo_path: place.folder }));
    expect(error).toMatchObject({ kind: "not_found", code: "not_a_repository" });
    expect(error.hint).toContain("repo_path");
  });
});
