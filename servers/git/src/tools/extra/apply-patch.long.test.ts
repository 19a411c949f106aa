import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fakeCall } from "@refmcp/testing";
import { describe, expect, it } from "vitest";
import { callTool, codeOf, git, gitOver, useSample, write } from "../../../test/fixture.ts";
import { executable } from "../../../test/traps.ts";

const sample = useSample("clean");

/** The diff of a new file. */
const created = (path: string, line = "evil", mode = "100644"): string =>
  `diff --git a/${path} b/${path}\nnew file mode ${mode}\n--- /dev/null\n+++ b/${path}\n@@ -0,0 +1 @@\n+${line}\n`;

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

  /** A mail as other programs send it. */
  function encoded(mail: string, how: "base64" | "quoted-printable"): string {
    const [head = "", ...rest] = mail.split("\n\n");
    const body = Buffer.from(rest.join("\n\n"));
    const hex = (byte: number) => `=${byte.toString(16).toUpperCase().padStart(2, "0")}`;
    const text =
      how === "base64"
        ? body.toString("base64").replaceAll(/.{76}/g, "$&\n")
        : [...body]
            .map((byte) =>
              byte === 10
                ? "\n"
                : byte < 32 || byte > 126 || byte === 61
                  ? hex(byte)
                  : String.fromCharCode(byte),
            )
            .join("");
    const plain = head.replace(/\n(MIME-Version|Content-).*/g, "");
    return `${plain}\nMIME-Version: 1.0\nContent-Type: text/plain; charset=UTF-8\nContent-Transfer-Encoding: ${how}\n\n${text}\n`;
  }

  it.each(["base64", "quoted-printable"] as const)(
    "in %s is applied as the same commits",
    async (how) => {
      const { run, other, at } = prepared();
      const mail = (revision: string) =>
        encoded(run("format-patch", "--stdout", "--binary", "--full-index", "-1", revision), how);
      const patch = mail("HEAD~1") + mail("HEAD");
      const { data } = await at({ patch });
      expect(data).toMatchObject({ applied: true, count: 3 });
      const trees = (log: string) => log.replaceAll("[tag] ", "");
      expect(trees(git(other, ...LOG))).toBe(trees(run(...LOG)));
      git(other, "reset", "--quiet", "--hard", "HEAD~2");
      expect((await at({ patch, as: "index" })).data.applied).toBe(true);
      expect(git(other, "write-tree")).toBe(run("rev-parse", "HEAD^{tree}"));
    },
  );

  it("of several pages is joined with line breaks", async () => {
    const { call, run, other, at } = prepared();
    for (let index = 0; index < 12; index++) {
      write(sample().root, `long-${index}.txt`, `${index} ${"x".repeat(70)}\n`.repeat(80));
      run("add", `long-${index}.txt`);
      run("commit", "--quiet", "-m", `Long ${index}`);
    }
    const pages: string[] = [];
    for (let cursor: string | undefined; pages.length === 0 || cursor !== undefined; ) {
      const { text } = await call("git_show", {
        revision: "HEAD~14..HEAD",
        format: "mail",
        cursor,
      });
      expect(text.length).toBeLessThanOrEqual(20_000);
      const end = text.lastIndexOf("\n(14 mails");
      pages.push(text.slice(0, end));
      cursor = /cursor "([^"]+)"/.exec(text.slice(end))?.[1];
    }
    expect(pages.length).toBeGreaterThan(3);
    expect((await at({ patch: pages.join("\n") })).data.commits).toHaveLength(14);
    expect(git(other, "rev-parse", "HEAD^{tree}")).toBe(run("rev-parse", "HEAD^{tree}"));
  });

  it("that is cancelled in the middle leaves no commit and no operation", async () => {
    const { other, root } = prepared();
    const mails = Array.from(
      { length: 60 },
      (_, index) =>
        `From ${"1".repeat(40)} Mon Sep 17 00:00:00 2001\nFrom: A <a@example.org>\nSubject: [PATCH] ${index}\n\n---\n${created(`${index}.txt`)}\n`,
    );
    const head = git(other, "rev-parse", "HEAD");
    const call = fakeCall();
    const applying = callTool(
      gitOver([root], { mayAsk: false }),
      "git_apply_patch",
      { repo_path: other, as: "commits", patch: mails.join("") },
      call,
    );
    const next = join(other, ".git", "rebase-apply", "next");
    const isUnderway = () => existsSync(next) && Number(readFileSync(next, "utf8")) > 5;
    await expect.poll(isUnderway, { interval: 5 }).toBe(true);
    call.cancel();
    expect(await codeOf(applying)).toBeUndefined();
    expect(existsSync(join(other, ".git", "rebase-apply"))).toBe(false);
    expect(git(other, "rev-parse", "HEAD")).toBe(head);
    // git may have been ended between writing a file and the index.
    expect(git(other, "status", "--porcelain")).toMatch(/^(\?\? \d+\.txt\n)?$/);
  });

  it("that git am stopped at is abandoned by git_merge", async () => {
    const { run, other, root } = prepared();
    const patch = run("format-patch", "--stdout", "--full-index", "-1", "HEAD");
    const head = git(other, "rev-parse", "HEAD");
    write(root, "stale.mbox", patch);
    expect(() => git(other, "am", "--quiet", join(root, "stale.mbox"))).toThrow();
    const over = gitOver([root]);
    await callTool(over, "git_merge", { repo_path: other, action: "abort" });
    expect(existsSync(join(other, ".git", "rebase-apply"))).toBe(false);
    expect(git(other, "rev-parse", "HEAD")).toBe(head);
  });

  it("that fails in the middle changes nothing, and shows the conflict", async () => {
    const { run, other, at, root } = prepared();
    write(root, "third.txt", "third\n");
    run("add", "third.txt");
    run("commit", "--quiet", "-m", "Third");
    const mail = (revision: string) =>
      run("format-patch", "--stdout", "--full-index", "-1", revision);
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
    expect([git(other, "rev-parse", "HEAD"), git(other, "status", "--porcelain")]).toEqual([
      head,
      before,
    ]);
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
