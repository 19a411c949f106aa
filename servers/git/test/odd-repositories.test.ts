import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import {
  callTool,
  codeOf,
  commitFiles,
  emptyRepository,
  failureOf,
  git,
  gitOver,
  sampleRepository,
  write,
} from "./fixture.ts";
import { over, place, useTestDirectory } from "./upstream.ts";

useTestDirectory();

/** Calls a tool on a repository; returns its data and text. */
const at =
  (root: string) =>
  (tool: string, args: object = {}) =>
    callTool(over({}), tool, { repo_path: root, ...args });
type Call = ReturnType<typeof at>;
const NEED_FILES: readonly [tool: string, args: object][] = [
  ...["git_status", "git_diff_unstaged", "git_diff_staged", "git_list_files"].map(
    (tool) => [tool, {}] as [string, object],
  ),
  ["git_add", { files: ["."] }],
  ["git_commit", { message: "x" }],
];
const WRITE_FILES: readonly [tool: string, args: object][] = [
  ...["git_reset", "git_stash", "git_clean"].map((tool) => [tool, {}] as [string, object]),
  ["git_grep", { pattern: "x" }],
  ["git_checkout", { branch_name: "feature" }],
  ["git_merge", { revision: "feature" }],
];
async function allRefuse(call: Call, calls: typeof NEED_FILES, code: string): Promise<void> {
  for (const [tool, args] of calls) expect(await codeOf(call(tool, args)), tool).toBe(code);
}

describe("unusual repositories work:", () => {
  it("without a commit", async () => {
    const root = emptyRepository(place.path("unborn"));
    const call = at(root);
    write(root, "a.txt", "a\n");
    expect((await call("git_status")).data).toEqual({
      ...{ branch: "main", unborn: true, clean: false },
      ...{ staged: [], unstaged: [], untracked: ["a.txt"], conflicted: [] },
    });
    for (const tool of ["git_log", "git_stash", "git_reset_hard"])
      expect(await codeOf(call(tool)), tool).toBe("no_commits");
    expect((await call("git_branch")).data).toEqual({ branches: [] });
    await call("git_add", { files: ["."] });
    expect((await call("git_diff_staged")).text).toContain("new file mode");
    const { data } = await call("git_commit", { message: "First" });
    expect(data).toMatchObject({ branch: "main", summary: "1 file changed, 1 insertion(+)" });
  });

  it("with a detached HEAD, and bare", async () => {
    const root = sampleRepository(place.path("source"));
    git(place.folder, "clone", "--quiet", "--bare", "source", "bare.git");
    git(root, "checkout", "--quiet", "--detach", "v0.9");
    expect((await at(root)("git_status")).data.branch).toBeUndefined();
    await at(root)("git_commit", { message: "On nothing", allow_empty: true });
    expect((await at(root)("git_branch")).text).not.toContain("current");
    const call = at(place.path("bare.git"));
    for (const [tool, args] of [
      ["git_log", { path: "src/app.ts", lines: "2" }],
      ["git_show", { revision: "HEAD:src/app.ts" }],
      ["git_grep", { revision: "HEAD", pattern: "OURS" }],
      ["git_diff", { target: "v0.9..HEAD" }],
      ["git_blame", { path: "src/app.ts" }],
    ] as const)
      expect((await call(tool, args)).text, tool).toContain("OURS");
    await allRefuse(call, [...NEED_FILES, ...WRITE_FILES], "bare_repository");
  });

  it("shallow, and a linked worktree from a directory deep inside", async () => {
    const source = sampleRepository(place.path("source"));
    git(place.folder, "clone", "--quiet", "--depth=1", `file://${source}`, "shallow");
    const { text } = await at(place.path("shallow"))("git_show", { revision: "HEAD" });
    expect(text).toContain("The history is shallow");
    git(source, "worktree", "add", "--quiet", place.path("linked"), "feature");
    const call = at(place.path("linked", "src"));
    write(place.path("linked"), "src/feature.ts", "changed\n");
    expect((await call("git_status")).data).toMatchObject({ branch: "feature" });
    await call("git_commit", { message: "There", files: ["src/feature.ts"] });
    expect(git(source, "log", "-1", "--format=%s", "feature").trim()).toBe("There");
  });

  it("with a corrupt index, a lock, or a configuration that git cannot read: it is explained", async () => {
    const root = sampleRepository(place.path("corrupt"));
    const call = at(root);
    const index = readFileSync(join(root, ".git", "index"));
    writeFileSync(join(root, ".git", "index"), "this is not an index");
    await allRefuse(call, NEED_FILES.slice(3), "corrupt_index");
    expect((await call("git_show", { revision: "HEAD" })).text).toContain("+OURS");
    writeFileSync(join(root, ".git", "index"), index);
    write(root, "new.txt", "x\n");
    writeFileSync(join(root, ".git", "index.lock"), "");
    expect(await codeOf(call("git_add", { files: ["new.txt"] }))).toBe("locked");
    expect((await call("git_status")).data.untracked).toEqual(["new.txt"]);
    writeFileSync(join(root, ".git", "config"), "[core\n");
    expect(await codeOf(call("git_status"))).toBe("bad_config");
    rmSync(join(root, ".git", "config"));
    mkdirSync(join(root, "x"));
    expect((await at(join(root, "x"))("git_log")).data.commits).toHaveLength(3);
  });

  it("with content, names and messages that are not UTF-8", async () => {
    const root = emptyRepository(place.path("latin"));
    const call = at(root);
    commitFiles(root, "First", { "latin1.txt": Buffer.from("caf\xe9\nplain ü\n", "latin1") });
    writeFileSync(Buffer.from(`${root}/na\xefve.txt`, "latin1"), "odd name\n");
    const message = join(place.folder, "message");
    writeFileSync(message, Buffer.from("R\xe9sum\xe9\n", "latin1"));
    const encoding = ["-c", "i18n.commitEncoding=ISO-8859-1"];
    git(root, ...encoding, "commit", "--quiet", "--allow-empty", "-F", message);
    expect((await call("git_show", { revision: "HEAD~1" })).text).toContain("+café");
    const log = await call("git_log", { max_count: 1 });
    expect(log.data.commits).toMatchObject([{ message: "Résumé" }]);
    expect((await call("git_status")).data.untracked).toEqual(['"na\\357ve.txt"']);
    expect(await codeOf(call("git_add", { files: ['"na\\357ve.txt"'] }))).toBe("bad_path");
  });

  it("with terminal escapes and hidden text in messages and authors, which become visible", async () => {
    const root = emptyRepository(place.path("hidden"));
    const call = at(root);
    const hidden = "\u001b[31mred\u0007\u202e\u{e0041}";
    const shown = "\\u{1b}[31mred\\u{7}\\u{202e}\\u{e0041}";
    write(root, "a.txt", `${hidden}\n`);
    git(root, "add", "-A");
    const people = ["-c", `user.name=Eve${hidden}`, "-c", "user.email=eve@example.org"];
    git(root, ...people, "commit", "--quiet", "-m", `Subject ${hidden}\n\n\tBody ${hidden}`);
    git(root, ...people, "tag", "-a", "v1", "-m", `Tag ${hidden}`);
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
    const root = emptyRepository(place.path("sha256"), "--object-format=sha256");
    const call = at(root);
    for (const text of ["a", "b"]) commitFiles(root, text, { "a.txt": `${text}\n` });
    write(root, "a.txt", "c\n");
    const { text } = await call("git_diff_unstaged");
    const [, id] = /^@@ .* \[([0-9a-f]{7})\]$/m.exec(text) ?? [];
    await call("git_add", { hunks: [id] });
    const { data: made } = await call("git_commit", { message: "c" });
    expect(made.commit).toMatch(/^[0-9a-f]{64}$/);
    write(root, "a.txt", "d\n");
    const { recovery } = (await call("git_restore", { files: ["a.txt"] })).data;
    await call("git_restore", { files: ["a.txt"], source: recovery });
    expect(readFileSync(join(root, "a.txt"), "utf8")).toBe("d\n");
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
    expect(git(root, "ls-files")).toBe("");
  });

  it("with a submodule: the change of its commit is reported", async () => {
    const inner = sampleRepository(place.path("inner"));
    const root = emptyRepository(place.path("outer"));
    const [call, sub] = [at(root), join(root, "sub")];
    git(root, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", inner, "sub");
    git(root, "commit", "--quiet", "-m", "Submodule");
    write(sub, "new.txt", "new inside\n");
    expect((await call("git_status")).data).toMatchObject({
      clean: true,
      notes: [expect.stringContaining("pass one as repo_path: sub")],
    });
    expect((await at(sub)("git_status")).data).toMatchObject({ untracked: ["new.txt"] });
    git(sub, "checkout", "--quiet", "--force", "--detach", "v0.9");
    const { data } = await call("git_status");
    expect(data.unstaged).toEqual([{ path: "sub", status: "modified" }]);
    await call("git_commit", { message: "Older", files: ["sub"] });
    expect(git(root, "rev-parse", "HEAD:sub")).toBe(git(inner, "rev-parse", "v0.9"));
  });

  it("without repo_path, if exactly one repository is in scope", async () => {
    const root = sampleRepository(place.path("only"));
    expect((await callTool(over({}), "git_log", {})).data.commits).toHaveLength(3);
    sampleRepository(place.path("group", "second"));
    const error = await failureOf(callTool(over({}), "git_log", {}));
    expect(error.code).toBe("repository_needed");
    expect(error.message).toContain(root);
    const none = callTool(gitOver([place.home]), "git_log", {});
    expect(await codeOf(none)).toBe("not_a_repository");
  });
});
