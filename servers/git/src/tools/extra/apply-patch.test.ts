import { existsSync, lstatSync, readFileSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { codeOf, emptyRepository, failureOf, useSample, write } from "../../../test/fixture.ts";

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
      const error = await failureOf(
        call("git_apply_patch", { patch: created("new.txt") + stale, as }),
      );
      expect(error.code).toBe("patch_failed");
      expect(error.message).toContain("README.md");
    }
    expect((await failureOf(call("git_apply_patch", { patch: "hello" }))).code).toBe("bad_patch");
    expect(
      (await failureOf(call("git_apply_patch", { patch: created("x"), as: "commits" }))).code,
    ).toBe("bad_patch");
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

  const hostile = [
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
  ] as const;

  it("writes nothing outside the working tree, in a git directory or in another repository", async () => {
    const { call, git, root } = sample();
    symlinkSync("..", join(root, "there"));
    emptyRepository(join(root, "nested"));
    write(join(root, "nested"), "a.txt", "a\n");
    git("-c", "core.safecrlf=false", "add", "there", "nested/a.txt");
    git("config", "core.protectNTFS", "false");
    const before = git("status", "--porcelain", "--ignored");
    for (const [name, patch] of hostile) {
      for (const as of ["worktree", "index"] as const)
        expect(["bad_patch", "bad_path", "patch_failed"], `${name}, ${as}`).toContain(
          await codeOf(call("git_apply_patch", { patch, as })),
        );
      expect(git("status", "--porcelain", "--ignored"), name).toBe(before);
      expect(existsSync(join(root, "..", "out.txt")), name).toBe(false);
      expect(existsSync(join(root, "nested", "evil.txt")), name).toBe(false);
    }
  });

  it("creates a link itself", async () => {
    const { call, root } = sample();
    await call("git_apply_patch", { patch: link("way", "README.md") });
    expect(lstatSync(join(root, "way")).isSymbolicLink()).toBe(true);
  });
});

// apply-patch.long.test.ts has the rest.
describe("a mailbox", () => {
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

  it("is checked as git am reads it", async () => {
    const { call, git, write, root } = sample();
    write("plain.txt", "plain\n");
    git("add", "plain.txt");
    git("commit", "--quiet", "-m", "Plain");
    emptyRepository(join(root, "nested"));
    const plain = git("format-patch", "--stdout", "--full-index", "--binary", "-1");
    git("reset", "--quiet", "--hard", "HEAD~1");
    const head = "From: A <a@example.org>\nSubject: [PATCH] Hidden\n";
    const hidden = `From ${"1".repeat(40)} Mon Sep 17 00:00:00 2001\n${head}\n---\n${created("nested/evil.txt")}`;
    const flowed = hidden
      .replace("\n\n", "\nContent-Type: text/plain; format=flowed; charset=UTF-8\n\n")
      .replace(created("nested/evil.txt"), created("nested/evil.txt").replaceAll(/^/gm, " "));
    for (const mail of [
      hidden,
      encoded(hidden, "base64"),
      encoded(hidden, "quoted-printable"),
      flowed,
    ]) {
      expect(["bad_path", "bad_patch"]).toContain(
        await codeOf(call("git_apply_patch", { patch: plain + mail, as: "commits" })),
      );
      expect(existsSync(join(root, "nested", "evil.txt"))).toBe(false);
    }
    const { data } = await call("git_apply_patch", { patch: plain, as: "commits" });
    expect(data).toMatchObject({ applied: true });
  });
});
