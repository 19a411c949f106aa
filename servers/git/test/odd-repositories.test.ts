import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import {
  at,
  callTool,
  codeOf,
  emptyRepository,
  failureOf,
  git,
  gitOver,
  place,
  sampleRepository,
  useTestDirectory,
} from "./fixture.ts";

useTestDirectory();

const empty = (name: string, ...args: string[]) => at(emptyRepository(place.path(name), ...args));
const sample = (name = "source") => at(sampleRepository(place.path(name)));
/** Calls that need an index. */
const NEED_INDEX: readonly [tool: string, args?: object][] = [
  ["git_diff_staged"],
  ["git_list_files"],
  ["git_add", { files: ["."] }],
  ["git_commit", { message: "x" }],
];
/** Calls that need a working tree. */
const NEED_FILES: typeof NEED_INDEX = [
  ...NEED_INDEX,
  ...["status", "diff_unstaged", "reset", "stash", "clean"].map(
    (name) => [`git_${name}`] as [string],
  ),
  ["git_grep", { pattern: "x" }],
  ["git_checkout", { branch_name: "feature" }],
  ["git_merge", { revision: "feature" }],
];

describe("unusual repositories work:", () => {
  it("without a commit", async () => {
    const { call, code, write } = empty("unborn");
    write("a.txt", "a\n");
    expect((await call("git_status")).data).toEqual({
      ...{ branch: "main", unborn: true, clean: false },
      ...{ staged: [], unstaged: [], untracked: ["a.txt"], conflicted: [] },
    });
    for (const tool of ["git_log", "git_stash", "git_reset_hard"])
      expect(await code(tool), tool).toBe("no_commits");
    expect((await call("git_branch")).data).toEqual({ branches: [] });
    await call("git_add", { files: ["."] });
    expect((await call("git_diff_staged")).text).toContain("new file mode");
    const { data } = await call("git_commit", { message: "First" });
    expect(data).toMatchObject({ branch: "main", summary: "1 file changed, 1 insertion(+)" });
  });

  it("with a detached HEAD, and bare", async () => {
    const { call, git: here } = sample();
    git(place.folder, "clone", "--quiet", "--bare", "source", "bare.git");
    here("checkout", "--quiet", "--detach", "v0.9");
    expect((await call("git_status")).data.branch).toBeUndefined();
    await call("git_commit", { message: "On nothing", allow_empty: true });
    expect((await call("git_branch")).text).not.toContain("current");
    const bare = at(place.path("bare.git"));
    for (const [tool, args] of [
      ["git_log", { path: "src/app.ts", lines: "2" }],
      ["git_show", { revision: "HEAD:src/app.ts" }],
      ["git_grep", { revision: "HEAD", pattern: "OURS" }],
      ["git_diff", { target: "v0.9..HEAD" }],
      ["git_blame", { path: "src/app.ts" }],
    ] as const)
      expect((await bare.call(tool, args)).text, tool).toContain("OURS");
    for (const [tool, args] of NEED_FILES)
      expect(await bare.code(tool, { ...args }), tool).toBe("bare_repository");
  });

  it("shallow, and a linked worktree from a directory deep inside", async () => {
    const { root, git: source } = sample();
    git(place.folder, "clone", "--quiet", "--depth=1", `file://${root}`, "shallow");
    const { text } = await at(place.path("shallow")).call("git_show", { revision: "HEAD" });
    expect(text).toContain("The history is shallow");
    source("worktree", "add", "--quiet", place.path("linked"), "feature");
    const { call, write } = at(place.path("linked", "src"));
    write("feature.ts", "changed\n");
    expect((await call("git_status")).data).toMatchObject({ branch: "feature" });
    await call("git_commit", { message: "There", files: ["src/feature.ts"] });
    expect(source("log", "-1", "--format=%s", "feature").trim()).toBe("There");
  });

  it("with a corrupt index, a lock, or a configuration that git cannot read: it is explained", async () => {
    const { root, call, code, write } = sample();
    const index = readFileSync(join(root, ".git", "index"));
    write(".git/index", "this is not an index");
    for (const [tool, args] of NEED_INDEX.slice(1))
      expect(await code(tool, { ...args }), tool).toBe("corrupt_index");
    expect((await call("git_show", { revision: "HEAD" })).text).toContain("+OURS");
    write(".git/index", index);
    write("new.txt", "x\n");
    write(".git/index.lock", "");
    expect(await code("git_add", { files: ["new.txt"] })).toBe("locked");
    expect((await call("git_status")).data.untracked).toEqual(["new.txt"]);
    write(".git/config", "[core\n");
    expect(await code("git_status")).toBe("bad_config");
    rmSync(join(root, ".git", "config"));
    mkdirSync(join(root, "x"));
    expect((await at(join(root, "x")).call("git_log")).data.commits).toHaveLength(3);
  });

  it("with all bytes and invalid UTF-8 in content, names and messages, which stay exact in git", async () => {
    const { root, call, code, git: plain, read, write, commit } = empty("bytes");
    const bytes = Buffer.from(Array.from({ length: 512 }, (_, index) => (index * 7) % 256));
    commit("First", { "latin1.txt": Buffer.from("caf\xe9\nplain ü\n", "latin1"), bytes });
    writeFileSync(Buffer.from(`${root}/na\xefve.txt`, "latin1"), "odd name\n");
    const message = join(place.folder, "message");
    writeFileSync(message, Buffer.from("R\xe9sum\xe9\n", "latin1"));
    const encoding = ["-c", "i18n.commitEncoding=ISO-8859-1"];
    plain(...encoding, "commit", "--quiet", "--allow-empty", "-F", message);
    plain("-c", "i18n.commitEncoding=UTF-8", "tag", "-a", "raw", "-F", message);
    expect((await call("git_show", { revision: "HEAD~1" })).text).toContain("+café");
    expect((await call("git_show", { revision: "raw" })).text).toContain("Résumé");
    const log = await call("git_log", { max_count: 1 });
    expect(log.data.commits).toMatchObject([{ message: "Résumé" }]);
    expect((await call("git_status")).data.untracked).toEqual(['"na\\357ve.txt"']);
    expect(await code("git_add", { files: ['"na\\357ve.txt"'] })).toBe("bad_path");
    // Through git's pipes in both directions: kept, staged, stashed and restored.
    const changed = Buffer.concat([bytes, Buffer.from(bytes).reverse()]);
    const content = () => readFileSync(join(root, "bytes"));
    write("bytes", changed);
    const { recovery } = (await call("git_restore", { files: ["bytes"] })).data;
    expect(content().equals(bytes)).toBe(true);
    await call("git_restore", { files: ["bytes"], source: recovery });
    expect(content().equals(changed)).toBe(true);
    const lines = (text: string) => Buffer.from(`${text}\n`.repeat(9), "latin1");
    const text = (end: string) => Buffer.concat([lines("\x80\xff\x01"), Buffer.from(end)]);
    commit("Text", { text: text("old\n") });
    write("text", text("new\n"));
    const [, id] = /\[([0-9a-f]{7})\]$/m.exec((await call("git_diff_unstaged")).text) ?? [];
    await call("git_add", { hunks: [id] });
    expect(plain("diff", "--", "text")).toBe("");
    await call("git_stash", { include_untracked: true });
    await call("git_stash_apply", { drop: true });
    expect(readFileSync(join(root, "text")).equals(text("new\n"))).toBe(true);
    expect(readFileSync(Buffer.from(`${root}/na\xefve.txt`, "latin1"), "utf8")).toBe("odd name\n");
    expect(read("latin1.txt")).toContain("plain");
  });

  it("with terminal escapes and hidden text in messages and authors, which become visible", async () => {
    const { call, git, write } = empty("hidden");
    const hidden = "\u001b[31mred\u0007\u202e\u{e0041}";
    const shown = "\\u{1b}[31mred\\u{7}\\u{202e}\\u{e0041}";
    write("a.txt", `${hidden}\n`);
    git("add", "-A");
    const people = ["-c", `user.name=Eve${hidden}`, "-c", "user.email=eve@example.org"];
    git(...people, "commit", "--quiet", "-m", `Subject ${hidden}\n\n\tBody ${hidden}`);
    git(...people, "tag", "-a", "v1", "-m", `Tag ${hidden}`);
    const { text } = await call("git_show", { revision: "v1" });
    for (const part of [`Author: Eve${shown} <`, `tagger Eve${shown} <`, `Tag ${shown}\n`])
      expect(text).toContain(part);
    expect(text, "content stays exact").toContain(`+${hidden}\n`);
    for (const [tool, args] of [
      ["git_log", {}],
      ["git_branch", {}],
      ["git_list_refs", { kind: "tags" }],
      ["git_reflog", {}],
    ] as const) {
      const listed = JSON.stringify((await call(tool, args)).data);
      expect(listed, tool).toContain(JSON.stringify(shown).slice(1, -1));
      expect(listed, tool).not.toMatch(/\\u001b|\u202e/);
    }
  });

  it("with SHA-256 objects: reading, hunks, committing, keeping, rebasing and conflicts", async () => {
    const { root, call, commit, git, read, write } = empty("sha256", "--object-format=sha256");
    for (const text of ["a", "b"]) commit(text, { "a.txt": `${text}\n` });
    write("a.txt", "c\n");
    const { text } = await call("git_diff_unstaged");
    const [, id] = /^@@ .* \[([0-9a-f]{7})\]$/m.exec(text) ?? [];
    await call("git_add", { hunks: [id] });
    const { data: made } = await call("git_commit", { message: "c" });
    expect(made.commit).toMatch(/^[0-9a-f]{64}$/);
    write("a.txt", "d\n");
    const { recovery } = (await call("git_restore", { files: ["a.txt"] })).data;
    await call("git_restore", { files: ["a.txt"], source: recovery });
    expect(read("a.txt")).toBe("d\n");
    await call("git_stash");
    const steps = [{ commit: "HEAD", action: "reword", message: "New" }];
    await call("git_rebase", { apply: (await call("git_rebase", { steps })).data.plan });
    expect((await call("git_log", { max_count: 1 })).data.commits).toMatchObject([
      { message: "New", commit: expect.stringMatching(/^[0-9a-f]{64}$/) },
    ]);
    // A conflict that is resolved by deleting the file.
    await call("git_revert", { commit: "HEAD~1", on_conflict: "keep" });
    rmSync(join(root, "a.txt"));
    await call("git_add", { files: ["a.txt"] });
    await call("git_revert", { action: "continue" });
    expect(git("ls-files")).toBe("");
  });

  it("with a submodule: the change of its commit is reported", async () => {
    const inner = sample("inner");
    const { root, call, git, id } = empty("outer");
    const sub = at(join(root, "sub"));
    git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", inner.root, "sub");
    git("commit", "--quiet", "-m", "Submodule");
    sub.write("new.txt", "new inside\n");
    expect((await call("git_status")).data).toMatchObject({
      clean: true,
      notes: [expect.stringContaining("pass one as repo_path: sub")],
    });
    expect((await sub.call("git_status")).data).toMatchObject({ untracked: ["new.txt"] });
    sub.git("checkout", "--quiet", "--force", "--detach", "v0.9");
    const { data } = await call("git_status");
    expect(data.unstaged).toEqual([{ path: "sub", status: "modified" }]);
    await call("git_commit", { message: "Older", files: ["sub"] });
    expect(id("HEAD:sub")).toBe(inner.id("v0.9"));
  });

  it("without repo_path, if exactly one repository is in scope", async () => {
    const { root, over } = sample("only");
    expect((await callTool(over, "git_log", {})).data.commits).toHaveLength(3);
    sample("group/second");
    const error = await failureOf(callTool(over, "git_log", {}));
    expect(error.code).toBe("repository_needed");
    expect(error.message).toContain(root);
    const none = callTool(gitOver([place.home]), "git_log", {});
    expect(await codeOf(none)).toBe("not_a_repository");
  });
});
