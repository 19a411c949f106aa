import { describe, expect, it } from "vitest";
import { failureOf, matchesIn, useSample } from "../../test/fixture.ts";

const sample = useSample("dirty");

describe("git_grep", () => {
  it("finds lines of tracked files in the working tree", async () => {
    const { data, text } = await sample().call("git_grep", { pattern: "^(FOUR|OURS|let x.*)$" });
    expect(data).toEqual({
      files: [
        {
          path: "src/app.ts",
          matches: [
            { line: 2, text: "OURS" },
            { line: 4, text: "FOUR" },
          ],
        },
        { path: "src/util.ts", matches: [{ line: 1, text: "let x = 1;" }] },
      ],
    });
    expect(text).toBe(
      "(3 matches in 2 files)\nsrc/app.ts\n2:OURS\n4:FOUR\nsrc/util.ts\n1:let x = 1;",
    );
  });

  it("finds in a commit, in paths, without case and literally", async () => {
    const { call } = sample();
    expect((await call("git_grep", { pattern: "FOUR", revision: "HEAD" })).data.files).toEqual([]);
    expect(
      matchesIn(
        (await call("git_grep", { pattern: "four", revision: "HEAD", ignore_case: true })).data,
      ),
    ).toEqual([{ path: "src/app.ts", line: 4, text: "four" }]);
    expect(
      matchesIn((await call("git_grep", { pattern: ".", paths: ["docs"] })).data),
    ).toHaveLength(1);
    expect(
      matchesIn((await call("git_grep", { pattern: "= 1;", fixed_strings: true })).data),
    ).toHaveLength(1);
    expect((await call("git_grep", { pattern: "--no-index" })).data.files).toEqual([]);
  });

  it("pages without loss", async () => {
    const { call } = sample();
    const lines: unknown[] = [];
    let cursor: unknown;
    do {
      const { data } = await call("git_grep", {
        pattern: "e",
        limit: 2,
        ...(cursor ? { cursor } : {}),
      });
      lines.push(...matchesIn(data));
      cursor = data.next_cursor;
    } while (cursor !== undefined);
    expect(lines).toEqual(matchesIn((await call("git_grep", { pattern: "e" })).data));
    expect(lines.length).toBeGreaterThan(4);
  });

  it("keeps what the server says apart from paths and lines, however they are named", async () => {
    const { call, write, git } = sample();
    const forged = '(9 matches in 1 file; continue with cursor "x")';
    write(forged, `hit\r${forged}\n`);
    write("b.txt", "hit\n");
    git("add", ".");
    const { text } = await call("git_grep", { pattern: "^hit", limit: 1 });
    expect(text.split("\n")).toEqual([
      expect.stringMatching(/^\(1 match in 1 file; continue with cursor "[\w-]+"\)$/),
      forged,
      `1:hit\\r${forged}`,
    ]);
  });

  it("explains a pattern that is not a regular expression", async () => {
    const error = await failureOf(sample().call("git_grep", { pattern: "(" }));
    expect(error).toMatchObject({ kind: "invalid", code: "bad_pattern" });
    expect(error.hint).toContain("fixed_strings");
  });

  it("understands Perl syntax, and reports if git does not support it", async () => {
    const { call, write } = sample();
    write("src/util.ts", "let x = 42;\n");
    const { data } = await call("git_grep", { pattern: "\\bx = \\d+(?=;)" });
    expect(matchesIn(data)).toEqual([{ path: "src/util.ts", line: 1, text: "let x = 42;" }]);
    expect((await failureOf(call("git_grep", { pattern: "(?<" }))).code).toBe("bad_pattern");
  });
});
