import { describe, expect, it } from "vitest";
import type { Page } from "../database.ts";
import { encodeRow, rowWriter } from "./formats.ts";
import { readPage } from "./results.ts";

describe("formats", () => {
  it.each([
    [null, undefined, true, false],
    [0, -0, 1.5, Number.NaN, Number.POSITIVE_INFINITY, 5e-324, 1e300],
    [2n ** 53n, 2n ** 53n - 1n, -(2n ** 53n), -(2n ** 53n) + 1n, 0n],
    ["", "\ud800", "\u2028\0", "é".repeat(50), "x".repeat(64), "x".repeat(65)],
    [Buffer.from("ab"), Buffer.alloc(2_000), { a: ["x".repeat(100)] }, [1, [Buffer.from("c")]]],
  ])("write rows as JSON.stringify would write their encoded values: %#", (...row) => {
    const cut = { count: 0 };
    const encoded = encodeRow(row, 64, { count: 0 });
    const [a, b] = [{ count: 0 }, cut];
    encodeRow(row, 64, a);
    expect(rowWriter("rows", 64)(row, b)).toBe(JSON.stringify(encoded));
    expect(b).toEqual(a);
  });
});

it("a page has at least one row, says what is missing, and continues only where it ended", async () => {
  const rows = Array.from({ length: 9 }, (_, at) => `[${at},"${"x".repeat(100)}"]`);
  let now = rows;
  const read = async (_question: unknown, { skip, rows: count }: Page) => ({
    columns: [{ name: "a", type: "" }],
    pieces: now.slice(skip, skip + count),
    cuts: new Set([0]),
    before: skip > 0 ? now[skip - 1] : undefined,
    more: skip + count < now.length,
  });
  const kind = { names: { query: "query" } };
  const databases = { kind, at: async () => ({ name: "main", read }) } as never;
  const { signal } = new AbortController();
  const page = async (cursor?: string, budget = 5_000, maxRows = 4) =>
    JSON.parse(
      await readPage(databases, { sql: "q", params: [], cursor, maxRows, budget, signal }),
    );
  const first = await page();
  expect(first).toMatchObject({
    row_count: 4,
    truncated_by: "rows",
    notices: [
      "4 rows, and there are more. Continue with next_cursor, or narrow the query with WHERE.",
      "Long values were truncated; read the rest with substr(column, n, m).",
    ],
  });
  const second = await page(first.next_cursor, 900);
  expect(second).toMatchObject({ row_count: 2, truncated_by: "bytes" });
  expect((await page(second.next_cursor, 10)).rows).toEqual([JSON.parse(rows[6] ?? "")]);
  now = rows.slice(1);
  await expect(page(second.next_cursor)).rejects.toMatchObject({ kind: "conflict" });
});
