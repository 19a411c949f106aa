import * as fields from "@refmcp/core/fields";
import { queryOutput, STANDARD_ROWS } from "@refmcp/sql";
import { charted, chartInput, formatInput, writtenFormat } from "@refmcp/sql/charted";
import * as z from "zod";
import { database, params, timeoutMs, tool } from "../context.ts";
import { readPage } from "../database/reading/page.ts";

export default tool({
  name: "query",
  title: "Query",
  description:
    "Run one read-only SQL statement: SELECT, WITH, VALUES, TABLE, SHOW or EXPLAIN. " +
    "It runs in a read-only transaction that is rolled back. For changes see pg_execute, for many rows pg_export.",
  effect: "read",
  openWorld: false,
  view: "rows",
  argumentAliases: { query: "sql" },
  toolset: "data",
  input: z.strictObject({
    sql: z.string().describe("One statement: SELECT name FROM users WHERE id = $1."),
    params,
    max_rows: z.int().min(1).max(10_000).default(STANDARD_ROWS).describe("Maximum rows, 1 to 10000."),
    cursor: fields.cursor,
    timeout_ms: timeoutMs,
    format: formatInput,
    chart: chartInput,
    database,
  }),
  output: queryOutput,
  async run({ sql, params, max_rows, cursor, timeout_ms, format, chart, database }, postgres, call) {
    const text = await readPage(postgres, {
      sql,
      params,
      database,
      maxRows: max_rows,
      cursor,
      timeoutMs: timeout_ms,
      format: writtenFormat(format),
      budget: call.budget,
      signal: call.signal,
    });
    return await charted(text, format, chart);
  },
});
