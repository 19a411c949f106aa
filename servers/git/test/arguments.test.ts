import { existsSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import {
  callTool,
  codeOf,
  git,
  insideAndOutside,
  matchesIn,
  type Scratch,
  scratch,
  write,
} from "./fixture.ts";

let place: Scratch;
beforeEach(() => {
  place = scratch();
});
afterEach(() => place.dispose());

describe("names that look like options", () => {
  const evil = [
    "--output=stolen",
    "-u",
    "--upload-pack=x",
    "--exec=x",
    "-O",
    "--no-index",
    "--ext-diff",
    "--help",
  ];

  it("are names and nothing else (CVE-2025-68144)", async () => {
    const { root, over } = insideAndOutside(place);
    const before = readdirSync(root).sort();
    for (const name of evil) {
      for (const [tool, args] of [
        ["git_diff", { target: name }],
        ["git_diff", { target: `main..${name}` }],
        ["git_log", { revision: name }],
        ["git_show", { revision: name }],
        ["git_branch", { contains: name }],
        ["git_blame", { path: "src/app.ts", revision: name }],
        ["git_grep", { pattern: "x", revision: name }],
        ["git_list_files", { revision: name }],
        ["git_checkout", { branch_name: name }],
        ["git_create_branch", { branch_name: "ok", base_branch: name }],
        ["git_restore", { files: ["README.md"], source: name }],
        ["git_merge", { revision: name }],
        ["git_cherry_pick", { commits: [name] }],
        ["git_revert", { commit: name }],
        ["git_create_tag", { tag_name: "ok", revision: name }],
        ["git_stash_apply", { stash: name }],
        ["git_stash_apply", { stash: name, drop: true }],
        ["git_reset_hard", { revision: name }],
        ["git_rebase", { onto: name }],
        ["git_diff", { target: `v0.9..${name}` }],
        ["git_reset", { revision: name }],
        ["git_rebase", { onto: name }],
        ["git_rebase", { branch_name: name, steps: [{ commit: "main", action: "drop" }] }],
        ["git_rebase", { steps: [{ commit: name, action: "drop" }] }],
        ["git_delete", { kind: "branch", name: name }],
        ["git_reflog", { ref: name }],
        ["git_delete", { kind: "branch", name: name, remote: "origin" }],
      ] as const) {
        expect(
          await codeOf(callTool(over, tool, { repo_path: root, ...args })),
          `${tool} ${name}`,
        ).toBe("bad_revision");
      }
    }
    expect(readdirSync(root).sort()).toEqual(before);
  });

  it("still work by their full names if a repository really has such a ref (GHSA-265x)", async () => {
    const { root, over } = insideAndOutside(place);
    const head = git(root, "rev-parse", "HEAD").trim();
    for (const name of evil.slice(0, 2))
      writeFileSync(join(root, ".git", "refs", "heads", name), `${head}\n`);
    const { text } = await callTool(over, "git_diff", {
      repo_path: root,
      target: "v0.9..refs/heads/--output=stolen",
    });
    expect(text).toContain("+OURS");
    expect(
      (await callTool(over, "git_log", { repo_path: root, revision: "refs/heads/-u" })).data
        .commits,
    ).toHaveLength(3);
    const { data } = await callTool(over, "git_branch", { repo_path: root });
    expect(JSON.stringify(data)).toContain('"name":"--output=stolen"');
    expect(
      await codeOf(callTool(over, "git_checkout", { repo_path: root, branch_name: "-u" })),
    ).toBe("bad_revision");
    expect(existsSync(join(root, "stolen"))).toBe(false);
  });

  it("as paths and patterns are treated as paths and patterns", async () => {
    const { root, over } = insideAndOutside(place);
    write(root, "--output=stolen", "dashes\n");
    await callTool(over, "git_add", { repo_path: root, files: ["--output=stolen"] });
    await callTool(over, "git_commit", { repo_path: root, message: "-F/etc/passwd" });
    expect(git(root, "log", "-1", "--format=%s").trim()).toBe("-F/etc/passwd");
    const { text } = await callTool(over, "git_blame", {
      repo_path: root,
      path: "--output=stolen",
    });
    expect(text).toContain("dashes");
    const { data } = await callTool(over, "git_grep", { repo_path: root, pattern: "-O/bin/sh" });
    expect(matchesIn(data)).toEqual([]);
  });

  it("as paths are literal: no pattern and no magic of git's", async () => {
    const { root, over } = insideAndOutside(place);
    for (const name of ["[ab].c", "a.c", ":(top)x.c"]) write(root, name, "old\n");
    git(root, "add", "-A");
    git(root, "commit", "--quiet", "-m", "Names");
    for (const name of ["[ab].c", "a.c", ":(top)x.c"]) write(root, name, "new\n");
    const at = { repo_path: root };
    const { text } = await callTool(over, "git_diff_unstaged", {
      ...at,
      paths: ["[ab].c", ":(top)x.c"],
    });
    expect(text).toContain("2 files changed");
    expect(text).not.toContain("a/a.c");
    const { data } = await callTool(over, "git_add", { ...at, files: ["[ab].c"] });
    expect(data.staged).toEqual([{ path: "[ab].c", status: "modified" }]);
    const found = await callTool(over, "git_grep", { ...at, pattern: "new", paths: ["[ab].c"] });
    expect(matchesIn(found.data)).toEqual([{ path: "[ab].c", line: 1, text: "new" }]);
    expect(await codeOf(callTool(over, "git_add", { ...at, files: ["*.c"] }))).toBe("bad_path");
  });

  it("as commit ids are those commits, despite refs/replace", async () => {
    const { root, over } = insideAndOutside(place);
    const oid = git(root, "rev-parse", "v0.9").trim();
    git(root, "replace", oid, git(root, "rev-parse", "feature").trim());
    expect(git(root, "log", "-1", "--format=%s", oid).trim()).toBe("Feature work");
    const { text } = await callTool(over, "git_show", { repo_path: root, revision: oid });
    expect(text).toContain("Message: Add café");
    const { data } = await callTool(over, "git_log", {
      repo_path: root,
      revision: oid,
      max_count: 1,
    });
    expect(JSON.stringify(data.commits)).toContain("Add café");
  });

  it("with line breaks or NUL find nothing, and break nothing", async () => {
    const { root, over } = insideAndOutside(place);
    for (const name of ["HEAD\nmain", "HEAD\0", "", "a".repeat(2_000)])
      expect(await codeOf(callTool(over, "git_log", { repo_path: root, revision: name }))).toBe(
        "bad_revision",
      );
    expect(await codeOf(callTool(over, "git_log", { repo_path: root, author: "a\0b" }))).toBe(
      "bad_argument",
    );
    expect(await codeOf(callTool(over, "git_log", { repo_path: root, path: "a\0b" }))).toBe(
      "bad_path",
    );
  });
});
