import { describe, expect, it } from "vitest";
import { failureOf, useSample } from "../../test/fixture.ts";

/** What git_add takes, at the end of a hunk's first line. */
const HUNK_ID = / \[[0-9a-f]{7}\]$/gm;
const sample = useSample("dirty");

describe("git_diff_unstaged", () => {
  it("matches git's output", async () => {
    const { text } = await sample().call("git_diff_unstaged");
    const patch = sample().git("diff").trimEnd();
    expect(text.replace(HUNK_ID, "")).toBe(
      `Unstaged changes:\n${patch}\n(1 file changed, 1 insertion, 1 deletion)`,
    );
  });

  it("accepts context lines, paths and a format", async () => {
    const { call } = sample();
    const { text } = await call("git_diff_unstaged", { context_lines: 0 });
    expect(text).toContain("@@ -4 +4 @@");
    expect((await call("git_diff_unstaged", { paths: ["README.md"] })).text).toContain(
      "(0 files changed",
    );
    expect((await call("git_diff_unstaged", { format: "stat" })).text).toContain(
      "+1 -1 src/app.ts",
    );
  });

  it("shows untracked files on request, and writes nothing", async () => {
    const { call, git, write } = sample();
    write("new folder/b.ts", "fresh\n");
    write("ignored.log", "noise\n");
    git("init", "--quiet", "nested");
    const before = [git("count-objects"), git("status", "--porcelain")];
    const { text } = await call("git_diff_unstaged", { include_untracked: true });
    expect(text.replace(HUNK_ID, "")).toContain("+++ b/new folder/b.ts\t\n@@ -0,0 +1 @@\n+fresh");
    expect(text).toContain("+++ b/notes.txt");
    expect(text).not.toMatch(/ignored|nested/);
    expect(
      (await call("git_diff_unstaged", { include_untracked: true, paths: ["notes.txt"] })).text,
    ).toContain("(1 file changed, 1 insertion, 0 deletions)");
    expect([git("count-objects"), git("status", "--porcelain")]).toEqual(before);
  });

  it("ignores whitespace on request", async () => {
    const { call, git, write } = sample();
    git("checkout", "--quiet", ".");
    write("README.md", git("show", "HEAD:README.md").replaceAll("\n", "  \n"));
    write("src/app.ts", git("show", "HEAD:src/app.ts").replace("OURS", "ou rs"));
    expect((await call("git_diff_unstaged")).text).toContain("(2 files changed");
    const { text } = await call("git_diff_unstaged", { ignore_whitespace: true });
    expect(text).toContain("+ou rs");
    expect(text).toContain("(1 file changed, 1 insertion, 1 deletion)");
  });

  it("refuses a cursor whose changes no longer exist", async () => {
    const { call, write } = sample();
    write("src/app.ts", "x\n".repeat(20_000));
    const { text } = await call("git_diff_unstaged");
    const [, cursor] = /cursor "([\w-]+)"/.exec(text) ?? [];
    expect(cursor).toBeDefined();
    write("README.md", "another\n");
    const error = await failureOf(call("git_diff_unstaged", { cursor }));
    expect(error).toMatchObject({ kind: "conflict", code: "stale_cursor" });
  });

  it("sees a change of the same length within the same instant (racy git)", async () => {
    const { call, git, root, write } = sample();
    const { utimesSync } = await import("node:fs");
    // All with the same earlier time; the inode's change time, which would differ, is ignored.
    const then = new Date(Date.now() - 5_000);
    const put = (content: string): void => {
      write("race.txt", content);
      utimesSync(`${root}/race.txt`, then, then);
    };
    git("config", "core.trustctime", "false");
    put("aaaa\n");
    git("add", "race.txt");
    put("cccc\n");
    utimesSync(`${root}/.git/index`, then, then);
    expect((await call("git_diff_unstaged", { paths: ["race.txt"] })).text).toContain("+cccc");
    const { data } = await call("git_restore", { files: ["race.txt"] });
    expect(git("show", `${String(data.recovery)}:race.txt`)).toBe("cccc\n");
  });
});
