import { mkdirSync, writeFileSync } from "node:fs";
import { expect, it } from "vitest";
import { ENGINES, searcherOf } from "../../test/text-search.ts";
import { makeTree } from "../../test/tree.ts";
import { listDirectory } from "./list-directory.ts";
import { searchNames } from "./search-names.ts";
import { drawTree } from "./tree.ts";

const MANY = 100_000;

it("serves 100,000 files, in one directory and in many, with the event loop free meanwhile", async () => {
  const { root, guard, at, ...tree } = await makeTree({ "needle.txt": "needle\n" });
  mkdirSync(at("flat"));
  for (let i = 0; i < MANY / 2; i++) writeFileSync(at("flat", `f${i}`), "");
  for (let i = 0; i < MANY / 100; i++) {
    mkdirSync(at("deep", `d${i % 40}`, `e${i}`), { recursive: true });
    for (let j = 0; j < 50; j++) writeFileSync(at("deep", `d${i % 40}`, `e${i}`, `g${j}`), "");
  }
  let longest = 0;
  let before = performance.now();
  const timer = setInterval(() => {
    const now = performance.now();
    longest = Math.max(longest, now - before);
    before = now;
  }, 5);
  const search = {
    path: root,
    pattern: "*",
    exclude: [],
    type: "file",
    includeIgnored: false,
    sort: "path",
    limit: 100,
    budget: 20_000,
  } as const;
  const found = await searchNames(guard, search, []);
  expect(found.total).toBe(MANY + 1);
  const drawn = await drawTree(guard, { ...search, maxDepth: 3, maxEntries: 1000 }, []);
  expect(drawn.length).toBeLessThanOrEqual(20_000);
  for (const sort of ["name", "size"] as const) {
    const listed = await listDirectory(guard, {
      path: at("flat"),
      details: true,
      sort,
      limit: 200,
      budget: 20_000,
    });
    expect(listed.total).toBe(MANY / 2);
  }
  for (const engine of ENGINES) {
    const text = await searcherOf({ root, guard, at, ...tree }, engine)({ pattern: "needle" });
    expect(text.files).toEqual([{ path: at("needle.txt"), matches: [{ line: 1, text: "needle" }] }]);
  }
  clearInterval(timer);
  expect(longest).toBeLessThan(2_000);
}, 120_000);
