import { describe, expect, it } from "vitest";
import { makeTree, type Tree } from "../../../test/tree.ts";
import { drawTree } from "./directory-tree.ts";

async function drawn(
  tree: Tree,
  request: Partial<Parameters<typeof drawTree>[1]> = {},
  ignored: string[] = [],
): Promise<string[]> {
  const text = await drawTree(
    { guard: tree.guard, ignored },
    {
      path: tree.root,
      max_depth: 3,
      max_entries: 1000,
      excludePatterns: [],
      include_ignored: false,
      budget: 20_000,
      ...request,
    },
  );
  const [first, ...lines] = text.split("\n");
  expect(first).toBe(`${tree.root}/`);
  return lines;
}

/** A number of two digits as letters, because names that differ only in digits share a line. */
const letters = (number: number) =>
  String(number)
    .padStart(2, "0")
    .replace(/\d/g, (digit) => "abcdefghij"[Number(digit)] ?? "");

describe("drawTree", () => {
  it("names cannot forge a line or mark", async () => {
    const names = [
      "a\n  forged/",
      "+9 more",
      "[0 entries shown.]",
      "link@",
      " space",
      'quote"d',
      '"quoted"',
      "esc\u001b[2J",
      "rtl\u202efdp",
    ];
    const tree = await makeTree(
      Object.fromEntries(names.map((name) => [name.replaceAll("/", "∕"), ""])),
    );
    const lines = await drawn(tree);
    expect(lines.length).toBe(names.length + 1);
    expect(lines.slice(0, -1).sort()).toEqual(
      [
        '  "a\\n  forged∕"',
        '  "+9 more"',
        '  "[0 entries shown.]"',
        '  "link@"',
        '  " space"',
        '  quote"d',
        '  "\\"quoted\\""',
        '  "esc\\u{1b}[2J"',
        '  "rtl\\u{202e}fdp"',
      ].sort(),
    );
  });

  it("stays within its budget and shares it fairly", async () => {
    const content: Record<string, string> = {};
    for (let i = 0; i < 30; i++)
      for (let j = 0; j < 30; j++) content[`dir-${i}/${"x".repeat(150)}-${letters(j)}`] = "";
    const tree = await makeTree(content);
    const lines = await drawn(tree);
    expect(lines.join("\n").length).toBeLessThan(20_000);
    expect(lines.at(-1)).toContain("The response is full");
    expect(lines.filter((line) => /^ {2}dir-\d+\/$/.test(line)).length).toBe(30);
    expect(lines.filter((line) => / {4}\+\d+ more/.test(line)).length).toBe(30);
  });
});
