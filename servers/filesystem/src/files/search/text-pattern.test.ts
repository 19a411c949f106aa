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
];

/** The numbers of the lines that match. */
function found(text: string, options: { literal?: boolean; ignoreCase?: boolean } = {}): number[] {
  const pattern = textPattern(text, { literal: false, ignoreCase: false, ...options });
  const all = LINES.join("\n");
  return [...blocksIn(Buffer.from(all))].flatMap((block) =>
    new LineMatcher(pattern)
      .starts(block)
      .map((start) => block.text.slice(0, start).split("\n").length),
  );
}

describe("textPattern", () => {
  it.each<[pattern: string, lines: number[]]>([
    ["foo", [1, 2]],
    ["^foo\\b.*baz$", [2]],
    ["line$", [14]],
    ["^$", [16]],
    ["\\bb", [1, 2, 6, 12, 15]],
    ["\\s", [1, 3, 4, 5, 11, 14, 15, 17]],
    ["\\s$", []],
    ["[^a-z]{3}", [5, 8, 9, 10, 15]],
    ["x\\{2,3}", [8]],
    ["func\\(.*\\) {", [15]],
    ["[\\w-]+_", [2]],
    ["foo(?!-)", [1]],
    ["(?<=foo.)bar", [1, 2]],
    ["(o)\\1", [1, 2]],
    ["(?P<letter>o)\\k<letter>", [1, 2]],
    ["\\p{Script=Han}", [10]],
    ["(?i)FOO", [1, 2]],
    [".*bar", [1, 2]],
    ["^.*bar", [1, 2]],
    ["[^x]*bar|caret", [1, 2, 13]],
    ["\\d+\\s+\\d+", [5]],
    ["\u{1f600}", [17]],
    ["^.{6}$", [8, 13, 17]],
    ["a\\-b|\\-bar", [2]],
    ["r\\W*f|bar[^x]foo|words\\s+tab", []],
  ])("%s", (pattern, lines) => {
    expect(found(pattern)).toEqual(lines);
  });

  it("finds the same lines in batches and one by one", () => {
    for (const pattern of [
      "o\\W",
      "\\s\\S",
      "[^o]o[^o]",
      "\\D\\d",
      "(?:^|\\W)b",
      "$",
      "^",
      "[a-c]+",
      "o+?.$",
    ]) {
      expect(found(pattern), pattern).toEqual(found(`(?=)${pattern}`));
    }
  });

  it("takes literal text unchanged", () => {
    expect(found("a.b", { literal: true })).toEqual([12]);
    expect(found("[B]", { literal: true, ignoreCase: true })).toEqual([6]);
    expect(found("$9.50", { literal: true })).toEqual([9]);
  });

  it.each([
    ["foo\\nbar", "line break"],
    ["foo\nbar", "line break"],
    ["(unclosed", "Unterminated group"],
    ["a**", "Nothing to repeat"],
    ["\\Afoo", "The escape \\A is not supported"],
    ["foo\\z", "The escape \\z is not supported"],
    ["[[:alpha:]]+", "write [A-Za-z]"],
    ["\\p{Nonsense}", "property name"],
    ["x".repeat(1001), "at most 1000"],
  ])("refuses %s with the reason", (pattern, reason) => {
    expect(() => found(pattern)).toThrow(reason);
  });

  it("is fast on a text without matches", () => {
    const text = "aaaaaaaa\n".repeat(100_000);
    for (const pattern of ['[^"]*handled', ".*.*b", "\\s+x", "\\W*b", "[^b]+b"]) {
      const matcher = new LineMatcher(textPattern(pattern, { literal: false, ignoreCase: false }));
      for (const block of blocksIn(Buffer.from(text))) expect(matcher.starts(block)).toEqual([]);
    }
  });
});

describe("the text that every match contains", () => {
  it.each([
    ["def [a-z]+_at\\(", "def "],
    ["worker-3\\] request", "worker-3] request"],
    ["colou?r", "colo"],
    ["ab+c", "ab"],
    ["ab{0,3}cde", "cde"],
    ["(optional)?needle", "needle"],
    ["a(?!hidden)b", "a"],
    ["x*y", "y"],
    ["a|bc", ""],
    ["(a|b)c", ""],
    ["(a)(b)", ""],
    ["(?i)needle", ""],
    ["\\x41bc", ""],
    ["\\p{Script=Han}", ""],
    ["(a)\\1bc", ""],
    ["[abc]", ""],
    ["größe", "gr"],
  ])("of %s is %j", (text, needle) => {
    expect(textPattern(text, { literal: false, ignoreCase: false }).needle).toBe(needle);
  });

  it("is in every line that an expression matches", () => {
    let state = 3;
    const next = (below: number) => {
      state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
      return (state >>> 8) % below;
    };
    const parts = [
      "a",
      "b",
      "\\.",
      "[ab]",
      "(ab)",
      "(?:b|a)",
      "a?",
      "b*",
      "a+",
      "b{2}",
      "a{0,1}",
      ".",
      "\\w",
      "^",
      "$",
      "|",
      "(?:ab|b)",
    ];
    const lines = Array.from({ length: 200 }, () =>
      Array.from({ length: next(9) }, () => "ab."[next(3)]).join(""),
    );
    let checked = 0;
    for (let round = 0; round < 500; round++) {
      const text = Array.from({ length: 1 + next(5) }, () => parts[next(parts.length)]).join("");
      const { needle, source, flags } = textPattern(text, { literal: false, ignoreCase: false });
      const regex = new RegExp(source, flags);
      for (const line of lines.filter((one) => regex.test(one))) {
        expect(line.includes(needle), text).toBe(true);
        checked += needle === "" ? 0 : 1;
      }
    }
    expect(checked).toBeGreaterThan(300);
  });
});
