import { describe, expect, it } from "vitest";
import { someOf } from "../../../vitest.long.ts";
import { ask, ENDLESS, rowsOf } from "./asking.ts";
import { enter } from "./lab.ts";

describe("limits", () => {
  it("kill an endless query while other calls continue", async () => {
    const here = await enter();
    const stopped = ask(here, ENDLESS, { timeoutMs: 200 });
    const caught = expect(stopped).rejects.toMatchObject({ kind: "timeout" });
    for (let call = 0; call < 5; call++) expect(await rowsOf(here, "SELECT 1")).toEqual([[1]]);
    await caught;
    expect(await rowsOf(here, "SELECT 2")).toEqual([[2]]);
  });

  it("stop a cancelled query, running or waiting", async () => {
    const here = await enter();
    const calls = [1, 2, 3, 4].map(() => {
      const controller = new AbortController();
      return { controller, done: ask(here, ENDLESS, { signal: controller.signal }) };
    });
    const caught = calls.map(({ done }) => expect(done).rejects.toThrow("taken back"));
    await new Promise((resolve) => setTimeout(resolve, 300));
    for (const { controller } of calls) controller.abort(new Error("taken back"));
    await Promise.all(caught);
    expect(await rowsOf(here, "SELECT 3")).toEqual([[3]]);
  });

  it.each(
    someOf(3, [
      "SELECT randomblob(500000000)",
      "SELECT printf('%.*c', 500000000, 'x')",
      "WITH RECURSIVE t(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM t WHERE n < 900) SELECT group_concat(hex(zeroblob(500000))) FROM t",
    ]),
  )("stop a query that uses too much memory: %s", async (sql) => {
    const here = await enter({ memory: 250 });
    await expect(ask(here, sql)).rejects.toMatchObject({ kind: "too_large" });
    expect(await rowsOf(here, "SELECT 1")).toEqual([[1]]);
  });

  const MANY = `CREATE TABLE many AS WITH RECURSIVE t(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM t WHERE n < 30000)
    SELECT n, CASE WHEN n % 1000 = 0 THEN hex(zeroblob(300)) ELSE 'line' END AS x FROM t;`;
  /** Each limit alone: the answer names the limit that ended the page, and the pages are contiguous. */
  it.each(
    someOf(2, [
      ["rows", "n, x", 9_000, 10_000_000],
      ["bytes", "n, x", 10_000, 140_000],
      ["cell", "n, x || hex(zeroblob(5000))", 10_000, 200_000_000],
    ] as const),
  )(
    "of %s alone end a page, and all rows come in pages without repeats or gaps (%#)",
    async (by, columns, maxRows, budget) => {
      const here = await enter({ sql: MANY });
      const count = by === "cell" ? 900 : 30_000;
      const sql = `SELECT ${columns} FROM many WHERE n <= ${count}`;
      const seen: unknown[] = [];
      const reasons = new Set<unknown>();
      let cursor: string | undefined;
      do {
        const page = await ask(here, sql, { maxRows, cursor, budget });
        for (const [n] of page.rows ?? []) seen.push(n);
        reasons.add(page.truncated_by);
        cursor = page.next_cursor;
      } while (cursor !== undefined);
      expect(reasons).toContain(by);
      expect(seen).toEqual(Array.from({ length: count }, (_, index) => index + 1));
    },
  );

  it("of a slow statement arrive before it ends", async () => {
    const here = await enter({ timeoutMs: 8_000 });
    const slow =
      "(WITH RECURSIVE c(i) AS (SELECT n UNION ALL SELECT i + 1 FROM c WHERE i < n + 20000) SELECT max(i) FROM c)";
    const sql = `WITH RECURSIVE t(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM t WHERE n < 100000) SELECT n, ${slow} FROM t`;
    const first = await ask(here, sql, { maxRows: 3 });
    expect(first.rows?.map(([n]) => n)).toEqual([1, 2, 3]);
    const next = await ask(here, sql, { maxRows: 3, cursor: first.next_cursor });
    expect(next.rows?.map(([n]) => n)).toEqual([4, 5, 6]);
    expect(next.next_cursor).toBeDefined();
  });
});
