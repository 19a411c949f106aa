import { describe, expect, it } from "vitest";
import { failureOf, useSample } from "../../test/fixture.ts";

const sample = useSample("dirty");

describe("git_diff_unstaged", () => {
  it("is what git itself prints", async () => {
    const { text } = await sample().call("git_diff_unstaged");
    const patch = sample().git("diff").trimEnd();
    expect(text).toBe(`Unstaged changes:\n${patch}\n(1 file changed, 1 insertion, 1 deletion)`);
  });

  it("takes context lines, paths and a format", async () => {
    const { call } = sample();
    const { text } = await call("git_diff_unstaged", { context_lines: 0 });
    expect(text).toContain("@@ -4 +4 @@");
    expect((await call("git_diff_unstaged", { paths: ["README.md"] })).text).toContain("(0 files changed");
    expect((await call("git_diff_unstaged", { format: "stat" })).text).toContain("+1 -1 src/app.ts");
    expect((await call("git_diff_unstaged", { format: "name_status" })).text).toContain("M src/app.ts");
  });

  it("refuses a cursor whose changes are no longer there", async () => {
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
    // All at one time, a while ago; the time of the inode, which would tell, is not looked at.
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
