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

  it("ignores whitespace and follows moved or copied lines on request, like git", async () => {
    const { call, git, write } = sample();
    const text = Array.from(
      { length: 12 },
      (_, index) => `a line that is long enough, number ${index}\n`,
    );
    write("long.txt", text.join(""));
    git("add", "long.txt");
    git("commit", "--quiet", "-m", "Long");
    const moved = [...text.slice(8), ...text.slice(0, 8)].map((line, index) =>
      index % 2 ? ` ${line}` : line,
    );
    write("long.txt", moved.join(""));
    write("copy.txt", text.slice(0, 4).join(""));
    git("add", ".");
    git("commit", "--quiet", "-m", "Move");
    const seen = new Set<string>();
    for (const path of ["long.txt", "copy.txt"])
      for (const [args, options] of [
        [{}, []],
        [{ ignore_whitespace: true }, ["-w"]],
        [{ detect_moves: true }, ["-M", "-C"]],
      ] as const) {
        const commits = (lines: string) =>
          lines.match(/^[0-9a-f^]{8}/gm)?.map((one) => one.replace("^", ""));
        const { text } = await call("git_blame", { path, ...args });
        expect(commits(text)).toEqual(
          commits(git("blame", "-s", "--root", "--abbrev=9", ...options, path)),
        );
        seen.add(`${path} ${commits(text)}`);
      }
    expect(seen.size).toBeGreaterThan(3);
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
