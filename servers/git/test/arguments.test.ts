import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { lookUp } from "../src/git/open/revisions.ts";
import { codeOf, failureOf, gitOver, matchesIn, useSample } from "./fixture.ts";

const sample = useSample("clean");
const call = (tool: string, args: object = {}) => sample().call(tool, args);
const git = (...args: string[]) => sample().git(...args);

/** Every place where a tool takes a revision. */
const USERS: readonly [tool: string, args: (name: string) => object][] = [
  ["git_diff", (name) => ({ target: name })],
  ["git_diff", (name) => ({ target: `main...${name}` })],
  ["git_log", (name) => ({ revision: `main..${name}` })],
  ["git_show", (name) => ({ revision: name })],
  ["git_show", (name) => ({ revision: `${name}~1` })],
  ["git_show", (name) => ({ revision: `${name}:src/app.ts` })],
  ["git_branch", (name) => ({ contains: name })],
  ["git_blame", (name) => ({ path: "src/app.ts", revision: name })],
  ["git_grep", (name) => ({ pattern: "x", revision: name })],
  ["git_list_files", (name) => ({ revision: name })],
  ["git_create_branch", (name) => ({ branch_name: "ok", base_branch: name })],
  ["git_restore", (name) => ({ files: ["README.md"], source: name })],
  ["git_merge", (name) => ({ revision: name })],
  ["git_cherry_pick", (name) => ({ commits: ["main", name] })],
  ["git_revert", (name) => ({ commit: name })],
  ["git_create_tag", (name) => ({ tag_name: "ok", revision: name })],
  ["git_reset", (name) => ({ revision: name })],
  ["git_reset_hard", (name) => ({ revision: name })],
  ["git_rebase", (name) => ({ onto: name })],
  ["git_rebase", (name) => ({ steps: [{ commit: name, action: "drop" }] })],
];
/** Those that take the name of one thing: a branch, a stash. */
const NAMED: typeof USERS = [
  ["git_checkout", (name) => ({ branch_name: name })],
  ["git_stash_apply", (name) => ({ stash: name })],
  ["git_stash_apply", (name) => ({ stash: name, drop: true })],
  ["git_rebase", (name) => ({ branch_name: name, steps: [{ commit: "main", action: "drop" }] })],
  ["git_reflog", (name) => ({ ref: name })],
  ["git_delete", (name) => ({ kind: "branch", name })],
  ["git_delete", (name) => ({ kind: "branch", name, remote: "origin" })],
];

describe("names that look like options", () => {
  const EVIL = ["--output=stolen", "-u", "--upload-pack=x", "--no-index"];

  it("are names and nothing else (CVE-2025-68144)", async () => {
    const { root } = sample();
    const before = readdirSync(root).sort();
    for (const name of EVIL)
      for (const [tool, args] of [...USERS, ...NAMED])
        expect(await codeOf(call(tool, args(name))), `${tool} ${name}`).toBe("bad_revision");
    expect(readdirSync(root).sort()).toEqual(before);
  });

  it("still work by their full names if a repository really has such a ref (GHSA-265x)", async () => {
    const { root, id, write } = sample();
    for (const name of EVIL.slice(0, 2)) write(`.git/refs/heads/${name}`, id("HEAD"));
    const { text } = await call("git_diff", { target: "v0.9..refs/heads/--output=stolen" });
    expect(text).toContain("+OURS");
    expect((await call("git_log", { revision: "refs/heads/-u" })).data.commits).toHaveLength(3);
    expect((await call("git_branch")).text).toContain('"name":"--output=stolen"');
    expect(await codeOf(call("git_checkout", { branch_name: "-u" }))).toBe("bad_revision");
    expect(existsSync(join(root, "stolen"))).toBe(false);
  });

  it("as paths are literal: no pattern and no magic of git's", async () => {
    const names = ["[ab].c", "a.c", ":(top)x.c", "--output=stolen"];
    const { write } = sample();
    for (const name of names) write(name, "old\n");
    await call("git_add", { files: names });
    await call("git_commit", { message: "-F/etc/passwd" });
    expect(git("log", "-1", "--format=%s").trim()).toBe("-F/etc/passwd");
    for (const name of names) write(name, "new\n");
    const paths = ["[ab].c", ":(top)x.c", "--output=stolen"];
    const { text } = await call("git_diff_unstaged", { paths });
    expect(text).toContain("3 files changed");
    expect(text).not.toContain("a/a.c");
    const { data } = await call("git_add", { files: ["[ab].c"] });
    expect(data.staged).toEqual([{ path: "[ab].c", status: "modified" }]);
    const found = await call("git_grep", { pattern: "new", paths: ["[ab].c"] });
    expect(matchesIn(found.data)).toEqual([{ path: "[ab].c", line: 1, text: "new" }]);
    expect((await call("git_blame", { path: "--output=stolen" })).text).toContain("old");
    expect((await call("git_grep", { pattern: "-O/bin/sh" })).data.files).toEqual([]);
    expect(await codeOf(call("git_add", { files: ["*.c"] }))).toBe("bad_path");
  });

  it("with line breaks or NUL find nothing, and add no request", async () => {
    for (const revision of ["HEAD\nmain", "HEAD\0", "HEAD\r", "", "a".repeat(2_000), " HEAD"])
      expect(await codeOf(call("git_log", { revision }))).toBe("bad_revision");
    for (const revision of ["HEAD\ninfo HEAD", "HEAD missing", `${"0".repeat(40)} blob 3`])
      expect(await codeOf(call("git_show", { revision }))).toBe("bad_revision");
    expect(await codeOf(call("git_log", { author: "a\0b" }))).toBe("bad_argument");
    expect(await codeOf(call("git_log", { path: "a\0b" }))).toBe("bad_path");
    const { root } = sample();
    const repository = await gitOver([root]).open(root, new AbortController().signal);
    for (const name of ["x\ncontents HEAD", "HEAD\n", "HEAD\r", "HEAD\0"])
      expect(await lookUp(repository, [name, "v0.9:README.md"]), name).toMatchObject([
        undefined,
        { type: "blob" },
      ]);
  });

  it("after an entry of a reflog are not read as times, though git takes any text for one", async () => {
    const all = [...USERS, ...NAMED.filter(([tool]) => /reflog|stash/.test(tool))];
    // Which may show a file.
    for (const name of ["main@{0}~99", "main@{0}^{tag}", "main@{0}:@{x}", "main@{0}:README.md"])
      for (const [tool, args] of all)
        if (!/md git_(?:show|diff|log|restore)$/.test(`${name} ${tool}`))
          expect(await codeOf(call(tool, args(name))), `${tool} ${name}`).toBe("bad_revision");
  });

  it("as commit ids are those commits, despite refs/replace", async () => {
    const revision = git("rev-parse", "v0.9").trim();
    git("replace", revision, git("rev-parse", "feature").trim());
    expect(git("log", "-1", "--format=%s", revision).trim()).toBe("Feature work");
    expect((await call("git_show", { revision })).text).toContain("Message: Add café");
  });
});

describe("a name of two things", () => {
  it("is refused by every tool, and works by its full name and where only a branch can be meant", async () => {
    git("tag", "feature", "main");
    // The repository cannot switch git's warning off.
    git("config", "core.warnAmbiguousRefs", "false");
    for (const [tool, args] of USERS) {
      const error = await failureOf(call(tool, args("feature")));
      expect(error.code, `${tool} ${JSON.stringify(args(""))}`).toBe("ambiguous_name");
      expect(error.hint).toContain("such as refs/heads/feature");
    }
    const { text } = await call("git_diff", { target: "main...refs/heads/feature" });
    expect(text).toContain("+TEN");
    const { data } = await call("git_checkout", { branch_name: "feature" });
    expect(data.branch).toBe("feature");
    const id = git("rev-parse", "v0.9").trim().slice(0, 10);
    git("branch", id, "feature~1");
    // A file in the git directory hides a branch.
    sample().write(".git/conflicting", git("rev-parse", "v0.9"));
    for (const revision of [id, "conflicting"])
      expect(await codeOf(call("git_show", { revision }))).toBe("ambiguous_name");
    git("tag", "HEAD", "v0.9");
    expect((await call("git_log", { max_count: 1 })).data.commits).toHaveLength(1);
  });
});
