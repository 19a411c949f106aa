import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import {
  callTool,
  commitFiles,
  emptyRepository,
  failureOf,
  git,
  gitOver,
  matchesIn,
  type Scratch,
  sampleRepository,
  scratch,
  write,
} from "./fixture.ts";
import { canary } from "./traps.ts";

let place: Scratch;
beforeEach(() => {
  place = scratch();
});
afterEach(() => place.dispose());

const over = () => gitOver([place.folder]);
const codeOf = async (work: Promise<unknown>): Promise<string | undefined> =>
  (await failureOf(work)).code;

describe("unusual repositories work", () => {
  it("without a commit: status, staging, the first commit; tools that need one report it", async () => {
    const root = emptyRepository(place.path("unborn"));
    write(root, "a.txt", "a\n");
    const { data } = await callTool(over(), "git_status", { repo_path: root });
    expect(data).toEqual({
      branch: "main",
      unborn: true,
      clean: false,
      staged: [],
      unstaged: [],
      untracked: ["a.txt"],
      conflicted: [],
    });
    for (const name of ["git_log", "git_create_branch", "git_stash", "git_reset_hard"]) {
      const args = name === "git_create_branch" ? { branch_name: "x" } : {};
      expect(await codeOf(callTool(over(), name, { repo_path: root, ...args })), name).toBe(
        "no_commits",
      );
    }
    expect((await callTool(over(), "git_branch", { repo_path: root })).data).toEqual({
      branches: [],
    });
    await callTool(over(), "git_add", { repo_path: root, files: ["."] });
    expect((await callTool(over(), "git_status", { repo_path: root })).data.staged).toEqual([
      { path: "a.txt", status: "added" },
    ]);
    const { data: made } = await callTool(over(), "git_commit", {
      repo_path: root,
      message: "First",
    });
    expect(made).toMatchObject({ branch: "main", summary: "1 file changed, 1 insertion(+)" });
    expect(made.before).toBeUndefined();
  });

  it("with a detached HEAD", async () => {
    const root = sampleRepository(place.path("detached"));
    git(root, "checkout", "--quiet", "--detach", "v0.9");
    const { data } = await callTool(over(), "git_status", { repo_path: root });
    expect(data.branch).toBeUndefined();
    expect(data.head).toBe(git(root, "rev-parse", "v0.9").trim());
    await callTool(over(), "git_commit", {
      repo_path: root,
      message: "On nothing",
      allow_empty: true,
    });
    expect((await callTool(over(), "git_log", { repo_path: root, max_count: 1 })).text).toContain(
      "On nothing",
    );
    expect((await callTool(over(), "git_branch", { repo_path: root })).text).not.toContain(
      "current",
    );
  });

  it("bare: history, files and search; tools that need a working tree report it", async () => {
    sampleRepository(place.path("source"));
    git(place.folder, "clone", "--quiet", "--bare", "source", "bare.git");
    const root = place.path("bare.git");
    expect((await callTool(over(), "git_log", { repo_path: root })).data.commits).toHaveLength(3);
    expect(
      (await callTool(over(), "git_show", { repo_path: root, revision: "HEAD:src/app.ts" })).text,
    ).toContain("OURS");
    expect(
      matchesIn(
        (await callTool(over(), "git_grep", { repo_path: root, revision: "HEAD", pattern: "OURS" }))
          .data,
      ),
    ).toHaveLength(1);
    const lines = { repo_path: root, path: "src/app.ts", lines: "2" };
    expect((await callTool(over(), "git_log", lines)).data.commits).toHaveLength(2);
    expect(
      (await callTool(over(), "git_diff", { repo_path: root, target: "v0.9..HEAD" })).text,
    ).toContain("+OURS");
    expect(
      (await callTool(over(), "git_list_files", { repo_path: root, revision: "HEAD" })).data.files,
    ).toHaveLength(6);
    expect(
      (await callTool(over(), "git_blame", { repo_path: root, path: "src/app.ts" })).text,
    ).toContain("OURS");
    for (const [name, args] of [
      ["git_status", {}],
      ["git_diff_unstaged", {}],
      ["git_diff_staged", {}],
      ["git_grep", { pattern: "x" }],
      ["git_list_files", {}],
      ["git_add", { files: ["."] }],
      ["git_commit", { message: "x" }],
      ["git_reset", {}],
      ["git_checkout", { branch_name: "feature" }],
      ["git_stash", {}],
      ["git_merge", { revision: "feature" }],
      ["git_clean", {}],
    ] as const)
      expect(await codeOf(callTool(over(), name, { repo_path: root, ...args })), name).toBe(
        "bare_repository",
      );
  });

  it("shallow", async () => {
    const source = sampleRepository(place.path("source"));
    git(place.folder, "clone", "--quiet", "--depth=1", `file://${source}`, "shallow");
    const root = place.path("shallow");
    expect((await callTool(over(), "git_log", { repo_path: root })).data.commits).toHaveLength(1);
    const { text } = await callTool(over(), "git_show", { repo_path: root, revision: "HEAD" });
    expect(text).toContain("6 files changed");
    expect(text).toContain("The history is shallow");
    expect(await codeOf(callTool(over(), "git_diff", { repo_path: root, target: "HEAD~1" }))).toBe(
      "bad_revision",
    );
  });

  it("a linked worktree, and a directory deep inside", async () => {
    const main = sampleRepository(place.path("main"));
    git(main, "worktree", "add", "--quiet", place.path("linked"), "feature");
    const root = place.path("linked");
    write(root, "src/feature.ts", "changed\n");
    const { data } = await callTool(over(), "git_status", { repo_path: join(root, "src") });
    expect(data).toMatchObject({
      branch: "feature",
      unstaged: [{ path: "src/feature.ts", status: "modified" }],
    });
    await callTool(over(), "git_commit", {
      repo_path: join(root, "src"),
      message: "There",
      files: ["src/feature.ts"],
    });
    expect(git(main, "log", "-1", "--format=%s", "feature").trim()).toBe("There");
  });

  it("during a merge", async () => {
    const root = sampleRepository(place.path("merging"));
    expect(() => git(root, "merge", "conflicting")).toThrow();
    const { data } = await callTool(over(), "git_status", { repo_path: root });
    expect(data).toMatchObject({
      operation: "merge",
      conflicted: [{ path: "src/app.ts", status: "both modified" }],
    });
    const { text } = await callTool(over(), "git_diff_unstaged", { repo_path: root });
    expect(text).toContain("diff --cc src/app.ts");
    expect(text).toContain("++<<<<<<< HEAD");
    expect(
      await codeOf(callTool(over(), "git_checkout", { repo_path: root, branch_name: "feature" })),
    ).toMatch(/operation_in_progress|local_changes/);
    expect(await codeOf(callTool(over(), "git_commit", { repo_path: root, message: "x" }))).toBe(
      "conflict",
    );
  });

  it("with a corrupt index: history works, the rest explains the problem", async () => {
    const root = sampleRepository(place.path("corrupt"));
    writeFileSync(join(root, ".git", "index"), "this is not an index");
    for (const [name, args] of [
      ["git_status", {}],
      ["git_diff_unstaged", {}],
      ["git_list_files", {}],
      ["git_add", { files: ["."] }],
      ["git_commit", { message: "x" }],
    ] as const)
      expect(await codeOf(callTool(over(), name, { repo_path: root, ...args })), name).toBe(
        "corrupt_index",
      );
    expect((await callTool(over(), "git_log", { repo_path: root })).data.commits).toHaveLength(3);
    expect(
      (await callTool(over(), "git_show", { repo_path: root, revision: "HEAD" })).text,
    ).toContain("+OURS");
  });

  it("with a lock held by another process", async () => {
    const root = sampleRepository(place.path("locked"));
    write(root, "new.txt", "x\n");
    writeFileSync(join(root, ".git", "index.lock"), "");
    expect(await codeOf(callTool(over(), "git_add", { repo_path: root, files: ["new.txt"] }))).toBe(
      "locked",
    );
    expect((await callTool(over(), "git_status", { repo_path: root })).data.untracked).toEqual([
      "new.txt",
    ]);
  });

  it("with file names that contain newlines, tabs, quotes and escapes", async () => {
    const root = emptyRepository(place.path("names"));
    const names = [
      "a\nb.txt",
      'quo"te.txt',
      "tab\there.txt",
      "\u001b[31mred.txt",
      " lead",
      "-dash",
      "diff --git a/x b/x",
      "ünï.txt",
    ];
    for (const name of names) write(root, name, "one\n");
    const { data } = await callTool(over(), "git_status", { repo_path: root, paths: ["."] });
    expect((data.untracked as string[]).sort()).toEqual([...names].sort());
    await callTool(over(), "git_add", { repo_path: root, files: names });
    await callTool(over(), "git_commit", { repo_path: root, message: "Names" });
    expect(
      (
        (await callTool(over(), "git_list_files", { repo_path: root })).data.files as string[]
      ).sort(),
    ).toEqual([...names].sort());
    const { text } = await callTool(over(), "git_show", { repo_path: root, revision: "HEAD" });
    expect(text).toContain("(8 files changed, 8 insertions, 0 deletions)");
    expect(text).not.toContain("\u001b");
    expect(text).toContain('"b/a\\nb.txt"');
    const stat = await callTool(over(), "git_show", {
      repo_path: root,
      revision: "HEAD",
      format: "stat",
    });
    expect(stat.text).toContain("+1 -0 a\\nb.txt\n");
    const { data: found } = await callTool(over(), "git_grep", { repo_path: root, pattern: "one" });
    expect(
      matchesIn(found)
        .map(({ path }) => path)
        .sort(),
    ).toEqual([...names].sort());
    for (const path of names) {
      expect((await callTool(over(), "git_blame", { repo_path: root, path })).text, path).toContain(
        "1) one",
      );
      expect(
        (await callTool(over(), "git_log", { repo_path: root, path })).data.commits,
        path,
      ).toHaveLength(1);
    }
  });

  it("with content, names, messages and authors that are not UTF-8", async () => {
    const root = emptyRepository(place.path("latin"));
    commitFiles(root, "First", {
      "latin1.txt": Buffer.from("caf\xe9\nplain ü\n", "latin1"),
      "mixed.txt": "ä\n",
    });
    write(root, "mixed.txt", Buffer.concat([Buffer.from("ä\n"), Buffer.from([0xe4, 10])]));
    const oddName = Buffer.from(`${root}/na\xefve.txt`, "latin1");
    writeFileSync(oddName, "odd name\n");
    const message = join(place.folder, "message");
    writeFileSync(message, Buffer.from("R\xe9sum\xe9\n", "latin1"));
    git(
      root,
      "-c",
      "i18n.commitEncoding=ISO-8859-1",
      "commit",
      "--quiet",
      "--allow-empty",
      "-F",
      message,
    );

    expect(
      (await callTool(over(), "git_show", { repo_path: root, revision: "HEAD~1" })).text,
    ).toContain("+café");
    const log = await callTool(over(), "git_log", { repo_path: root, max_count: 1 });
    expect(log.data.commits).toMatchObject([{ message: "Résumé" }]);
    expect((await callTool(over(), "git_diff_unstaged", { repo_path: root })).text).toMatch(
      /^ ä\n\+ä \[|^ ä\n\+ä$/m,
    );

    const { data } = await callTool(over(), "git_status", { repo_path: root });
    expect(data.untracked).toEqual(['"na\\357ve.txt"']);
    const error = await failureOf(
      callTool(over(), "git_add", { repo_path: root, files: ['"na\\357ve.txt"'] }),
    );
    expect(error.code).toBe("bad_path");
  });

  it("with terminal escapes and hidden text in messages and authors, which become visible", async () => {
    const root = emptyRepository(place.path("hidden"));
    const hidden = "\u001b[31mred\u0007\u202e\u{e0041}";
    const shown = "\\u{1b}[31mred\\u{7}\\u{202e}\\u{e0041}";
    write(root, "a.txt", `${hidden}\n`);
    git(root, "add", "-A");
    const people = ["-c", `user.name=Eve${hidden}`, "-c", "user.email=eve@example.org"];
    git(root, ...people, "commit", "--quiet", "-m", `Subject ${hidden}\n\n\tBody ${hidden}`);
    git(root, ...people, "tag", "-a", "v1", "-m", `Tag ${hidden}`);
    write(root, "a.txt", "changed\n");
    git(root, ...people, "stash", "push", "--quiet", "-m", `Stash ${hidden}`);

    const call = (name: string, args = {}) => callTool(over(), name, { repo_path: root, ...args });
    const log = await call("git_log");
    expect(log.data.commits).toMatchObject([
      { author: `Eve${shown}`, message: `Subject ${shown}\n\n\tBody ${shown}` },
    ]);
    const { text } = await call("git_show", { revision: "v1" });
    expect(text).toContain(`Author: Eve${shown} <`);
    expect(text).toContain(`tagger Eve${shown} <`);
    expect(text).toContain(`Tag ${shown}\n`);
    expect(text, "content stays exact").toContain(`+${hidden}\n`);
    for (const [name, args] of [
      ["git_branch", {}],
      ["git_list_refs", { kind: "tags" }],
      ["git_list_refs", { kind: "stashes" }],
      ["git_reflog", {}],
    ] as const) {
      const listed = JSON.stringify((await call(name, args)).data);
      expect(listed, name).toContain(JSON.stringify(shown).slice(1, -1));
      expect(listed, name).not.toMatch(/\\u001b|\u202e/);
    }
    await call("git_stash_apply", { stash: "stash@{0}" });
    await call("git_commit", { message: `Next ${hidden}`, files: ["a.txt"] });
  });

  it("with SHA-256 objects", async () => {
    const root = emptyRepository(place.path("sha256"), "--object-format=sha256");
    commitFiles(root, "First", { "a.txt": "a\n" });
    write(root, "a.txt", "b\n");
    const { data } = await callTool(over(), "git_log", { repo_path: root });
    expect((data.commits as { commit: string }[])[0]?.commit).toMatch(/^[0-9a-f]{64}$/);
    expect(
      (await callTool(over(), "git_show", { repo_path: root, revision: "HEAD" })).text,
    ).toContain("new file mode");
    const { data: made } = await callTool(over(), "git_commit", {
      repo_path: root,
      message: "Second",
      files: ["a.txt"],
    });
    expect(made.commit).toMatch(/^[0-9a-f]{64}$/);
    write(root, "a.txt", "c\n");
    const { data: restored } = await callTool(over(), "git_restore", {
      repo_path: root,
      files: ["a.txt"],
    });
    await callTool(over(), "git_restore", {
      repo_path: root,
      files: ["a.txt"],
      source: restored.recovery,
    });
    expect(readFileSync(join(root, "a.txt"), "utf8")).toBe("c\n");
  });

  it("with a submodule: its commit change is reported, without running its programs", async () => {
    const inner = sampleRepository(place.path("inner"));
    const root = emptyRepository(place.path("outer"));
    git(root, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", inner, "sub");
    git(root, "commit", "--quiet", "-m", "Submodule");
    const { program, log } = canary(place.path("evil"));
    git(join(root, "sub"), "config", "core.fsmonitor", program);
    expect((await callTool(over(), "git_status", { repo_path: root })).data.clean).toBe(true);
    write(join(root, "sub"), "README.md", "dirty inside\n");
    write(join(root, "sub"), "new.txt", "new inside\n");
    expect((await callTool(over(), "git_status", { repo_path: root })).data.notes).toEqual([
      expect.stringContaining("pass one as repo_path: sub"),
    ]);
    const own = await callTool(over(), "git_status", { repo_path: join(root, "sub") });
    expect(own.data).toMatchObject({ clean: false, untracked: ["new.txt"] });
    expect(existsSync(log)).toBe(false);
    git(join(root, "sub"), "status");
    expect(existsSync(log)).toBe(true);
    git(join(root, "sub"), "config", "--unset", "core.fsmonitor");
    rmSync(join(root, "sub", "new.txt"));
    git(join(root, "sub"), "checkout", "--quiet", "--force", "--detach", "v0.9");
    expect((await callTool(over(), "git_status", { repo_path: root })).data.unstaged).toEqual([
      { path: "sub", status: "modified" },
    ]);
    expect((await callTool(over(), "git_diff_unstaged", { repo_path: root })).text).toMatch(
      /-Subproject commit .*\n\+Subproject commit /,
    );
    await callTool(over(), "git_commit", { repo_path: root, message: "Older", files: ["sub"] });
    expect(git(root, "rev-parse", "HEAD:sub")).toBe(git(inner, "rev-parse", "v0.9"));
  });

  it("with a configuration that git cannot read", async () => {
    const root = sampleRepository(place.path("broken"));
    writeFileSync(join(root, ".git", "config"), "[core\n");
    expect(await codeOf(callTool(over(), "git_status", { repo_path: root }))).toBe("bad_config");
    rmSync(join(root, ".git", "config"));
    mkdirSync(join(root, "x"));
    expect(
      (await callTool(over(), "git_log", { repo_path: join(root, "x") })).data.commits,
    ).toHaveLength(3);
  });

  it("without repo_path, if exactly one repository is in scope", async () => {
    const root = sampleRepository(place.path("only"));
    expect((await callTool(over(), "git_log", {})).data.commits).toHaveLength(3);
    sampleRepository(place.path("group", "second"));
    const error = await failureOf(callTool(over(), "git_log", {}));
    expect(error.code).toBe("repository_needed");
    expect(error.message).toContain(root);
    const none = gitOver([place.home]);
    expect(await codeOf(callTool(none, "git_log", {}))).toBe("not_a_repository");
  });
});
