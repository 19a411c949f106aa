import { mkdirSync, writeFileSync } from "node:fs";
import { expect, it } from "vitest";
import { isLong } from "../../../../../vitest.long.ts";
import { searcherOf } from "../../../test/text-search.ts";
import { makeTree } from "../../../test/tree.ts";
import { getInfo } from "../read/info.ts";
import { drawTree } from "./directory-tree.ts";
import { listDirectory } from "./list-directory.ts";
import { searchNames } from "./search-names.ts";

const MANY = isLong ? 100_000 : 20_000;

it(`serves ${MANY} files, in one directory and in many, and answers other calls at the same time`, async () => {
  const { root, guard, at, ...rest } = await makeTree({ "needle.txt": "needle\n" });
  mkdirSync(at("flat"));
  for (let i = 0; i < MANY / 2; i++) writeFileSync(at("flat", `f${i}`), "");
  for (let i = 0; i < MANY / 100; i++) {
    mkdirSync(at("deep", `d${i % 40}`, `e${i}`), { recursive: true });
    for (let j = 0; j < 50; j++) writeFileSync(at("deep", `d${i % 40}`, `e${i}`, `g${j}`), "one\n");
  }
  /** Does the work, and lists a small directory repeatedly until it is done; returns how many times that succeeded. */
  const answeredDuring = async (work: Promise<unknown>): Promise<number> => {
    let isDone = false;
    const done = work.finally(() => {
      isDone = true;
    });
    let answered = 0;
    const asking = (async () => {
      while (!isDone) {
        await listDirectory(
          { guard },
          {
            path: root,
            details: false,
            sort: "name",
            limit: 10,
            budget: 20_000,
          },
        );
        answered += isDone ? 0 : 1;
      }
    })();
    await done;
    await asking;
    return answered;
  };
  const search = {
    path: root,
    pattern: "*",
    excludePatterns: [],
    type: "file",
    include_ignored: false,
    sort: "path",
    limit: 100,
    budget: 20_000,
    budgetMs: 600_000,
  } as const;
  const names = searchNames({ guard, ignored: [] }, search);
  const tree = drawTree({ guard, ignored: [] }, { ...search, max_depth: 3, max_entries: 1000 });
  expect(await answeredDuring(Promise.all([names, tree]))).toBeGreaterThan(0);
  expect(await names).toContain(`[${(MANY + 1).toLocaleString("en")} matches.`);
  expect((await tree).length).toBeLessThanOrEqual(20_000);
  for (const sort of ["name", "size"] as const) {
    const page = { path: at("flat"), details: true, sort, limit: 200, budget: 20_000 };
    const listed = listDirectory({ guard }, page);
    expect(await answeredDuring(listed)).toBeGreaterThan(0);
    expect(await listed).toContain(`${(MANY / 2).toLocaleString("en")} entries in`);
  }
  const info = getInfo({ guard }, root);
  expect(await answeredDuring(info)).toBeGreaterThan(0);
  expect(await info).toContain(
    `files: ${MANY + 1}\ndirectories: ${MANY / 100 + 42}\ntotal_size: ${MANY * 2 + 7}\n`,
  );
  const text = searcherOf({ root, guard, at, ...rest })({ pattern: "needle", budgetMs: 600_000 });
  expect(await answeredDuring(text)).toBeGreaterThan(0);
  expect((await text).files).toEqual([
    { path: at("needle.txt"), matches: [{ line: 1, text: "needle" }] },
  ]);
});
