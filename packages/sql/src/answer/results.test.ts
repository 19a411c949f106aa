import { describe, expect, it } from "vitest";
import { ROW_COST } from "./formats.ts";
import { type Ahead, type Question, ResultStore, type ResultWindow } from "./results.ts";

/** A result of numbered rows behind a store, and how often and how far it was read. */
function source(count: number, width = 10) {
  const rows = Array.from({ length: count }, (_, at) => `["${String(at).padStart(width, "0")}"]`);
  const reads: Ahead[] = [];
  const read = async (ahead: Ahead) => {
    reads.push(ahead);
    const pieces: string[] = [];
    let chars = 0;
    for (let at = ahead.skip; at < rows.length && chars < ahead.chars; at++) {
      pieces.push(rows[at] ?? "");
      chars += (rows[at] ?? "").length + ROW_COST;
    }
    const more = ahead.skip + pieces.length < rows.length;
    return { columns: [], pieces, cuts: new Set([1]), before: rows[ahead.skip - 1], more };
  };
  return { rows, reads, read };
}

type Read = (ahead: Ahead) => Promise<ResultWindow>;

const request = (
  read: Read,
  { maxRows = 100, ...more }: Partial<Question> & { maxRows?: number } = {},
) =>
  [
    "query",
    {
      sql: "SELECT 1",
      params: [],
      database: "main",
      format: "rows",
      budget: 20_000,
      ...more,
    },
    { rows: maxRows, bytes: 262_144 },
    read,
  ] as const;

async function all(
  store: ResultStore,
  [tool, question, limits, read]: ReturnType<typeof request>,
  between = () => {},
) {
  const seen: string[] = [];
  let cursor: string | undefined;
  let pages = 0;
  do {
    const page = JSON.parse(await store.page(tool, { ...question, cursor }, limits, read));
    seen.push(...page.rows.map((row: unknown[]) => JSON.stringify(row)));
    cursor = page.next_cursor;
    pages += 1;
    between();
  } while (cursor !== undefined);
  return { seen, pages };
}

describe("a result store", () => {
  it("serves all pages of a small result from one read and one snapshot", async () => {
    const store = new ResultStore(1_000_000);
    const { rows, reads, read } = source(950);
    const whole = [...rows];
    const { seen, pages } = await all(store, request(read), () => rows.reverse());
    expect(seen).toEqual(whole);
    expect(pages).toBe(10);
    expect(reads).toHaveLength(1);
  });

  it.each([1, 99, 100, 101, 949, 950, 951])(
    "joins without a repeat or a gap, %i rows each",
    async (maxRows) => {
      const { rows, read } = source(950);
      expect((await all(new ResultStore(1_000_000), request(read, { maxRows }))).seen).toEqual(
        rows,
      );
    },
  );

  it("reads a large result in windows", async () => {
    const { rows, reads, read } = source(30_000);
    const { seen } = await all(new ResultStore(600_000), request(read, { maxRows: 10_000 }));
    expect(seen).toEqual(rows);
    expect(reads.length).toBeLessThan(8);
    expect(reads[0]?.skip).toBe(0);
  });

  it("reads again if nothing is kept, and detects a change before the cursor", async () => {
    const store = new ResultStore(1_000_000);
    const { rows, reads, read } = source(950);
    expect((await all(store, request(read), () => store.clear())).seen).toEqual(rows);
    expect(reads).toHaveLength(10);
    const { next_cursor: cursor } = JSON.parse(await store.page(...request(read)));
    store.clear();
    rows.splice(5, 1);
    await expect(store.page(...request(read, { cursor }))).rejects.toMatchObject({
      kind: "conflict",
    });
    rows.length = 0;
    await expect(store.page(...request(read, { cursor }))).rejects.toMatchObject({
      kind: "conflict",
    });
  });

  it("serves a cursor twice, and refuses a cursor of another query", async () => {
    const store = new ResultStore(1_000_000);
    const { reads, read } = source(950);
    const { next_cursor: cursor } = JSON.parse(await store.page(...request(read)));
    const page = async () => JSON.parse(await store.page(...request(read, { cursor }))).rows;
    expect(await page()).toEqual(await page());
    expect(reads).toHaveLength(1);
    await expect(store.page(...request(read, { cursor, sql: "SELECT 2" }))).rejects.toMatchObject({
      kind: "invalid",
    });
  });

  it("stays within its memory limit, and drops the least recently used result", async () => {
    const store = new ResultStore(110_000);
    const sources = [source(950), source(950), source(950)];
    const cursors: string[] = [];
    for (const { read } of sources)
      cursors.push(
        JSON.parse(await store.page(...request(read, { params: [cursors.length] }))).next_cursor,
      );
    for (const [at, { read }] of sources.entries())
      await store.page(...request(read, { params: [at], cursor: cursors[at] }));
    expect(sources.map(({ reads }) => reads.length)).toEqual([2, 2, 2]);
    const { reads, read } = source(950);
    const page = JSON.parse(await store.page(...request(read)));
    await store.page(...request(read, { cursor: page.next_cursor }));
    expect(reads).toHaveLength(1);
  });

  it("returns one row of any size, and reports truncated values", async () => {
    const { rows, read } = source(3, 50_000);
    const store = new ResultStore(1_000_000);
    const { seen, pages } = await all(store, request(read));
    expect([seen, pages]).toEqual([rows, 3]);
    const page = JSON.parse(await store.page(...request(source(3).read)));
    expect(page).toMatchObject({ truncated: true, truncated_by: "cell" });
  });
});
