import { expect, it } from "vitest";
import { makeTree } from "../../../test/tree.ts";
import { newestFiles } from "./newest-files.ts";

it("leaves out what is hidden, ignored, installed or a link", async () => {
  const tree = await makeTree({
    "a.txt": "x",
    ".gitignore": "*.tmp\ndist\n",
    "b.tmp": "",
    "dist/c.js": "",
    ".env": "SECRET",
    ".ssh/id": "SECRET",
    "node_modules/d/index.js": "",
    "link.txt": { link: "a.txt" },
    "x.log": "",
  });
  const newest = await newestFiles({ guard: tree.guard, ignored: ["*.log"] });
  expect(newest.map(({ path }) => path)).toEqual([tree.at("a.txt")]);
});
