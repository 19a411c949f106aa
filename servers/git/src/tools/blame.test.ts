import { describe, expect, it } from "vitest";
import { failureOf, useSample } from "../../test/fixture.ts";

const sample = useSample("clean");

describe("git_blame", () => {
  it("shows the commit, date and author of each line", async () => {
    const { call, git } = sample();
    const [first, second] = [
      git("rev-parse", "--short=10", "main~2").trim(),
      git("rev-parse", "--short=10", "main").trim(),
    ];
    const { text } = await call("git_blame", { path: "src/app.ts", start_line: 1, end_line: 2 });
    expect(text.split("\n").slice(1)).toEqual([
      `${first} 2024-01-01 Test 1) one`,
      `${second} 2024-01-05 Test 2) OURS`,
      "(lines 1 to 2)",
    ]);
  });

  it("reads an older revision", async () => {
    const { text } = await sample().call("git_blame", { path: "src/app.ts", revision: "v0.9" });
    expect(text).not.toContain("OURS");
    expect(text).toContain("(lines 1 to 10)");
  });

  it("continues a long file by cursor, in the same commit", async () => {
    const { call, git, write } = sample();
    write("long.txt", Array.from({ length: 900 }, (_, index) => `row ${index}\n`).join(""));
    git("add", "long.txt");
    git("commit", "--quiet", "-m", "Long");
    const rows: string[] = [];
    let cursor: string | undefined;
    do {
      const { text } = await call("git_blame", { path: "long.txt", ...(cursor ? { cursor } : {}) });
      rows.push(
        ...text
          .split("\n")
          .slice(1, -1)
          .map((line) => line.replace(/^.*\) /, "")),
      );
      cursor = /cursor "([\w-]+)"/.exec(text)?.[1];
      write("long.txt", "gone\n");
      git("commit", "--quiet", "--all", "--allow-empty", "-m", "Gone");
    } while (cursor !== undefined);
    expect(rows).toEqual(Array.from({ length: 900 }, (_, index) => `row ${index}`));
  });

  it("explains a missing file and a line past the end", async () => {
    const { call } = sample();
    expect((await failureOf(call("git_blame", { path: "no.ts" }))).code).toBe("bad_path");
    const beyond = await failureOf(call("git_blame", { path: "src/app.ts", start_line: 99 }));
    expect(beyond.code).toBe("bad_range");
    expect(beyond.message).toContain("10 lines");
  });
});
