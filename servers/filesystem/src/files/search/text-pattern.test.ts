import { describe, expect, it } from "vitest";
import { blocksIn } from "./blocks.ts";
import { LineMatcher } from "./match-lines.ts";
import { textPattern } from "./text-pattern.ts";

const LINES = [
  "foo bar",
  "foo-bar_baz",
  "Ünïcödé wörds",
  "tab\there",
  "123 456",
  "a[b]c",
  "{x}",
  "x{2,3}",
  "$9.50",
  "日本語",
  "nbsp\u00a0here",
  "a.b",
  "^caret",
  "windows line\r",
  "func(a, b) {",
  "",
  "last \ud83d\ude00",
  "\u212ay ſ",
];

/** The numbers of the lines that match. */
function matchingLines(
  text: string,
  options: { literal?: boolean; ignoreCase?: boolean } = {},
): number[] {
  const matcher = new LineMatcher(
    textPattern(text, { literal: false, ignoreCase: false, ...options }),
  );
  const blocks = (lines: string[]) => [...blocksIn(Buffer.from(lines.join("\n")))];
  const count = (lines: string[]) =>
    blocks(lines).reduce((sum, block) => sum + matcher.count(block), 0);
  const numbers = LINES.flatMap((line, at) => (matcher.matches(line) ? [at + 1] : []));
  // However lines are counted, it is these.
  expect(count(LINES)).toBe(numbers.length);
  for (const [at, line] of LINES.entries())
    expect(count([line, ""])).toBe(numbers.includes(at + 1) ? 1 : 0);
  return numbers;
}

describe("textPattern", () => {
  it.each<[pattern: string, lines: number[]]>([
    ["foo", [1, 2]],
    ["^foo\\b.*baz$", [2]],
    ["^$", [16]],
    ["\\bb", [1, 2, 6, 12, 15]],
    ["\\s", [1, 3, 4, 5, 11, 14, 15, 17, 18]],
    ["[^a-z]{3}", [5, 8, 9, 10, 15]],
    ["x\\{2,3}", [8]],
    ["func\\(.*\\) {", [15]],
    ["foo(?!-)", [1]],
    ["(?<=foo.)bar", [1, 2]],
    ["(?P<letter>o)\\k<letter>", [1, 2]],
    ["\\p{Script=Han}", [10]],
    ["(?i)FOO", [1, 2]],
    ["[^x]*bar|caret", [1, 2, 13]],
    ["^.{6}$", [8, 13, 17]],
    ["a\\-b|\\-bar", [2]],
    ["r\\W*f|bar[^x]foo|words\\s+tab", []],
    ["(?i)FUNC\\(A|Ü", [3, 15]],
    ["(?i)k+y", [18]],
    ["(?i)s", [3, 11, 14, 17, 18]],
    ["(?i)ÜNÏ", [3]],
    ["a,? b{1}", [15]],
    ["x(y|z)?{", [8]],
    ["\\x66oo b", [1]],
    ["fo+x*-b", [2]],
  ])("%s", (pattern, lines) => {
    expect(matchingLines(pattern)).toEqual(lines);
  });

  it.each([
    ["foo\\nbar", "line break"],
    ["(unclosed", "Unterminated group"],
    ["\\Afoo", "The escape \\A is not supported"],
    ["[[:alpha:]]+", "write [A-Za-z]"],
    ["\\p{Nonsense}", "property name"],
    ["x".repeat(1001), "at most 1000"],
  ])("refuses %s with the reason", (pattern, reason) => {
    expect(() => matchingLines(pattern)).toThrow(reason);
  });
});
