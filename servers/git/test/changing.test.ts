import { appendFileSync, existsSync, rmSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { at, failureOf, useSample } from "./fixture.ts";
import { executable } from "./traps.ts";

const APP = "src/app.ts";
const sample = useSample("dirty");
const clean = () => {
  sample().git("reset", "--quiet", "--hard");
  return sample();
};
const staged = () => sample().git("diff", "--cached", "--name-only").trim().split("\n");
const subject = (format = "%s") => sample().git("log", "-1", `--format=${format}`).trim();

describe("staging and committing", () => {
  it("git_add stages new, changed and deleted files, by literal names, and none of an ignored directory", async () => {
    const { call, code, git, root, write } = sample();
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
    const before = git("diff", "--cached");
    write(".git/info/exclude", "docs\n");
    write("docs/café.md", "cold\n");
    expect(await code("git_add", { files: ["docs"] })).toBe("ignored_path");
    expect(git("diff", "--cached")).toBe(before);
  });

  it("git_commit commits what is staged, or only some files, and amends", async () => {
    const { call, code, git } = sample();
    const { data } = await call("git_commit", { message: "Notes", files: ["notes.txt"] });
    expect(data).toMatchObject({ branch: "main", summary: "1 file changed, 1 insertion(+)" });
    expect(git("show", "--name-only", "--format=").trim()).toBe("notes.txt");
    expect(staged()).toEqual(["src/util.ts"]);
    await call("git_commit", { message: "Both", amend: true });
    expect(git("show", "--name-only", "--format=%s").trim()).toBe("Both\n\nnotes.txt\nsrc/util.ts");
    expect(await code("git_commit", { message: "Nothing" })).toBe("nothing_to_commit");
    await call("git_commit", { message: "Nothing", allow_empty: true });
    expect(subject()).toBe("Nothing");
  });

  it("git_commit concludes a merge, needs an identity, and signs only for the user", async () => {
    const { call, code, git, write, place } = clean();
    expect(() => git("merge", "conflicting")).toThrow();
    expect(await code("git_commit", { message: "x" })).toBe("conflict");
    write(APP, "resolved\n");
    await call("git_add", { files: [APP] });
    await call("git_commit", { message: "Merged" });
    expect(subject("%p").split(" ")).toHaveLength(2);
    const script = "cat >/dev/null\necho '[GNUPG:] SIG_CREATED x' >&2\necho signature";
    const signer = executable(`${place.home}/gpg.sh`, script);
    git("config", "commit.gpgSign", "true");
    const empty = { message: "x", allow_empty: true };
    await call("git_commit", empty);
    expect(git("cat-file", "commit", "HEAD")).not.toContain("gpgsig");
    const own = `[commit]\n\tgpgSign = true\n[gpg]\n\tprogram = ${signer}\n[user]\n\tsigningKey = x\n`;
    appendFileSync(`${place.home}/.gitconfig`, own);
    await call("git_commit", empty);
    expect(git("cat-file", "commit", "HEAD")).toContain("gpgsig");
    at(place.home).write(".gitconfig", "[user]\n\tuseConfigOnly = true\n");
    expect(await code("git_commit", empty)).toBe("identity_missing");
  });

  it("git_reset unstages or moves the branch, soft or mixed, and its undo works", async () => {
    const { call, git, id, write } = sample();
    const [head, index] = [id("HEAD"), git("diff", "--cached")];
    const unstage = { staged: true, worktree: false };
    const { data } = await call("git_reset");
    expect(data.files).toEqual([{ path: "src/util.ts", status: "modified" }]);
    expect(staged()).toEqual([""]);
    const [, tree] = /source ([0-9a-f]{40})/.exec(String(data.undo)) ?? [];
    await call("git_restore", { files: ["src/util.ts"], source: tree, ...unstage });
    expect(git("diff", "--cached")).toBe(index);
    write("other.txt", "x\n");
    git("add", "other.txt");
    await call("git_reset", { files: ["other.txt"] });
    expect(staged()).toEqual(["src/util.ts"]);
    write("src/util.ts", "worktree\n");
    const before = git("diff", "--cached") + git("diff");
    const mixed = await call("git_reset", { revision: "HEAD~1" });
    const undo = /revision (\w+) and mode soft; git_restore with source (\S+)/;
    const [, revision, source] = undo.exec(String(mixed.data.undo)) ?? [];
    await call("git_reset", { revision, mode: "soft" });
    await call("git_restore", { files: ["."], source, ...unstage });
    expect(git("diff", "--cached") + git("diff")).toBe(before);
    git("reset", "--quiet", "--hard");
    const soft = await call("git_reset", { revision: "HEAD~2", mode: "soft" });
    const notes = [expect.stringMatching(/^Left the branch: 2 commits/)];
    expect(soft.data).toMatchObject({ count: 5, notes });
    expect(id(String(soft.data.recovery))).toBe(head);
    await call("git_commit", { message: "Squashed" });
    expect(git("diff", head)).toBe("");
    expect(git("log", "--format=%s")).toBe("Squashed\nFirst commit\n");
    git("checkout", "--quiet", "--force", "--orphan", "fresh");
    await call("git_reset");
    expect(git("ls-files")).toBe("");
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
    const { data: status } = await call("git_status", { repo_path: made.path });
    expect(status).toMatchObject({ branch: "other", clean: true });
    const init = { path: place.path("a", "b"), initial_branch: "trunk" };
    const { data } = await call("git_init", init);
    expect(data).toEqual({ repository: init.path, branch: "trunk" });
    expect(existsSync(`${init.path}/.git/hooks`)).toBe(false);
    const url = (user: string) => `https://${user}git.example.org/a.git`;
    await call("git_set_remote", { remote: "up", url: url("ada:secret@") });
    const changed = await call("git_set_remote", { remote: "up", url: "git@h.org:b.git" });
    expect(changed.data).toEqual({ remote: "up", url: "git@h.org:b.git", before: url("") });
    expect(git("remote", "get-url", "up").trim()).toBe("git@h.org:b.git");
  });

  it("git_worktree_add refuses a new worktree whose own configuration includes another file", async () => {
    const { call, code, git, place, root, write } = clean();
    const twin = place.path("twin");
    const evil = executable(place.path("evil.sh"), `touch "${place.path("ran")}"; cat`);
    write("../included", `[filter "piped"]\n\tsmudge = ${evil}\n`);
    git("config", "extensions.worktreeConfig", "true");
    // git writes the new worktree's config.worktree from the repository's.
    write(".git/config.worktree", `[include]\n\tpath = ${place.path("included")}\n`);
    const add = { path: twin, branch_name: "feature" };
    expect(await code("git_worktree_add", add)).toBe("unsafe_config");
    expect([existsSync(twin), existsSync(`${root}/.git/worktrees/twin`)]).toEqual([false, false]);
    rmSync(`${root}/.git/config.worktree`);
    await call("git_worktree_add", add);
    write(".git/worktrees/twin/config.worktree", `[include]\n\tpath = ${place.path("included")}\n`);
    expect(await at(twin).code("git_checkout", { branch_name: "v0.9" })).toBe("unsafe_config");
    expect(existsSync(place.path("ran"))).toBe(false);
  });

  it("git_checkout switches, tracks a remote's branch, detaches, and creates a branch", async () => {
    const { call, git, id } = clean();
    git("config", "remote.origin.fetch", "+refs/heads/*:refs/remotes/origin/*");
    git("update-ref", "refs/remotes/origin/theirs", "feature");
    for (const [args, data] of [
      [{ branch_name: "feature" }, { branch: "feature", before: { branch: "main" } }],
      [{ branch_name: "theirs" }, { branch: "theirs", tracks: "origin/theirs" }],
      [{ branch_name: "v0.9" }, { commit: id("v0.9") }],
      [{ branch_name: "main~1" }, { commit: id("main~1") }],
      [
        { branch_name: "by-text", create: true, base_branch: ":/Feature" },
        { commit: id("feature") },
      ],
      [{ branch_name: "fix/x", create: true, base_branch: "main" }, { branch: "fix/x" }],
    ] as const)
      expect((await call("git_checkout", args)).data).toMatchObject(data);
    expect(id("HEAD")).toBe(id("main"));
    expect(git("rev-parse", "--abbrev-ref", "theirs@{upstream}").trim()).toBe("origin/theirs");
  });
});

describe("git_stash and git_stash_apply", () => {
  it("put changes aside, also some files, new ones, or all but the staged ones", async () => {
    const { call, code, git, id, write } = sample();
    const index = git("ls-files", "--stage");
    await call("git_stash", { keep_index: true });
    expect(git("ls-files", "--stage")).toBe(index);
    expect(git("status", "--porcelain", "--untracked-files=no")).toBe("M  src/util.ts\n");
    await call("git_stash_apply", { drop: true });
    await call("git_stash", { files: [APP] });
    expect(git("diff", "--name-only")).toBe("");
    const { data } = await call("git_stash", { message: "for later", include_untracked: true });
    expect(data.commit).toBe(id("stash@{0}"));
    expect(git("stash", "list")).toContain("On main: for later");
    expect(git("status", "--porcelain")).toBe("");
    expect(await code("git_stash")).toBe("nothing_to_stash");
    // In the same second they would be one commit.
    for (const count of [1, 2]) {
      write(APP, "equal\n");
      await call("git_stash", { message: "equal" });
      expect(git("stash", "list").match(/equal/g)).toHaveLength(count);
    }
  });

  it("apply one and drop it after keeping it, unless there are conflicts", async () => {
    const { call, code, commit, git, id } = clean();
    const oid = id("stash@{0}");
    for (const stash of [
      "HEAD..stash@{0}",
      "stash@{0}:README.md",
      "stash@{0}^{tree}",
      "stash@{0} HEAD",
    ])
      expect(await code("git_stash_apply", { stash }), stash).toBe("bad_revision");
    const { data } = await call("git_stash_apply", { drop: true });
    const files = [{ path: "README.md", status: "modified" }];
    expect(data).toMatchObject({ files, recovery: oid });
    expect(git("stash", "list")).toBe("");
    git("checkout", "--quiet", "HEAD", "--", ".");
    await call("git_stash_apply", { stash: oid });
    git("add", "README.md");
    git("mv", "src/util.ts", "moved.ts");
    const { data: put } = await call("git_stash");
    expect(put.files).toContainEqual({ path: "moved.ts", status: "renamed", from: "src/util.ts" });
    commit("Another", { "README.md": "# Another\n\ntext\n" });
    const hint = "Call again with index: false.";
    const refused = await failureOf(call("git_stash_apply", { index: true }));
    expect(refused).toMatchObject({ code: "index_conflict", hint });
    const { data: failed } = await call("git_stash_apply", { drop: true });
    expect(failed).toMatchObject({ conflicted: ["README.md"] });
    expect(git("stash", "list")).not.toBe("");
  });
});

describe("git_restore", () => {
  it("restores files from the index or a commit, and keeps what it overwrites", async () => {
    const { call, git, read, write, root } = sample();
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
    const files = ["src/feature.ts"];
    write("src/feature.ts", "untracked\n");
    const again = await call("git_restore", { files, source: "feature" });
    expect(again.data).toMatchObject({ files: [{ path: "src/feature.ts" }], count: 1 });
    await call("git_restore", { files, source: again.data.recovery });
    expect(read("src/feature.ts")).toBe("untracked\n");
    const { text } = await call("git_reflog", { ref: "recovery" });
    expect(text).toContain('"subject":"before restore"');
    const kept = git("for-each-ref", "--format=%(refname)", "refs/refmcp").trim();
    expect(kept).toBe("refs/refmcp/recovery");
  });
});

describe("merging, picking and reverting", () => {
  it("merge, pick and revert, and report the changes", async () => {
    const { call, code, git, id } = clean();
    const before = id("main");
    const { data } = await call("git_merge", { revision: "feature" });
    const files = [
      { path: APP, status: "modified" },
      { path: "src/feature.ts", status: "added" },
    ];
    expect(data).toMatchObject({ before, files });
    expect(subject()).toBe("Merge feature");
    const merge = id("HEAD");
    git("checkout", "--quiet", "-b", "behind", "v0.9");
    const only = await call("git_merge", { revision: "feature", fast_forward: "only" });
    expect(only.data).toMatchObject({ fast_forward: true, after: id("feature") });
    expect((await call("git_merge", { revision: "feature" })).data.up_to_date).toBe(true);
    const diverged = { revision: "v1.0", fast_forward: "only" };
    expect(await code("git_merge", diverged)).toBe("not_fast_forward");
    git("reset", "--quiet", "--hard", "v0.9");
    await call("git_merge", { revision: "feature", fast_forward: "never", message: "Bring it in" });
    expect(subject("%s %p")).toMatch(/^Bring it in \w+ \w+$/);
    git("checkout", "--quiet", "-B", "work", "v1.0");
    await call("git_cherry_pick", { commits: ["feature"] });
    expect(subject()).toBe("Feature work");
    expect(await code("git_cherry_pick", { commits: ["feature"] })).toBe("nothing_to_commit");
    expect(await code("git_cherry_pick", { commits: [merge] })).toBe("mainline_needed");
    await call("git_revert", { commit: "HEAD~1" });
    expect(git("diff", "v0.9", "HEAD", "--", "src/util.ts")).toBe("");
    expect(subject()).toBe('Revert "Our line"');
  });

  it.each([
    ["git_merge", { revision: "conflicting" }, "merge"],
    ["git_cherry_pick", { commits: ["conflicting"] }, "cherry-pick"],
    ["git_revert", { commit: "HEAD~1" }, "revert"],
    ["git_rebase", { onto: "conflicting" }, "rebase"],
  ])(
    "%s with conflicts changes nothing, or stays open to continue or abort",
    async (tool, args, operation) => {
      const { call, code, commit, git, id, write } = clean();
      if (tool === "git_revert") commit("All new", { [APP]: "all new\n" });
      const head = id("HEAD");
      const { conflicted = [], message } = await call(tool, args).then(
        ({ data }) => data as { conflicted?: string[]; message?: string },
        (error) => error,
      );
      expect(`${conflicted} ${message}`).toContain(APP);
      expect([id("HEAD"), git("status", "--porcelain", "-uno")]).toEqual([head, ""]);
      const { data } = await call(tool, { ...args, on_conflict: "keep" });
      const diff = expect.stringContaining("++<<<<<<< ");
      expect(data).toMatchObject({ conflicted: [APP], diff });
      const { data: status } = await call("git_status");
      const both = [{ path: APP, status: "both modified" }];
      expect(status).toMatchObject({ operation, conflicted: both });
      for (const [other, more] of [
        ["git_stash", {}],
        ["git_merge", { revision: "feature" }],
        ["git_reset", {}],
        ["git_checkout", { branch_name: "feature" }],
      ] as const)
        expect(await code(other, more), other).toMatch(/operation_in_progress|local_changes/);
      expect(await code(tool, { action: "continue" })).toBe("conflict");
      const wrong = tool === "git_merge" ? "git_revert" : "git_merge";
      expect(await code(wrong, { action: "abort" })).toBe("no_operation");
      write(APP, "half resolved\n");
      const aborted = await call(tool, { action: "abort" });
      expect(id("HEAD")).toBe(head);
      const [, source = ""] = /source (\w+)\.?$/.exec(String(aborted.data.notes)) ?? [];
      expect(git("show", `${source}:${APP}`)).toBe("half resolved\n");
      await call(tool, { ...args, on_conflict: "keep" });
      write(APP, "resolved\n");
      await call("git_add", { files: [APP] });
      const done = await call(tool, { action: "continue" });
      expect(done.data.after).toBe(id("HEAD"));
      expect(git("show", `HEAD:${APP}`)).toBe("resolved\n");
      expect(git("branch", "--show-current").trim()).toBe("main");
    },
  );
});
