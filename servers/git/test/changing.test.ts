import { appendFileSync, existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { callTool, commitFiles, failureOf, useSample } from "./fixture.ts";

const APP = "src/app.ts";
const sample = useSample("dirty");
const clean = () => {
  sample().git("reset", "--quiet", "--hard");
  return sample();
};
const read = (path: string) => readFileSync(`${sample().root}/${path}`, "utf8");
const staged = () => sample().git("diff", "--cached", "--name-only").trim().split("\n");
const conflict = (tool: string, args: object) =>
  sample().call(tool, { ...args, on_conflict: "keep" });

describe("staging and committing", () => {
  it("git_add stages new, changed and deleted files, by literal names", async () => {
    const { call, root, write } = sample();
    rmSync(`${root}/README.md`);
    write(":(top)star*.txt", "odd\n");
    write("star1.txt", "plain\n");
    const files = [`${root}/notes.txt`, "src", "README.md", ":(top)star*.txt"];
    const { data } = await call("git_add", { files });
    expect(data.staged).toEqual([
      { path: ":(top)star*.txt", status: "added" },
      { path: "README.md", status: "deleted" },
      { path: "notes.txt", status: "added" },
      { path: APP, status: "modified" },
      { path: "src/util.ts", status: "modified" },
    ]);
    await call("git_add", { files: [".", "src"] });
    expect(staged()).toContain("star1.txt");
  });

  it("git_add of an ignored directory stages none of its tracked files", async () => {
    const { call, git, root, write } = sample();
    const before = git("diff", "--cached");
    write(".git/info/exclude", "docs\n");
    write("docs/café.md", "cold\n");
    const { code, message } = await failureOf(call("git_add", { files: ["docs"] }));
    expect([code, message]).toEqual([
      "ignored_path",
      "Ignored by .gitignore: docs. Nothing was staged.",
    ]);
    expect(git("diff", "--cached")).toBe(before);
    git("checkout", "--quiet", "docs");
    rmSync(`${root}/.git/info/exclude`);
  });

  it("git_commit commits what is staged, or only some files, and amends", async () => {
    const { call, git, write } = sample();
    const before = git("rev-parse", "HEAD").trim();
    const { data } = await call("git_commit", { message: "Set x\n\n# kept\n" });
    const summary = "1 file changed, 1 insertion(+), 1 deletion(-)";
    const commit = git("rev-parse", "HEAD").trim();
    expect(data).toEqual({ commit, branch: "main", before, summary });
    expect(git("log", "-1", "--format=%B").trim()).toBe("Set x\n\n# kept");
    write("src/util.ts", "again\n");
    git("add", "src/util.ts");
    const author = "Ada <ada@example.org>";
    await call("git_commit", { message: "Notes", files: ["notes.txt"], author });
    expect(git("show", "--name-only", "--format=%an").trim()).toBe("Ada\n\nnotes.txt");
    expect(staged()).toEqual(["src/util.ts"]);
    await call("git_commit", { message: "Both", amend: true });
    expect(git("show", "--name-only", "--format=%s").trim()).toBe("Both\n\nnotes.txt\nsrc/util.ts");
    const nothing = failureOf(call("git_commit", { message: "Nothing" }));
    expect((await nothing).code).toBe("nothing_to_commit");
    await call("git_commit", { message: "Nothing", allow_empty: true });
    expect(git("log", "-1", "--format=%s").trim()).toBe("Nothing");
  });

  it("git_commit concludes a merge, needs an identity, and signs only for the user", async () => {
    const { call, git, write, place } = clean();
    expect(() => git("merge", "conflicting")).toThrow();
    expect((await failureOf(call("git_commit", { message: "x" }))).code).toBe("conflict");
    write(APP, "resolved\n");
    await call("git_add", { files: [APP] });
    await call("git_commit", { message: "Merged" });
    expect(git("rev-list", "--parents", "-1", "HEAD").trim().split(" ")).toHaveLength(3);
    const signer = `${place.home}/gpg.sh`;
    const script = "cat >/dev/null\necho '[GNUPG:] SIG_CREATED x' >&2\necho signature\n";
    writeFileSync(signer, `#!/bin/sh\n${script}`, { mode: 0o755 });
    git("config", "commit.gpgSign", "true");
    const empty = { message: "x", allow_empty: true };
    await call("git_commit", empty);
    expect(git("cat-file", "commit", "HEAD")).not.toContain("gpgsig");
    const own = `[commit]\n\tgpgSign = true\n[gpg]\n\tprogram = ${signer}\n[user]\n\tsigningKey = x\n`;
    appendFileSync(`${place.home}/.gitconfig`, own);
    await call("git_commit", empty);
    expect(git("cat-file", "commit", "HEAD")).toContain("gpgsig");
    writeFileSync(`${place.home}/.gitconfig`, "[user]\n\tuseConfigOnly = true\n");
    expect((await failureOf(call("git_commit", empty))).code).toBe("identity_missing");
  });

  it("git_reset unstages, and its undo works", async () => {
    const { call, git, write } = sample();
    const before = git("diff", "--cached");
    const { data } = await call("git_reset");
    expect(data.files).toEqual([{ path: "src/util.ts", status: "modified" }]);
    expect(staged()).toEqual([""]);
    const [, source] = /source ([0-9a-f]{40})/.exec(String(data.undo)) ?? [];
    await call("git_restore", { files: ["src/util.ts"], source, staged: true, worktree: false });
    expect(git("diff", "--cached")).toBe(before);
    write("other.txt", "x\n");
    git("add", "other.txt");
    await call("git_reset", { files: ["other.txt"] });
    expect(staged()).toEqual(["src/util.ts"]);
    git("checkout", "--quiet", "--force", "--orphan", "fresh");
    await call("git_reset");
    expect(git("ls-files")).toBe("");
  });

  it("git_reset moves the branch, soft or mixed, and both undos work", async () => {
    const { call, git, write } = sample();
    const head = git("rev-parse", "HEAD").trim();
    write("src/util.ts", "worktree\n");
    const before = git("diff", "--cached") + git("diff");
    const { data } = await call("git_reset", { revision: "HEAD~1" });
    const undo = /revision (\w+) and mode soft; git_restore with source (\S+)/;
    const [, revision, source] = undo.exec(String(data.undo)) ?? [];
    await call("git_reset", { revision, mode: "soft" });
    await call("git_restore", { files: ["."], source, staged: true, worktree: false });
    expect(git("diff", "--cached") + git("diff")).toBe(before);
    git("reset", "--quiet", "--hard");
    const soft = await call("git_reset", { revision: "HEAD~2", mode: "soft" });
    expect(soft.data).toMatchObject({
      count: 5,
      notes: [/^Left the branch: 2 commits/].map((text) => expect.stringMatching(text)),
    });
    expect(git("rev-parse", String(soft.data.recovery)).trim()).toBe(head);
    await call("git_commit", { message: "Squashed" });
    expect(git("diff", head)).toBe("");
    expect(git("log", "--format=%s")).toBe("Squashed\nFirst commit\n");
  });
});

describe("branches, tags, worktrees, remotes and repositories", () => {
  it("are created at HEAD or elsewhere, without switching", async () => {
    const { call, git, place } = clean();
    git("checkout", "--quiet", "--detach", "v0.9");
    await call("git_create_branch", { branch_name: "topic/a" });
    await call("git_create_branch", { branch_name: "older", base_branch: "main~2" });
    await call("git_create_tag", { tag_name: "v2", message: "Two\n\nMore.", revision: "main" });
    await call("git_create_tag", { tag_name: "old", revision: "v0.9" });
    const refs = ["topic/a", "older", "v2^{commit}", "old", "HEAD"];
    const same = ["v0.9", "main~2", "main", "v0.9", "v0.9"];
    expect(git("rev-parse", ...refs)).toBe(git("rev-parse", ...same));
    expect(git("tag", "-l", "--format=%(contents)", "v2").trim()).toBe("Two\n\nMore.");
    const twin = { path: place.path("twin"), branch_name: "feature" };
    expect((await call("git_worktree_add", twin)).data.created_branch).toBe(false);
    const made = { path: place.path("two"), branch_name: "other", revision: "v0.9" };
    expect((await call("git_worktree_add", made)).data.created_branch).toBe(true);
    expect((await call("git_status", { repo_path: made.path })).data).toMatchObject({
      ...{ branch: "other", clean: true },
    });
    const init = { path: place.path("a", "b"), initial_branch: "trunk" };
    const { data } = await callTool(sample().over, "git_init", init);
    expect(data).toEqual({ repository: init.path, branch: "trunk" });
    expect(existsSync(`${init.path}/.git/hooks`)).toBe(false);
    const url = (user: string, host = "git.example.org") => `https://${user}${host}/a.git`;
    await call("git_set_remote", { remote: "up", url: url("ada:secret@") });
    const changed = await call("git_set_remote", { remote: "up", url: "git@h.org:b.git" });
    expect(changed.data).toEqual({ remote: "up", url: "git@h.org:b.git", before: url("") });
    expect(git("remote", "get-url", "up").trim()).toBe("git@h.org:b.git");
  });

  it("git_checkout switches, tracks a remote's branch, detaches, and creates a branch", async () => {
    const { call, git } = clean();
    git("config", "remote.origin.fetch", "+refs/heads/*:refs/remotes/origin/*");
    git("update-ref", "refs/remotes/origin/theirs", "feature");
    for (const [args, data] of [
      [{ branch_name: "feature" }, { branch: "feature", before: { branch: "main" } }],
      [{ branch_name: "theirs" }, { branch: "theirs", tracks: "origin/theirs" }],
      [{ branch_name: "v0.9" }, { commit: git("rev-parse", "v0.9").trim() }],
      [{ branch_name: "fix/x", create: true, base_branch: "main" }, { branch: "fix/x" }],
    ] as const)
      expect((await call("git_checkout", args)).data).toMatchObject(data);
    expect(git("rev-parse", "HEAD")).toBe(git("rev-parse", "main"));
    expect(git("rev-parse", "--abbrev-ref", "theirs@{upstream}").trim()).toBe("origin/theirs");
  });
});

describe("git_stash and git_stash_apply", () => {
  it("put changes aside, also some files, new ones, or all but the staged ones", async () => {
    const { call, git } = sample();
    const index = git("ls-files", "--stage");
    await call("git_stash", { keep_index: true });
    expect(git("ls-files", "--stage")).toBe(index);
    expect(git("status", "--porcelain", "--untracked-files=no")).toBe("M  src/util.ts\n");
    await call("git_stash_apply", { drop: true });
    await call("git_stash", { files: [APP] });
    expect(git("diff", "--name-only")).toBe("");
    const { data } = await call("git_stash", { message: "for later", include_untracked: true });
    expect(data.commit).toBe(git("rev-parse", "stash@{0}").trim());
    expect(git("stash", "list")).toContain("On main: for later");
    expect(git("status", "--porcelain")).toBe("");
    expect((await failureOf(call("git_stash"))).code).toBe("nothing_to_stash");
    // In the same second they would be one commit.
    for (const count of [1, 2]) {
      sample().write(APP, "equal\n");
      await call("git_stash", { message: "equal" });
      expect(git("stash", "list").match(/equal/g)).toHaveLength(count);
    }
  });

  it("apply one and drop it after keeping it, unless there are conflicts", async () => {
    const { call, git, write } = clean();
    const oid = git("rev-parse", "stash@{0}").trim();
    const { data } = await call("git_stash_apply", { drop: true });
    expect(data).toMatchObject({
      files: [{ path: "README.md", status: "modified" }],
      recovery: oid,
    });
    expect(git("stash", "list")).toBe("");
    git("checkout", "--quiet", "HEAD", "--", ".");
    await call("git_stash_apply", { stash: oid });
    await call("git_stash");
    write("README.md", "# Another\n\ntext\n");
    git("commit", "--quiet", "--all", "-m", "Another");
    const failed = (await call("git_stash_apply", { drop: true })).data;
    expect(failed).toMatchObject({ conflicted: ["README.md"] });
    expect(git("stash", "list")).not.toBe("");
  });
});

describe("git_restore", () => {
  it("restores files from the index or a commit, and keeps what it overwrites", async () => {
    const { call, git, write, root } = sample();
    const mine = read(APP);
    const { data } = await call("git_restore", { files: [APP] });
    expect(read(APP)).not.toBe(mine);
    await call("git_restore", { files: [APP], source: data.recovery });
    expect(read(APP)).toBe(mine);
    await call("git_restore", { files: ["src"], source: "v0.9", staged: true });
    expect(git("diff", "v0.9", "--", "src")).toBe("");
    await call("git_restore", { files: ["src"], staged: true, worktree: false });
    expect(git("diff", "--cached", "--", "src")).toBe("");
    rmSync(`${root}/README.md`);
    await call("git_restore", { files: ["README.md"] });
    expect(read("README.md")).toBe("# Sample\n");
    write("src/feature.ts", "untracked\n");
    const again = await call("git_restore", { files: ["src/feature.ts"], source: "feature" });
    expect(again.data).toMatchObject({ files: [{ path: "src/feature.ts" }], count: 1 });
    await call("git_restore", { files: ["src/feature.ts"], source: again.data.recovery });
    expect(read("src/feature.ts")).toBe("untracked\n");
    const { entries } = (await call("git_reflog", { ref: "recovery" })).data;
    expect((entries as { subject: string }[]).map(({ subject }) => subject)).toContain(
      "before restore",
    );
    const kept = git("for-each-ref", "--format=%(refname)", "refs/refmcp").trim();
    expect(kept).toBe("refs/refmcp/recovery");
  });
});

describe("merging, picking and reverting", () => {
  it("merge, pick and revert, and report the changes", async () => {
    const { call, git } = clean();
    const [before, after] = git("rev-parse", "main", "feature").split("\n");
    const { data } = await call("git_merge", { revision: "feature" });
    const files = [
      { path: APP, status: "modified" },
      { path: "src/feature.ts", status: "added" },
    ];
    expect(data).toMatchObject({ before, files });
    expect(git("log", "-1", "--format=%s").trim()).toBe("Merge feature");
    const merge = git("rev-parse", "HEAD").trim();
    git("checkout", "--quiet", "-b", "behind", "v0.9");
    const only = await call("git_merge", { revision: "feature", fast_forward: "only" });
    expect(only.data).toMatchObject({ fast_forward: true, after });
    expect((await call("git_merge", { revision: "feature" })).data.up_to_date).toBe(true);
    const diverged = call("git_merge", { revision: "v1.0", fast_forward: "only" });
    expect((await failureOf(diverged)).code).toBe("not_fast_forward");
    git("reset", "--quiet", "--hard", "v0.9");
    await call("git_merge", { revision: "feature", fast_forward: "never", message: "Bring it in" });
    expect(git("log", "-1", "--format=%s %p").trim()).toMatch(/^Bring it in \w+ \w+$/);
    git("checkout", "--quiet", "-B", "work", "v1.0");
    await call("git_cherry_pick", { commits: ["feature"] });
    expect(git("log", "-1", "--format=%s").trim()).toBe("Feature work");
    for (const [commit, code] of [
      ["feature", "nothing_to_commit"],
      [merge, "mainline_needed"],
    ] as const)
      expect((await failureOf(call("git_cherry_pick", { commits: [commit] }))).code).toBe(code);
    await call("git_revert", { commit: "HEAD~1" });
    expect(git("diff", "v0.9", "HEAD", "--", "src/util.ts")).toBe("");
    expect(git("log", "-1", "--format=%s").trim()).toBe('Revert "Our line"');
  });

  it.each([
    ["git_merge", { revision: "conflicting" }, "merge"],
    ["git_cherry_pick", { commits: ["conflicting"] }, "cherry-pick"],
    ["git_revert", { commit: "HEAD~1" }, "revert"],
    ["git_rebase", { onto: "conflicting" }, "rebase"],
  ] as const)(
    "%s with conflicts changes nothing, or stays open to continue or abort",
    async (tool, args, operation) => {
      const { call, git, write, root } = clean();
      if (tool === "git_revert") commitFiles(root, "All new", { [APP]: "all new\n" });
      const head = git("rev-parse", "HEAD").trim();
      if (tool === "git_rebase") {
        expect((await call(tool, args)).data.conflicted).toEqual([APP]);
      } else {
        const failed = await failureOf(call(tool, args));
        expect(failed).toMatchObject({ code: "conflict", message: expect.stringContaining(APP) });
      }
      expect([git("rev-parse", "HEAD").trim(), git("status", "--porcelain", "-uno")]).toEqual([
        head,
        "",
      ]);
      const { data } = await conflict(tool, args);
      expect(data).toMatchObject({
        conflicted: [APP],
        diff: expect.stringContaining("++<<<<<<< "),
      });
      const { data: status } = await call("git_status");
      expect(status).toMatchObject({
        operation,
        conflicted: [{ path: APP, status: "both modified" }],
      });
      for (const [other, more] of [
        ["git_stash", {}],
        ["git_merge", { revision: "feature" }],
        ["git_reset", {}],
        ["git_checkout", { branch_name: "feature" }],
      ] as const)
        expect((await failureOf(call(other, more))).code, other).toMatch(/operation_in_p|local_ch/);
      expect((await failureOf(call(tool, { action: "continue" }))).code).toBe("conflict");
      const wrong = tool === "git_merge" ? "git_revert" : "git_merge";
      expect((await failureOf(call(wrong, { action: "abort" }))).code).toBe("no_operation");
      write(APP, "half resolved\n");
      const aborted = await call(tool, { action: "abort" });
      expect(git("rev-parse", "HEAD").trim()).toBe(head);
      const [, source = ""] = /source (\w+)\.?$/.exec(String(aborted.data.notes)) ?? [];
      expect(git("show", `${source}:${APP}`)).toBe("half resolved\n");
      await conflict(tool, args);
      write(APP, "resolved\n");
      await call("git_add", { files: [APP] });
      const done = await call(tool, { action: "continue" });
      expect(done.data.after).toBe(git("rev-parse", "HEAD").trim());
      expect(git("show", `HEAD:${APP}`)).toBe("resolved\n");
      expect(git("branch", "--show-current").trim()).toBe("main");
    },
  );
});
