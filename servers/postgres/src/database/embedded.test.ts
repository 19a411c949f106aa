import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { talk } from "../../test/session.ts";

describe("--embedded", { timeout: 120_000 }, () => {
  it("answers, changes, describes, cuts, stops what does not end, and keeps its data in a directory", async () => {
    const folder = await mkdtemp(join(tmpdir(), "refmcp-embedded-"));
    const args = ["--embedded-dir", join(folder, "data"), "--allow-write", "--root", folder];
    const first = await talk(args);
    await first.data("pg_execute", {
      statements: [
        "CREATE TABLE notes (id int PRIMARY KEY, text text NOT NULL)",
        "INSERT INTO notes SELECT n, 'note ' || n FROM generate_series(1, 1000) n",
      ],
    });
    expect(
      await first.data("query", { sql: "SELECT text FROM notes WHERE id = $1", params: [7] }),
    ).toMatchObject({
      rows: [["note 7"]],
    });
    const seen: unknown[] = [];
    let cursor: unknown;
    do {
      const page = await first.data("query", {
        sql: "SELECT id FROM notes ORDER BY id",
        ...(cursor === undefined ? {} : { cursor }),
      });
      if (Array.isArray(page.rows)) seen.push(...page.rows.map(([id]) => id));
      cursor = page.next_cursor;
    } while (cursor !== undefined);
    expect(seen).toEqual(Array.from({ length: 1000 }, (_, index) => index + 1));
    expect(await first.data("pg_describe_table", { table: "notes" })).toMatchObject({ primary_key: ["id"] });
    expect(await first.data("pg_export", { sql: "SELECT * FROM notes", path: "notes.csv" })).toMatchObject({
      rows: 1000,
    });
    for (const sql of [
      "COMMIT; DROP TABLE notes",
      "SELECT pg_read_file('/etc/passwd')",
      "SELECT nme FROM notes",
    ])
      expect((await first.call("query", { sql })).isError).toBe(true);
    // Three at once on its one session.
    const three = await Promise.all([1, 2, 3].map((n) => first.data("query", { sql: `SELECT ${n}` })));
    expect(three.map(({ rows }) => rows)).toEqual([[[1]], [[2]], [[3]]]);
    const endless = await first.call("query", {
      sql: "SELECT count(*) FROM generate_series(1, 1000000000) n",
      timeout_ms: 1_000,
    });
    expect(endless).toMatchObject({ isError: true, text: expect.stringContaining("Stopped after 1 s") });
    expect((await first.data("query", { sql: "SELECT count(*) FROM notes" })).rows).toEqual([[1000]]);
    await first.close();

    const second = await talk(args);
    expect((await second.data("query", { sql: "SELECT count(*) FROM notes" })).rows).toEqual([[1000]]);
    await second.close();
    await rm(folder, { recursive: true, force: true });
  });
});
