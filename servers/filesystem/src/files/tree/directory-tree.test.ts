import { describe, expect, it } from "vitest";
import { keepSwapping } from "../../../test/swapper.ts";
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
  it("draws an indented tree with marks for directories and links, and a line of facts", async () => {
    const tree = await makeTree({
      "src/files/a.ts": "",
      "src/b.ts": "",
      "src/l": { link: "../../outside" },
      "z.md": "",
      empty: null,
    });
    expect(await drawn(tree)).toEqual([
      "  empty/",
      "  src/",
      "    b.ts",
      "    files/",
      "      a.ts",
      "    l@",
      "  z.md",
      "[7 entries shown (max_depth 3, max_entries 1,000).]",
    ]);
  });

  it("reports how much is below the last level", async () => {
    const tree = await makeTree({ "a/b/c/d/e": "", "a/b/c/f": "", "a/b/empty": null });
    expect(await drawn(tree)).toEqual([
      "  a/",
      "    b/",
      "      c/",
      "        +2 more",
      "      empty/",
      "[4 entries shown (max_depth 3, max_entries 1,000). Deeper levels: raise max_depth or ask for a subdirectory.]",
    ]);
  });

  it("gives each directory on a level a fair share", async () => {
    const content: Record<string, string> = {};
    for (let i = 0; i < 50; i++) content[`big/f${letters(i)}`] = "";
    for (const name of ["one", "two"]) content[`small/${name}`] = "";
    const tree = await makeTree(content);
    expect(await drawn(tree, { max_entries: 8 })).toEqual([
      "  big/",
      "    faa",
      "    fab",
      "    fac",
      "    fad",
      "    +46 more",
      "  small/",
      "    one",
      "    two",
      "[8 entries shown (max_depth 3, max_entries 8). More entries: raise max_entries, ask for a subdirectory, or page with list_directory.]",
    ]);
  });

  it("omits ignored and excluded entries", async () => {
    const tree = await makeTree({
      ".gitignore": "dist\n",
      "dist/x": "",
      "src/a.ts": "",
      "src/a.log": "",
      "node_modules/y": "",
      "vendor/z": "",
      ".git/HEAD": "",
    });
    const lines = await drawn(tree, { excludePatterns: ["node_modules", "vendor/**"] }, ["*.log"]);
    expect(lines).toEqual([
      "  .gitignore",
      "  src/",
      "    a.ts",
      "  vendor/",
      "[4 entries shown (max_depth 3, max_entries 1,000). 3 hidden by ignore rules or .git; include_ignored=true shows the ignored ones.]",
    ]);
    expect(await drawn(tree, { include_ignored: true })).toContain("  dist/");
  });

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

  it("stays within its budget if every line is a directory cut off by the depth", async () => {
    const content: Record<string, string> = {};
    for (let i = 0; i < 40; i++) for (let j = 0; j < 40; j++) content[`d${i}/e${j}/f`] = "";
    const lines = await drawn(await makeTree(content), { max_depth: 2, max_entries: 5000 });
    expect(lines.join("\n").length).toBeLessThan(20_000);
  });

  it("shows nothing from outside while a directory is swapped for a link", async () => {
    const tree = await makeTree({
      "victim/in/a": "",
      "outside/in/SECRET": "",
      "outside/SECRET": "",
    });
    await keepSwapping(tree.at("victim"), tree.outside);
    for (let i = 0; i < 150; i++) expect((await drawn(tree)).join("\n")).not.toContain("SECRET");
  });

  it("refuses what is outside", async () => {
    const tree = await makeTree({ out: { link: "../outside" } });
    await expect(drawn(tree, { path: tree.at("out") })).rejects.toMatchObject({ kind: "denied" });
  });
});
