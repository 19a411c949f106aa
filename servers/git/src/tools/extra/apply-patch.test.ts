import { existsSync, lstatSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import {
  callTool,
  codeOf,
  emptyRepository,
  failureOf,
  git,
  gitOver,
  useSample,
  write,
} from "../../../test/fixture.ts";
import { executable } from "../../../test/traps.ts";

const sample = useSample("clean");

/** The diff of a new file. */
const created = (path: string, line = "evil", mode = "100644"): string =>
  `diff --git a/${path} b/${path}\nnew file mode ${mode}\n--- /dev/null\n+++ b/${path}\n@@ -0,0 +1 @@\n+${line}\n`;
const link = (path: string, target: string) =>
  `${created(path, target, "120000")}\\ No newline at end of file\n`;

describe("git_apply_patch", () => {
  it("applies to the files or to the index only, and back", async () => {
    const { call, git, write, root } = sample();
    write("README.md", "# Changed\n");
    const patch = git("diff");
    git("checkout", "--quiet", "README.md");
    const dry = await call("git_apply_patch", { patch, dry_run: true });
    expect(dry.data).toMatchObject({ applied: false, count: 1 });
    expect(git("status", "--porcelain")).toBe("");
    expect((await call("git_apply_patch", { patch })).data.applied).toBe(true);
    expect(readFileSync(join(root, "README.md"), "utf8")).toBe("# Changed\n");
    expect(git("status", "--porcelain")).toBe(" M README.md\n");
    await call("git_apply_patch", { patch, reverse: true });
    expect(git("status", "--porcelain")).toBe("");
    await call("git_apply_patch", { patch, as: "index" });
    expect(git("diff", "--cached")).toBe(patch);
    expect(git("status", "--porcelain")).toBe("MM README.md\n");
  });

  it("applies all of a patch or nothing", async () => {
    const { call, git } = sample();
    const stale =
      "diff --git a/README.md b/README.md\n--- a/README.md\n+++ b/README.md\n@@ -1 +1 @@\n-other\n+x\n";
    for (const as of ["worktree", "index"] as const) {
      const error = await failureOf(call("git_apply_patch", { patch: created("new.txt") + stale, as }));
      expect(error.code).toBe("patch_failed");
      expect(error.message).toContain("README.md");
    }
    expect((await failureOf(call("git_apply_patch", { patch: "hello" }))).code).toBe("bad_patch");
    expect((await failureOf(call("git_apply_patch", { patch: created("x"), as: "commits" }))).code).toBe(
      "bad_patch",
    );
    expect(git("status", "--porcelain")).toBe("");
  });

  it("merges three-way, and returns conflicts as data or keeps them", async () => {
    const { call, git, write, root } = sample();
    write("README.md", "# Theirs\n");
    const patch = git("diff", "--full-index");
    git("add", "README.md");
    git("checkout", "--quiet", "HEAD", "--", "README.md");
    write("README.md", "# Ours\n");
    git("commit", "--quiet", "-a", "-m", "Ours");
    for (const as of ["worktree", "index"] as const) {
      const { data } = await call("git_apply_patch", { patch, as });
      expect(data.applied).toBe(false);
      expect(data.conflicts).toMatchObject([
        { path: "README.md", hunks: [{ ours: "# Ours\n", theirs: "# Theirs\n" }] },
      ]);
    }
    expect(git("status", "--porcelain")).toBe("");
    const { data } = await call("git_apply_patch", { patch, on_conflict: "keep" });
    expect(data.applied).toBe(true);
    expect(data.conflicts).toHaveLength(1);
    expect(git("status", "--porcelain")).toBe("UU README.md\n");
    expect(readFileSync(join(root, "README.md"), "utf8")).toContain("<<<<<<<");
  });

  it.each([
    ["above the root", created("../out.txt")],
    ["absolute", created("/tmp/refmcp-evil.txt")],
    ["in .git", created(".git/hooks/pre-commit", "evil", "100755")],
    ["in .GIT", created(".GIT/config")],
    ["in git~1", created("git~1/config")],
    ["in .git with an ignored code point", created(".g\u200cit/config")],
    ["deeper in .git", created("src/.git/config")],
    ["through a link of the same patch", link("way", "..") + created("way/out.txt")],
    ["through an existing link", created("there/out.txt")],
    ["in a nested repository", created("nested/evil.txt")],
    [
      "out of a nested repository",
      "diff --git a/nested/a.txt b/b.txt\nsimilarity index 100%\nrename from nested/a.txt\nrename to b.txt\n",
    ],
  ])("writes nothing %s", async (_, patch) => {
    const { call, git, root } = sample();
    symlinkSync("..", join(root, "there"));
    emptyRepository(join(root, "nested"));
    write(join(root, "nested"), "a.txt", "a\n");
    git("-c", "core.safecrlf=false", "add", "there", "nested/a.txt");
    git("config", "core.protectNTFS", "false");
    const before = git("status", "--porcelain", "--ignored");
    for (const as of ["worktree", "index"] as const)
      expect(["bad_patch", "bad_path", "patch_failed"]).toContain(
        await codeOf(call("git_apply_patch", { patch, as })),
      );
    expect(git("status", "--porcelain", "--ignored")).toBe(before);
    expect(existsSync(join(root, "..", "out.txt"))).toBe(false);
    expect(existsSync(join(root, "nested", "evil.txt"))).toBe(false);
  });

  it("creates a link itself", async () => {
    const { call, root } = sample();
    await call("git_apply_patch", { patch: link("way", "README.md") });
    expect(lstatSync(join(root, "way")).isSymbolicLink()).toBe(true);
  });
});

describe("a mailbox", () => {
  /** Commits with a rename, a binary file, CRLF, an author outside ASCII and a hostile message; and a clone without them. */
  function prepared() {
    const { call, git: run, write, root } = sample();
    write("data.bin", Buffer.from([0, 1, 2, 255, 254, 0, 10]).toString("latin1"));
    writeFileSync(join(root, "data.bin"), Buffer.from([0, 1, 2, 255, 254, 0, 10, 13]));
    write("dos.txt", "a\r\nb\r\n");
    run("mv", "README.md", "READ ME ü.md");
    run("add", "-A");
    run(
      "commit",
      "--quiet",
      "--author=Žofie Ångström <z@example.org>",
      "--date=2001-02-03T04:05:06+0700",
      "-m",
      "Příliš žluťoučký\n\nFrom here on\n[x] kept",
    );
    write("dos.txt", "a\r\nc\r\n");
    run("commit", "--quiet", "-am", "[tag] second");
    const other = join(root, "other");
    git(root, "clone", "--quiet", "--template=", ".", "other");
    git(other, "config", "user.name", "Other");
    git(other, "config", "user.email", "other@example.org");
    git(other, "reset", "--quiet", "--hard", "HEAD~2");
    const at = (args: object) =>
      callTool(gitOver([root], { mayAsk: false }), "git_apply_patch", {
        repo_path: other,
        as: "commits",
        ...args,
      });
    return { call, run, other, at, root };
  }
  const LOG = ["log", "-2", "--format=%T%n%an <%ae>%n%ad%n%B"];

  it("of git_show is applied elsewhere as the same commits", async () => {
    const { call, run, other, at } = prepared();
    const { text } = await call("git_show", { revision: "HEAD~2..HEAD", format: "mail" });
    const patch = text.slice(0, text.lastIndexOf("\n(2 mails"));
    const { data } = await at({ patch });
    expect(data).toMatchObject({ applied: true, count: 3 });
    expect(data.commits).toHaveLength(2);
    const trees = (log: string) => log.replaceAll("[tag] ", "");
    expect(trees(git(other, ...LOG))).toBe(trees(run(...LOG)));
    expect(git(other, "status", "--porcelain")).toBe("");
  });

  it("that fails in the middle changes nothing, and shows the conflict", async () => {
    const { run, other, at, root } = prepared();
    write(root, "third.txt", "third\n");
    run("add", "third.txt");
    run("commit", "--quiet", "-m", "Third");
    const mail = (revision: string) => run("format-patch", "--stdout", "--full-index", "-1", revision);
    const patch = mail("HEAD") + mail("HEAD~1");
    git(other, "checkout", "--quiet", "-b", "diverged");
    write(other, "dos.txt", "other\n");
    git(other, "add", "dos.txt");
    git(other, "commit", "--quiet", "-m", "Other");
    const head = git(other, "rev-parse", "HEAD");
    write(other, "src/app.ts", "dirty\n");
    write(other, "untracked.txt", "kept\n");
    const before = git(other, "status", "--porcelain");
    const { data } = await at({ patch });
    expect(data.applied).toBe(false);
    expect(JSON.stringify(data.conflicts)).toContain("dos.txt");
    expect(data.applying).toBe("second (2 of 2)");
    expect([git(other, "rev-parse", "HEAD"), git(other, "status", "--porcelain")]).toEqual([head, before]);
    expect(existsSync(join(other, ".git", "rebase-apply"))).toBe(false);
    git(other, "add", "src/app.ts");
    expect(await codeOf(at({ patch }))).toBe("local_changes");
  });

  it("runs no hook unless asked, and refuses without those that check", async () => {
    const { run, other, at, root } = prepared();
    const patch = run("format-patch", "--stdout", "--binary", "--full-index", "-1");
    const log = join(root, "ran");
    mkdirSync(join(other, ".git", "hooks"), { recursive: true });
    for (const name of ["applypatch-msg", "pre-applypatch", "post-applypatch"])
      executable(join(other, ".git", "hooks", name), `echo ${name} >> ${log}`);
    git(other, "reset", "--quiet", "--hard", "origin/HEAD~1");
    expect(await codeOf(at({ patch }))).toBe("hook_needed");
    const { data } = await at({ patch, skip_hooks: true });
    expect(data.applied).toBe(true);
    expect(existsSync(log)).toBe(false);
    git(other, "reset", "--quiet", "--hard", "HEAD~1");
    const over = gitOver([root], { hooks: "run" });
    await callTool(over, "git_apply_patch", { repo_path: other, as: "commits", patch });
    expect(readFileSync(log, "utf8")).toBe("applypatch-msg\npre-applypatch\npost-applypatch\n");
    executable(join(other, ".git", "hooks", "pre-applypatch"), "echo no; exit 1");
    git(other, "reset", "--quiet", "--hard", "HEAD~1");
    const rejected = callTool(over, "git_apply_patch", { repo_path: other, as: "commits", patch });
    expect(await codeOf(rejected)).toBe("hook_failed");
    expect(git(other, "status", "--porcelain")).toBe("");
  });
});
