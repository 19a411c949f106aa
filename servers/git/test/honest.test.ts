import { execFileSync } from "node:child_process";
import { fakeCall } from "@refmcp/testing";
import { beforeAll, beforeEach, describe, expect, it } from "vitest";
import { prompts } from "../src/prompts/index.ts";
import {
  type Answered,
  callTool,
  commitFiles,
  emptyRepository,
  failureOf,
  git,
  gitOver,
  matchesIn,
  sampleRepository,
  scratch,
  write,
} from "./fixture.ts";
import { place, useTestDirectory } from "./upstream.ts";

useTestDirectory();

const over = () => gitOver([place.folder]);
const call = (root: string, tool: string, args: object = {}) =>
  callTool(over(), tool, { repo_path: root, ...args });
const SHALLOW = "The history is shallow: older commits are missing";

/** 600 commits by three authors in 60 directories of five files, written by one git process. */
let source: string;
beforeAll(() => {
  const kept = scratch();
  process.on("exit", kept.dispose);
  source = emptyRepository(kept.path("large"));
  const authors = ["Ada", "Grace", "Linus"];
  const commits = Array.from({ length: 600 }, (_, index) => {
    const who = `${authors[index % 3]} <${authors[index % 3]}@example.org> ${1_700_000_000 + index} +0000`;
    const path = `area-${index % 60}/part/file-${Math.floor(index / 60) % 5}.txt`;
    const text = Array.from(
      { length: index < 300 ? 20 : 21 },
      (__, line) => `line ${line} needle\n`,
    ).join("");
    const message = `Change ${index}`;
    return `commit refs/heads/main\nauthor ${who}\ncommitter ${who}\ndata ${message.length}\n${message}\nM 644 inline ${path}\ndata ${text.length}\n${text}\n`;
  });
  execFileSync("git", ["fast-import", "--quiet"], { cwd: source, input: commits.join("") });
});

const cloneOf = (name: string, ...args: string[]) => {
  git(place.folder, "clone", "--quiet", ...args, `file://${source}`, name);
  return place.path(name);
};

describe("a shallow clone", () => {
  it("marks the lines whose origin is missing, as git does, and says so once", async () => {
    const root = cloneOf("shallow", "--depth=250");
    const path = "area-0/part/file-0.txt";
    const { text } = await call(root, "git_blame", { path });
    expect(text.match(/^\^[0-9a-f]{10} /gm)).toHaveLength(21);
    expect(text.match(/the history is shallow/gi)).toHaveLength(1);
    const mixed = "area-59/part/file-4.txt";
    const plain = git(root, "blame", mixed).split("\n").filter(Boolean);
    const ours = (await call(root, "git_blame", { path: mixed })).text
      .split("\n")
      .slice(1, plain.length + 1);
    expect(ours.map((line) => line.startsWith("^"))).toEqual(
      plain.map((line) => line.startsWith("^")),
    );
    const complete = await call(cloneOf("whole"), "git_blame", { path });
    expect(complete.text).not.toMatch(/^\^|shallow/im);
  });

  it("is named where a log could take the boundary for an origin, and in the status", async () => {
    const root = cloneOf("shallow", "--depth=1");
    const log = (args: object) => call(root, "git_log", args);
    const filtered: object[] = [
      { path: "area-0/part/file-0.txt" },
      { pickaxe: "needle" },
      {},
      { author: "Nobody" },
    ];
    for (const args of filtered)
      expect((await log(args)).data.notes, JSON.stringify(args)).toEqual([
        expect.stringContaining(SHALLOW),
      ]);
    expect((await call(root, "git_show", { revision: "HEAD" })).text).toContain(SHALLOW);
    expect((await call(root, "git_status")).data).toMatchObject({
      clean: true,
      notes: [`${SHALLOW}.`],
    });
    const deeper = cloneOf("deeper", "--depth=50");
    expect((await call(deeper, "git_log", { max_count: 10 })).data.notes).toBeUndefined();
    expect((await call(deeper, "git_show", { revision: "HEAD" })).text).not.toContain(SHALLOW);
    expect(
      (await call(cloneOf("whole"), "git_log", { max_count: 1_000 })).data.notes,
    ).toBeUndefined();
  });
});

describe("a sparse checkout", () => {
  it("is named by searches of the working tree and by the status, with what it includes", async () => {
    const root = cloneOf("sparse", "--sparse");
    git(root, "sparse-checkout", "set", "area-7/part");
    const found = await call(root, "git_grep", { pattern: "line 20 needle" });
    const files = matchesIn(found.data).map(({ path }) => path);
    expect(new Set(files.map((path) => path.split("/")[0]))).toEqual(new Set(["area-7"]));
    expect(found.data.notes).toEqual([
      expect.stringMatching(/sparse: .*only area-7\/part, .*revision: HEAD/),
    ]);
    expect((await call(root, "git_status")).data).toMatchObject({
      clean: true,
      notes: [expect.stringContaining("only area-7/part, ")],
    });
    const all = await call(root, "git_grep", {
      pattern: "line 20 needle",
      revision: "HEAD",
      limit: 1_000,
    });
    expect(matchesIn(all.data).length).toBeGreaterThan(files.length);
    expect(all.data.notes).toBeUndefined();
  });

  it("by patterns, with an index of directories, and switched off", async () => {
    const root = cloneOf("sparse", "--sparse");
    git(root, "sparse-checkout", "set", "--no-cone", "/*", "!/area-1*");
    expect((await call(root, "git_status")).data.notes).toEqual([
      expect.stringContaining("only what matches /* !/area-1*"),
    ]);
    git(root, "sparse-checkout", "set", "--cone", "--sparse-index", "area-2");
    expect((await call(root, "git_grep", { pattern: "needle" })).data.notes).toEqual([
      expect.stringContaining("only area-2, "),
    ]);
    git(root, "sparse-checkout", "disable");
    expect((await call(root, "git_status")).data.notes).toBeUndefined();
    expect((await call(root, "git_grep", { pattern: "needle" })).data.notes).toBeUndefined();
  });
});

describe("a detached HEAD", () => {
  let root: string;
  beforeEach(() => {
    root = sampleRepository(place.path("repo"));
    git(root, "stash", "clear");
  });

  it("is named when it begins, by commits and when commits are left behind, which are kept", async () => {
    const begun = await call(root, "git_checkout", { branch_name: "HEAD~1" });
    const base = git(root, "rev-parse", "HEAD").trim();
    expect(begun.text.split("\n", 1)[0]).toBe(`HEAD is now detached at ${base.slice(0, 10)}`);
    expect(begun.data.notes).toEqual([
      expect.stringMatching(/^HEAD is detached.*git_create_branch/),
    ]);
    expect((await call(root, "git_status")).data.detached).toBe(true);
    write(root, "new.txt", "new\n");
    const made = await call(root, "git_commit", { message: "On no branch", files: ["new.txt"] });
    expect(made.data.notes).toEqual([
      expect.stringContaining(`git_create_branch with base_branch ${made.data.commit}`),
    ]);
    await expectNote("git_cherry_pick", { commits: ["feature"] });
    const tip = git(root, "rev-parse", "HEAD").trim();
    const left = await call(root, "git_checkout", { branch_name: "main" });
    expect(left.text).toMatch(/^Switched to branch 'main'\n/);
    expect(left.data.notes).toEqual([
      expect.stringMatching(
        new RegExp(
          `^Left 2 commits behind that are on no branch: "[0-9a-f]+ Feature work", "[0-9a-f]+ On no branch".*${tip}`,
        ),
      ),
    ]);
    const recovery = String(left.data.recovery);
    expect(git(root, "rev-parse", recovery).trim()).toBe(tip);
    // Leaving it again keeps it only once.
    await call(root, "git_checkout", { branch_name: tip });
    expect((await call(root, "git_checkout", { branch_name: "main" })).data.recovery).toBe(
      recovery,
    );
    await call(root, "git_create_branch", { branch_name: "kept", base_branch: tip });
    await call(root, "git_checkout", { branch_name: tip });
    expect((await call(root, "git_checkout", { branch_name: "main" })).data.notes).toBeUndefined();
  });

  async function expectNote(tool: string, args: object): Promise<void> {
    expect((await call(root, tool, args)).data.notes).toEqual([
      expect.stringContaining("HEAD is detached"),
    ]);
  }

  it("loses nothing if the commits are on a branch or go on", async () => {
    await call(root, "git_checkout", { branch_name: "v0.9" });
    const back = await call(root, "git_checkout", { branch_name: "main" });
    expect([back.data.notes, back.data.recovery]).toEqual([undefined, undefined]);
    await call(root, "git_checkout", { branch_name: "HEAD~1" });
    await expectNote("git_commit", { message: "One", allow_empty: true });
    const first = git(root, "rev-parse", "HEAD").trim();
    await expectNote("git_commit", { message: "Two", allow_empty: true });
    const second = git(root, "rev-parse", "HEAD").trim();
    const away = await call(root, "git_checkout", { branch_name: first });
    expect(away.data.notes).toEqual([
      expect.stringMatching(/1 commit behind that is on no branch: "[0-9a-f]+ Two"/),
      expect.anything(),
    ]);
    const onward = await call(root, "git_checkout", { branch_name: second });
    expect(onward.data.recovery).toBeUndefined();
  });
});

describe("a search of a long history", () => {
  const search = (args: object) =>
    callTool(gitOver([source]), "git_log", { repo_path: source, max_count: 1_000, ...args });
  const ids = ({ data }: Answered) =>
    (data.commits as { commit: string }[]).map(({ commit }) => commit);
  const plain = (...args: string[]) =>
    git(source, "log", "--format=%h", "--abbrev=10", ...args)
      .split("\n")
      .filter(Boolean);

  it("finds the same commits as git, with other filters", async () => {
    const text = "line 20 needle";
    const all = await search({ pickaxe: text });
    expect(ids(all)).toEqual(plain(`-S${text}`));
    expect(ids(all).length).toBeGreaterThan(100);
    const narrowed: [args: object, plain: string[]][] = [
      [{ path: "area-7" }, ["--", "area-7"]],
      [{ author: "Ada" }, ["--author=Ada"]],
      [{ revision: "HEAD~20..HEAD" }, ["HEAD~20..HEAD"]],
    ];
    for (const [args, same] of narrowed)
      expect(ids(await search({ pickaxe: text, ...args })), same.join()).toEqual(
        plain(`-S${text}`, ...same),
      );
    expect(ids(await search({ pickaxe: "LINE 20 needle", author: "ADA" }))).toEqual([]);
  });
});

describe("an operation in progress", () => {
  let root: string;
  beforeEach(() => {
    root = sampleRepository(place.path("repo"));
    git(root, "reset", "--quiet", "--hard");
    git(root, "clean", "-dfq");
  });
  const short = (name: string) => git(root, "rev-parse", "--short=10", name).trim();
  const stopped = (...args: string[]) => expect(() => git(root, ...args)).toThrow();
  const status = async () => (await call(root, "git_status")).data;

  it("is named with its branch, target, commit and step: rebase and am", async () => {
    git(root, "checkout", "--quiet", "conflicting");
    commitFiles(root, "Another", { "another.txt": "x\n" });
    for (const backend of ["merge", "apply"]) {
      stopped("rebase", `--${backend}`, "main");
      expect(await status(), backend).toMatchObject({
        detached: true,
        operation: "rebase",
        operation_state: {
          branch: "conflicting",
          onto: short("main"),
          commit: short("conflicting~1"),
          step: 1,
          steps: 2,
        },
      });
      git(root, "rebase", "--abort");
    }
    write(root, "../mail", git(root, "format-patch", "--stdout", "main..conflicting"));
    git(root, "checkout", "--quiet", "main");
    stopped("am", "../mail");
    expect(await status()).toMatchObject({
      operation: "am",
      operation_state: { step: 1, steps: 2 },
    });
    const refused = await failureOf(call(root, "git_merge", { action: "continue" }));
    expect(refused.code).toBe("no_operation");
  });

  it("is named with its commit: merge, cherry-pick, revert and bisect", async () => {
    stopped("merge", "conflicting");
    expect(await status()).toMatchObject({
      operation: "merge",
      operation_state: { commit: short("conflicting") },
    });
    git(root, "merge", "--abort");
    stopped("cherry-pick", "conflicting", "feature");
    expect(await status()).toMatchObject({
      operation: "cherry-pick",
      operation_state: { commit: short("conflicting"), remaining: 2 },
    });
    git(root, "cherry-pick", "--abort");
    stopped("revert", "--no-edit", "main~2");
    expect(await status()).toMatchObject({
      operation: "revert",
      operation_state: { commit: short("main~2") },
    });
    git(root, "revert", "--abort");
    git(root, "bisect", "start", "main", "main~2");
    expect(await status()).toMatchObject({
      operation: "bisect",
      operation_state: { branch: "main" },
    });
  });

  it("shows nothing of files that it does not expect", async () => {
    write(root, ".git/rebase-merge/onto", "main\n");
    write(root, ".git/rebase-merge/end", "2; rm\n");
    const found = await status();
    expect(found.operation).toBe("rebase");
    expect(JSON.stringify(found.operation_state)).toBe("{}");
  });

  it("ends with the tags of a detached HEAD named", async () => {
    git(root, "checkout", "--quiet", "v1.0");
    expect(await status()).toMatchObject({ detached: true, tags: ["v1.0"] });
    git(root, "checkout", "--quiet", "feature~0");
    expect((await status()).tags).toBeUndefined();
  });
});

describe("a name of two things", () => {
  let root: string;
  beforeEach(() => {
    root = sampleRepository(place.path("repo"));
    git(root, "reset", "--quiet", "--hard");
    git(root, "tag", "feature", "main");
  });

  const users: [tool: string, args: object][] = [
    ["git_merge", { revision: "feature" }],
    ["git_diff", { target: "main...feature" }],
    ["git_diff", { target: "feature" }],
    ["git_log", { revision: "main..feature" }],
    ["git_show", { revision: "feature:src/app.ts" }],
    ["git_show", { revision: "feature~1" }],
    ["git_blame", { path: "src/app.ts", revision: "feature" }],
    ["git_grep", { pattern: "x", revision: "feature" }],
    ["git_cherry_pick", { commits: ["main", "feature"] }],
    ["git_rebase", { onto: "feature" }],
    ["git_reset_hard", { revision: "feature" }],
    ["git_create_branch", { branch_name: "new", base_branch: "feature" }],
    ["git_branch", { contains: "feature" }],
  ];
  it.each(users)("is refused by %s %o, with both meanings", async (tool, args) => {
    // The repository cannot switch git's warning off.
    git(root, "config", "core.warnAmbiguousRefs", "false");
    const error = await failureOf(call(root, tool, args));
    expect(error).toMatchObject({ kind: "invalid", code: "ambiguous_name" });
    const short = (name: string) => git(root, "rev-parse", name).trim().slice(0, 10);
    expect(error.message).toContain(`refs/tags/feature (${short("main")})`);
    expect(error.message).toContain(`refs/heads/feature (${short("refs/heads/feature")})`);
    expect(error.hint).toContain("such as refs/heads/feature");
  });

  it("works by its full name, and where only a branch can be meant", async () => {
    const whole = await call(root, "git_diff", { target: "main...refs/heads/feature" });
    expect(whole.text).toContain("+TEN");
    expect((await call(root, "git_merge", { revision: "refs/heads/feature" })).data.count).toBe(2);
    expect((await call(root, "git_checkout", { branch_name: "feature" })).data.branch).toBe(
      "feature",
    );
  });

  it("is allowed if both are the same commit, or if it is git's own name", async () => {
    git(root, "tag", "--force", "-a", "-m", "The same", "feature", "refs/heads/feature");
    git(root, "tag", "HEAD", "v0.9");
    expect((await call(root, "git_log", { revision: "feature", max_count: 1 })).data).toMatchObject(
      {
        commits: [{ message: "Feature work" }],
      },
    );
    expect((await call(root, "git_log", { max_count: 1 })).data).toMatchObject({
      commits: [{ message: "Our line" }],
    });
  });

  it("is refused if a branch looks like a commit's id, or a file in the git directory hides it", async () => {
    const id = git(root, "rev-parse", "v0.9").trim().slice(0, 10);
    git(root, "branch", id, "feature~1");
    const error = await failureOf(call(root, "git_show", { revision: id }));
    expect(error).toMatchObject({
      code: "ambiguous_name",
      message: expect.stringContaining("begins with it"),
    });
    write(root, ".git/conflicting", git(root, "rev-parse", "v0.9"));
    const hidden = await failureOf(call(root, "git_diff", { target: "main...conflicting" }));
    expect(hidden).toMatchObject({
      code: "ambiguous_name",
      message: expect.stringContaining("file in the git directory"),
    });
  });
});

describe("the prompt review_changes", () => {
  const review = async (root: string, args: Record<string, string> = {}) => {
    const prompt = prompts.find(({ name }) => name === "review_changes");
    const run = prompt?.run as (args: object, over: unknown, call: unknown) => Promise<unknown>;
    return JSON.stringify(
      await run(prompt?.args.parse({ repo_path: root, ...args }) ?? {}, over(), fakeCall()),
    );
  };

  it("shows new files, or only what is staged, and refuses to review nothing", async () => {
    const root = sampleRepository(place.path("repo"));
    git(root, "reset", "--quiet", "--hard");
    expect(await failureOf(review(root))).toMatchObject({ code: "nothing_to_review" });
    write(root, "new.ts", "brand new\n");
    expect(await review(root)).toMatch(/\(unstaged changes and new files\).*\+brand new/);
    expect(await failureOf(review(root, { changes: "staged" }))).toMatchObject({
      code: "nothing_to_review",
      message: "Nothing is staged.",
    });
    write(root, "src/util.ts", "staged line\n");
    git(root, "add", "src/util.ts");
    const both = await review(root);
    expect(both).toMatch(/\+staged line.*\+brand new/);
    const staged = await review(root, { changes: "staged" });
    expect(staged).toContain("+staged line");
    expect(staged).not.toContain("brand new");
  });

  it("works before the first commit", async () => {
    const root = emptyRepository(place.path("empty"));
    write(root, "first.ts", "first line\n");
    expect(await review(root)).toContain("+first line");
  });

  it("finds the default branch: origin/HEAD, init.defaultBranch, main or master", async () => {
    const root = emptyRepository(place.path("master"), "--initial-branch=master");
    commitFiles(root, "One", { "a.txt": "one\n" });
    git(root, "checkout", "--quiet", "-b", "work");
    commitFiles(root, "Two", { "a.txt": "two\n" });
    expect(await review(root, { branch: "work" })).toContain("refs/heads/master...work");
    expect(await failureOf(review(root, { branch: "master" }))).toMatchObject({
      code: "nothing_to_review",
    });
    git(root, "branch", "trunk", "master");
    git(root, "config", "init.defaultBranch", "trunk");
    expect(await review(root, { branch: "work" })).toContain("refs/heads/trunk...work");
    git(root, "update-ref", "refs/remotes/origin/dev", "master");
    git(root, "symbolic-ref", "refs/remotes/origin/HEAD", "refs/remotes/origin/dev");
    expect(await review(root, { branch: "work" })).toContain("refs/remotes/origin/dev...work");
    git(root, "symbolic-ref", "--delete", "refs/remotes/origin/HEAD");
    git(root, "branch", "-D", "--quiet", "master", "trunk");
    git(root, "config", "--unset", "init.defaultBranch");
    expect(await failureOf(review(root, { branch: "work" }))).toMatchObject({
      code: "no_default_branch",
    });
  });
});
