import { describe, expect, it } from "vitest";
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
