import { describe, expect, it } from "vitest";
import { passReading } from "./read.ts";

describe("passReading", () => {
  it.each([
    ["SELECT 1", "select"],
    ["WITH a AS (SELECT 1), b AS (TABLE a) SELECT * FROM b", "select"],
    ["(SELECT 1) UNION ALL (SELECT 2);", "select"],
    ["/* a /* nested */ comment */ SELECT ';DROP TABLE x'", "select"],
    ["SELECT $$; DROP TABLE x; $$", "select"],
    ["SHOW server_version", "show"],
    ["EXPLAIN (ANALYZE, FORMAT JSON) SELECT 1", "explain"],
    ['SELECT t.name, (t.a).b FROM "pg_read" t', "select"],
    ["SELECT o.lo_revenue, o.http_status FROM lineorder o", "select"],
  ])("accepts: %s", async (sql, kind) => {
    expect((await passReading(sql)).kind).toBe(kind);
  });

  it.each([
    ["COMMIT; DROP SCHEMA public CASCADE;", /2 statements/],
    [
      "SELECT * FROM (WITH x AS (INSERT INTO t VALUES (1) RETURNING *) SELECT 1) y",
      /INSERT is not a read-only/,
    ],
    ["SELECT * FROM (SELECT * FROM t FOR SHARE) x", /lock rows/],
    ["EXPLAIN ANALYZE CREATE TABLE x AS SELECT 1", /EXPLAIN of CREATE TABLE AS/],
    ["EXPLAIN ANALYZE EXECUTE p", /EXPLAIN of EXECUTE/],
    ["SET transaction_read_only = off", /VARIABLE SET is not/],
    ["PREPARE p AS SELECT 1", /PREPARE is not/],
    ["REFRESH MATERIALIZED VIEW v", /REFRESH MAT VIEW is not/],
    ["SELECT pg_catalog.PG_Read_File('/etc/passwd')", /pg_read_file/],
    ["SELECT U&\"pg!005fread_file\" UESCAPE '!' ('/etc/passwd')", /pg_read_file/],
    ["SELECT * FROM ROWS FROM (generate_series(1,2), pg_ls_dir('/'))", /pg_ls_dir/],
    ["SELECT * FROM t, LATERAL pg_read_binary_file(t.name)", /pg_read_binary_file/],
    [
      "SELECT count(*) FILTER (WHERE pg_read_file('x') = '') OVER (ORDER BY 1) FROM t",
      /pg_read_file/,
    ],
    ["SELECT 1 ORDER BY (SELECT pg_sleep(1) FROM lo_import('/etc/passwd'))", /lo_import/],
    ["SELECT * FROM ts_stat('SELECT pg_read_file(''x'')::tsvector')", /ts_stat/],
    ["SELECT pg_advisory_lock(1)", /pg_advisory_lock/],
    ["SELECT pg_terminate_backend(1)", /pg_terminate_backend/],
    ["SELECT * FROM PG_CATALOG.PG_SHADOW", /pg_shadow/],
    ["TABLE pg_hba_file_rules", /pg_hba_file_rules/],
  ])("refuses: %s", async (sql, message) => {
    await expect(passReading(sql)).rejects.toMatchObject({
      kind: "denied",
      message: expect.stringMatching(message),
      hint: expect.stringMatching(/\w/),
    });
  });

  it.each([
    ["", /no statement/],
    [" ; -- nothing", /no statement/],
    ["SELECT 'a\0b'", /NUL/],
    ["SELECT '\ud800'", /surrogate/],
    ["SELECT ' FROM t", /unterminated quoted string.*position 8/],
    ["SELCT 1", /syntax error at or near "SELCT" \(SQLSTATE 42601, position 1: "»SELCT 1"\)/],
    ["SELECT 'ü' FRO x y", /near "x".*position 16: "SELECT 'ü' FRO »x y"/],
  ])("explains what is wrong with %j", async (sql, message) => {
    await expect(passReading(sql)).rejects.toMatchObject({
      kind: "invalid",
      message: expect.stringMatching(message),
    });
  });

  it("refuses statements nested too deeply to check, and works afterwards", async () => {
    for (const sql of [
      `SELECT 1${"+1".repeat(200_000)}`,
      `SELECT ${"(".repeat(200_000)}1${")".repeat(200_000)}`,
      `SELECT ${"(SELECT ".repeat(20_000)}1${")".repeat(20_000)}`,
      `SELECT ${"x".repeat(1_000_001)}`,
    ]) {
      await expect(passReading(sql)).rejects.toThrow(
        /nested too deeply|memory exhausted|characters/,
      );
      expect((await passReading("SELECT 1")).kind).toBe("select");
    }
  });
});
