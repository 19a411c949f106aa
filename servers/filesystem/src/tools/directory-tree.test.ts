import { expect, it } from "vitest";
import { scratch } from "../../test/scratch.ts";
import { use } from "../../test/use.ts";
import directoryTree from "./directory-tree.ts";

it("draws a tree to a depth, without excluded and ignored entries", async () => {
  const { files, root, put } = await scratch();
  await put(".gitignore", "dist\n");
  await put("dist/x", "");
  await put("src/a/b/c.ts", "");
  await put("vendor/v", "");
  const text = await use(directoryTree, files, {
    path: root,
    excludePatterns: ["vendor"],
    max_depth: 2,
  });
  expect(text).toBe(
    [
      `${root}/`,
      "  .gitignore",
      "  src/",
      "    a/",
      "      +1 more",
      "[3 entries shown (max_depth 2, max_entries 1,000). Deeper levels: raise max_depth or ask for a subdirectory. " +
        "1 hidden by ignore rules or .git; include_ignored=true shows the ignored ones.]",
    ].join("\n"),
  );
  expect(await use(directoryTree, files, { path: root, include_ignored: true })).toContain(
    "  dist/\n    x\n",
  );
});

it("names cannot forge a line or mark", async () => {
  const shown = {
    "a\n  forged∕": '"a\\n  forged∕"',
    "+9 more": '"+9 more"',
    "[0 entries shown.]": '"[0 entries shown.]"',
    "link@": '"link@"',
    " space": '" space"',
    'quote"d': 'quote"d',
    '"quoted"': '"\\"quoted\\""',
    "esc\u001b[2J": '"esc\\u{1b}[2J"',
    "rtl\u202efdp": '"rtl\\u{202e}fdp"',
  };
  const { files, root, put } = await scratch();
  for (const name of Object.keys(shown)) await put(name, "");
  const lines = String(await use(directoryTree, files, { path: root })).split("\n");
  const expected = Object.values(shown).map((name) => `  ${name}`);
  expect(lines.slice(1, -1).sort()).toEqual(expected.sort());
});
