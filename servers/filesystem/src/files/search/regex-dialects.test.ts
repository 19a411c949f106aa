import { describe, expect, it } from "vitest";
import { ENGINES, searcherOf } from "../../../test/text-search.ts";
import { makeTree } from "../../../test/tree.ts";

describe.each(ENGINES)("regular expressions, by %s", (engine) => {
  it("finds the same lines in the same regular expressions", async () => {
    const text = [
      "foo bar",
      "foo-bar_baz",
      "Ünïcödé wörds",
      "tab\there",
      "123 456",
      "a[b]c",
      "{x}",
      "x{2,3}",
      "a&&b",
      "a--b",
      "a~~b",
      "$9.50",
      "日本語",
      "naïve",
      "εκεί",
      "\\d",
      "ſ K",
      "nbsp\u00a0here",
      "١٢٣",
      "a.b",
      "^caret",
      "dollar$",
    ].join("\n");
    const tree = await makeTree({ f: text });
    const search = searcherOf(tree, engine);
    const found: string[] = [];
    for (const pattern of REGEXES) {
      const { files } = await search({ pattern });
      found.push(`${pattern}  ${files[0]?.matches?.map(({ line }) => line) ?? "-"}`);
    }
    expect(found.join("\n")).toMatchInlineSnapshot(`
      "\\d  5,8,12
      \\D{5}  1,2,3,4,6,14,18,21,22
      \\w+\\b-  2,10
      \\bb  1,2,6,9,10,11,20
      \\Bo  1,2,22
      \\s  1,3,4,5,17
      \\S\\s\\S  1,3,4,5,17
      \\W  1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22
      [\\w.]+\\.  12,20
      [^\\w\\s]  2,3,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22
      [[:alpha:]]{6}  22
      [[:^alnum:]]  1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22
      [a&&b]{2}  1,2,4,9
      [*--]  2,8,10
      [~~]  11
      [[]b  6
      []]  6
      [^]a]b  1,2,6,9,10,11,18,20
      x\\{  8
      x{2,3}  -
      {x}  7
      a{,2}  -
      o{2,}  1,2
      \\p{Greek}  15
      \\pL{7}  3
      \\P{L}  1,2,3,4,5,6,7,8,9,10,11,12,16,17,18,19,20,21,22
      \\p{^L}  1,2,3,4,5,6,7,8,9,10,11,12,16,17,18,19,20,21,22
      (?i)FOO  1,2
      (?i:f)oo  1,2
      (?i)s  3,17,18
      (?i)k  17
      ſ  17
      \\x41|\\x{65e5}  13
      \\141  1,2,4,6,9,10,11,14,20,21,22
      \\t  4
      \\Qa.b\\E  20
      \\$  12,22
      ^\\^  21
      \\$$  22
      (?P<n>foo)-  2
      (?<n>foo)-  2
      foo|日  1,2,13
      (?U)f.*o  1,2
      (?s)o.b  1,2
      (?m)^a  6,9,10,11,20
        1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22
      a|  1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22
      [\\d]  5,8,12
      [^\\d]+$  1,2,3,4,6,7,8,9,10,11,13,14,15,16,17,18,19,20,21,22
      [\\x{e0}-\\x{ff}]  3,14
      \\Aa  6,9,10,11,20
      c\\z  6
      .{20}  -
      [[:word:]-]+_  2
      (foo)( )(bar)?  1
      ï  3,14
      [ï]  3,14
      n.{1}ï  14"
    `);
  });

  it.each([
    "(",
    "a**",
    "[z-a]",
    "(?=x)",
    "(?<!x)y",
    "\\1",
    "(a)\\1",
    "a{1001}",
    "\\p{Nonsense}",
    "[",
    "\\",
    "x".repeat(1001),
    "\\C",
    "(?P<n>a)(?P<n>b)",
  ])("refuses %j", async (pattern) => {
    const search = searcherOf(await makeTree({ a: "x" }), engine);
    await expect(search({ pattern })).rejects.toMatchObject({
      kind: "invalid",
      hint: expect.stringContaining("literal"),
    });
  });
});

const REGEXES = [
  "\\d",
  "\\D{5}",
  "\\w+\\b-",
  "\\bb",
  "\\Bo",
  "\\s",
  "\\S\\s\\S",
  "\\W",
  "[\\w.]+\\.",
  "[^\\w\\s]",
  "[[:alpha:]]{6}",
  "[[:^alnum:]]",
  "[a&&b]{2}",
  "[*--]",
  "[~~]",
  "[[]b",
  "[]]",
  "[^]a]b",
  "x\\{",
  "x{2,3}",
  "{x}",
  "a{,2}",
  "o{2,}",
  "\\p{Greek}",
  "\\pL{7}",
  "\\P{L}",
  "\\p{^L}",
  "(?i)FOO",
  "(?i:f)oo",
  "(?i)s",
  "(?i)k",
  "ſ",
  "\\x41|\\x{65e5}",
  "\\141",
  "\\t",
  "\\Qa.b\\E",
  "\\$",
  "^\\^",
  "\\$$",
  "(?P<n>foo)-",
  "(?<n>foo)-",
  "foo|日",
  "(?U)f.*o",
  "(?s)o.b",
  "(?m)^a",
  "",
  "a|",
  "[\\d]",
  "[^\\d]+$",
  "[\\x{e0}-\\x{ff}]",
  "\\Aa",
  "c\\z",
  ".{20}",
  "[[:word:]-]+_",
  "(foo)( )(bar)?",
  "ï",
  "[ï]",
  "n.{1}ï",
];
