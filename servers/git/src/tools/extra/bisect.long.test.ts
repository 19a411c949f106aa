import { existsSync, readFileSync } from "node:fs";
import { beforeEach, describe, expect, it } from "vitest";
import { commitFiles, failureOf, git as plain, useSample, write } from "../../../test/fixture.ts";

const sample = useSample("clean");
/** A history on `long` whose commits each add a file; from `broken` on, `bug` exists. */
let commits: string[];
const BROKEN = 13;

beforeEach(() => {
  const { root, git } = sample();
  git("checkout", "--quiet", "-b", "long");
  commits = [];
  for (let index = 0; index < 24; index++) {
    if (index === 6) {
      git("checkout", "--quiet", "-b", "side", "HEAD~3");
      commitFiles(root, "Side", { side: "side\n" }, 5);
      git("checkout", "--quiet", "long");
      git("merge", "--quiet", "--no-ff", "-m", "Merge side", "-m", "Long. ".repeat(200), "side");
    }
    const bug: Record<string, string> = index === BROKEN ? { bug: "bug\n" } : {};
    commits.push(commitFiles(root, `Step ${index}`, { [`file-${index}`]: "x\n", ...bug }, 6));
  }
  git("checkout", "--quiet", "main");
});

/** The ids of steps. */
const short = (oid = "") => oid.slice(0, 10);
const isBroken = (commit: string) => {
  try {
    return sample().git("cat-file", "-e", `${commit}:bug`) === "";
  } catch {
    return false;
  }
};

/** Answers every question, until the end; returns the last answer and the tested commits. */
async function decide(first: Record<string, unknown>, skips: readonly string[] = []) {
  const { call } = sample();
  const tested: string[] = [];
  for (let data = first; ; ) {
    const { next } = data as { next?: { commit: string } };
    if (next === undefined) return { data, tested };
    tested.push(next.commit);
    const action = skips.includes(next.commit) ? "skip" : isBroken(next.commit) ? "bad" : "good";
    ({ data } = await call("git_bisect", { action }));
  }
}

describe("git_bisect", () => {
  it("finds the commit that git bisect run finds, in as many steps, and touches no file", async () => {
    const { call, git } = sample();
    const before = git("status", "--porcelain") + git("rev-parse", "HEAD");
    const { data } = await call("git_bisect", { action: "start", bad: "long", good: ["main"] });
    expect(data).toMatchObject({ candidates: 26, steps: 4, bad: short(commits.at(-1)) });
    const { data: end, tested } = await decide(data);
    expect(end).toMatchObject({
      first_bad: { commit: commits[BROKEN], message: `Step ${BROKEN}` },
      files: [
        { path: "bug", status: "added" },
        { path: `file-${BROKEN}`, status: "added" },
      ],
    });
    expect(git("status", "--porcelain") + git("rev-parse", "HEAD")).toBe(before);
    git("bisect", "start", "--no-checkout", "long", "main");
    const theirs = git("bisect", "run", "sh", "-c", "! git cat-file -e BISECT_HEAD:bug");
    expect(theirs).toContain(`${commits[BROKEN]} is the first bad commit`);
    expect(tested).toHaveLength(theirs.match(/^running /gm)?.length ?? 0);
    git("bisect", "reset");
    await call("git_bisect", { action: "reset" });
    expect(git("for-each-ref", "refs/refmcp/")).toBe("");
  });

  it("checks each commit out in a worktree, where files of the tests stay, and removes it at the end", async () => {
    const { call, git, place } = sample();
    const path = place.path("tests");
    const start = await call("git_bisect", { action: "start", bad: "long", good: ["main"], path });
    const head = () => short(plain(path, "rev-parse", "HEAD"));
    expect(start.data).toMatchObject({ worktree: path, next: { commit: head() } });
    write(path, "mine.txt", "mine\n");
    const { data } = await call("git_bisect", { action: "good" });
    expect(data.next).toMatchObject({ commit: head() });
    expect(readFileSync(`${path}/mine.txt`, "utf8")).toBe("mine\n");
    const kept = await call("git_bisect", { action: "reset" });
    expect(String(kept.data.notes)).toContain("was kept");
    expect(readFileSync(`${path}/mine.txt`, "utf8")).toBe("mine\n");
    git("worktree", "remove", "--force", path);
    await call("git_bisect", { action: "start", bad: "long", good: ["main"], path });
    await call("git_bisect", { action: "reset" });
    expect(existsSync(path)).toBe(false);
    expect(git("worktree", "list").trim().split("\n")).toHaveLength(1);
  });

  it("records nothing if the next commit cannot be checked out", async () => {
    const { call, place } = sample();
    const path = place.path("tests");
    const { data } = await call("git_bisect", {
      action: "start",
      bad: "long",
      good: ["main"],
      path,
    });
    for (let index = 0; index < 24; index++) write(path, `file-${index}`, "changed\n");
    expect((await failureOf(call("git_bisect", { action: "bad" }))).code).toBe("local_changes");
    expect((await call("git_bisect", { action: "show" })).data).toMatchObject({
      next: data.next,
      bad: data.bad,
      good: data.good,
    });
  });

  it("goes around skipped commits, and names those that cannot be told apart", async () => {
    const { call } = sample();
    const start = () => call("git_bisect", { action: "start", bad: "long", good: ["main"] });
    const skips = [BROKEN - 3, BROKEN + 2].map((index) => short(commits[index]));
    const found = await decide((await start()).data, skips);
    expect(found.data.first_bad).toMatchObject({ commit: commits[BROKEN] });
    await call("git_bisect", { action: "reset" });
    const near = [BROKEN, BROKEN - 1].map((index) => short(commits[index]));
    const { data } = await decide((await start()).data, near);
    expect(data.first_bad).toBeUndefined();
    expect([...(data.undecided as string[])].sort()).toEqual(
      [...near, short(commits[BROKEN + 1])].sort(),
    );
  });

  it("tests a merge base first, and refuses verdicts that contradict each other", async () => {
    const { call, git } = sample();
    const { data } = await call("git_bisect", { action: "start", bad: "long", good: ["feature"] });
    expect(data.next).toMatchObject({ commit: short(git("merge-base", "long", "feature")) });
    const refused = await failureOf(call("git_bisect", { action: "bad" }));
    expect(refused.code).toBe("bad_bisect");
    expect((await call("git_bisect", { action: "show" })).data.next).toEqual(data.next);
    await call("git_bisect", { action: "good" });
    await call("git_bisect", { action: "reset" });
    const inverted = { action: "start", bad: "main", good: ["long"] };
    expect((await failureOf(call("git_bisect", inverted))).message).toContain(
      "a good commit contains the bad",
    );
    expect(git("for-each-ref", "refs/refmcp/")).toBe("");
  });

  it("answers a verdict in few characters: the subject of a merge, short ids, no earlier verdicts", async () => {
    const { call } = sample();
    const range = { good: [commits[3]], bad: commits[6], first_parent: true };
    await call("git_bisect", { ...range, action: "start" });
    const { text, data } = await call("git_bisect", { action: "good" });
    expect(data.next).toEqual({
      commit: short(sample().git("rev-parse", `${commits[6]}^`)),
      message: "Merge side",
    });
    expect(text.length).toBeLessThan(150);
    const { data: end } = await call("git_bisect", { action: "bad" });
    expect(end).toMatchObject({ first_bad: { message: expect.stringContaining("Long. Long.") } });
    expect((await call("git_bisect", { action: "show" })).data).toMatchObject({
      bad: data.next && (data.next as { commit: string }).commit,
      good: [commits[3], commits[5]].map(short),
    });
  });

  it("searches only commits that change some paths, or first parents", async () => {
    const { call } = sample();
    const range = { action: "start", bad: "long", good: ["main"] };
    const { data } = await call("git_bisect", { ...range, paths: ["file-3", "bug", "file-20"] });
    expect(data.candidates).toBe(3);
    expect((await decide(data)).data.first_bad).toMatchObject({ commit: commits[BROKEN] });
    await call("git_bisect", { action: "reset" });
    expect((await call("git_bisect", { ...range, first_parent: true })).data.candidates).toBe(25);
    await call("git_bisect", { action: "reset" });
    expect((await failureOf(call("git_bisect", { ...range, paths: ["src"] }))).code).toBe(
      "bad_bisect",
    );
  });

  it("leaves a bisect of the user alone, and is independent of it", async () => {
    const { call, git } = sample();
    expect((await failureOf(call("git_bisect", { action: "good" }))).code).toBe("no_operation");
    git("bisect", "start", "long", "main");
    const before = git("bisect", "log");
    expect((await failureOf(call("git_bisect", { action: "good" }))).message).toContain(
      "git bisect",
    );
    await call("git_bisect", { action: "start", bad: "long", good: ["main"] });
    expect((await failureOf(call("git_bisect", { action: "start", good: ["main"] }))).code).toBe(
      "operation_in_progress",
    );
    await call("git_bisect", { action: "reset" });
    expect(git("bisect", "log")).toBe(before);
  });
});
