import { describe, expect, it } from "vitest";
import { failureOf, useSample } from "../../test/fixture.ts";

const sample = useSample("clean");

type Branches = {
  name: string;
  current?: true;
  remote?: true;
  upstream?: string;
  behind?: number;
}[];
const names = (data: Record<string, unknown>) =>
  (data.branches as Branches).map(({ name }) => name);

describe("git_branch", () => {
  it("lists local branches with the current one marked", async () => {
    const { data } = await sample().call("git_branch");
    expect(names(data)).toEqual(["conflicting", "feature", "main"]);
    expect(
      (data.branches as Branches).filter(({ current }) => current).map(({ name }) => name),
    ).toEqual(["main"]);
  });

  it("lists remote branches, and how far local ones are ahead or behind", async () => {
    const { call, git } = sample();
    git("update-ref", "refs/remotes/origin/main", "main");
    git("symbolic-ref", "refs/remotes/origin/HEAD", "refs/remotes/origin/main");
    git("config", "remote.origin.fetch", "+refs/heads/*:refs/remotes/origin/*");
    git("branch", "--quiet", "--set-upstream-to=origin/main", "feature");
    expect(names((await call("git_branch", { branch_type: "remote" })).data)).toEqual([
      "origin/main",
    ]);
    const all = (await call("git_branch", { branch_type: "all" })).data.branches as Branches;
    expect(all.find(({ name }) => name === "feature")).toMatchObject({
      upstream: "origin/main",
      ahead: 1,
      behind: 1,
    });
  });

  it("finds branches that contain a commit", async () => {
    const { call } = sample();
    expect(names((await call("git_branch", { contains: "feature" })).data)).toEqual(["feature"]);
    expect((await failureOf(call("git_branch", { contains: "--format=x" }))).code).toBe(
      "bad_revision",
    );
  });

  it("pages by name", async () => {
    const { call, git } = sample();
    for (let index = 0; index < 7; index++) git("branch", `b${index}`);
    const seen: string[] = [];
    let cursor: unknown;
    do {
      const { data } = await call("git_branch", { limit: 3, ...(cursor ? { cursor } : {}) });
      seen.push(...names(data));
      cursor = data.next_cursor;
    } while (cursor !== undefined);
    expect(seen).toEqual([
      "b0",
      "b1",
      "b2",
      "b3",
      "b4",
      "b5",
      "b6",
      "conflicting",
      "feature",
      "main",
    ]);
  });
});
