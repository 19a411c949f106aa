import { describe, expect, it } from "vitest";
import { isCurrent, sizePage } from "../../scripts/generate/size-page.mjs";
import { countCode } from "../../scripts/lib/count.mjs";

describe("lines of code", () => {
  it.each([
    ["comments and blank lines", "// a\n\n/* b\n c */\nconst d = 1; // e\n /** f */\n", 1],
    ["text that looks like a comment", 'f("// a"); f(`\n// b\n/* c`);\nf(/\\/\\/[/*]/);', 4],
    ["a comment in a template's expression", `\`\${ // a\n{ b: \`}\` } /* c */\n} //\`\n// d`, 3],
    ["a division", "a = b / c; // d / e\n// f", 1],
  ])("do not include %s", (_, source, lines) => {
    expect(countCode(source, "ts").lines).toBe(lines);
  });

  it("are counted in SQL and style sheets, too", () => {
    expect(countCode("-- a\nSELECT '--b\n'; /* c */\n", "sql")).toEqual({
      lines: 2,
      characters: 13,
    });
    expect(countCode("/* a\n*/\na {\n  b: url(//c);\n}\n", "css").lines).toBe(3);
  });
});

describe("docs/size.md", () => {
  const page = (lines: number, before: string) =>
    sizePage(
      {
        parts: { git: { files: 2, lines, characters: 1, whole: 1 } },
        kinds: {},
        words: { all: 1, common: 1 },
        tracked: 3,
      },
      before,
    );
  const { page: first } = page(9_000, "");

  it("fails if a part is larger than when the page was written, and its limit only falls", () => {
    expect(page(9_100, first).problems).toEqual([]);
    const larger = page(9_101, first);
    expect(larger.problems).toEqual([
      expect.stringMatching(
        /^git has 9101 lines of code, and its limit in docs\/size\.md is 9\.0k/,
      ),
    ]);
    expect(larger.page).toContain("| 9.1k | 0.00M | 9.0k | 5.6k |");
    expect(page(9_000, page(8_000, first).page).problems).toHaveLength(1);
  });

  it("is current while each figure is within one step of its last digit", () => {
    expect(isCurrent(first, page(9_140, first).page)).toBe(true);
    expect(isCurrent(first, page(8_849, first).page)).toBe(false);
    expect(isCurrent(first, `${first}More.\n`)).toBe(false);
  });
});
