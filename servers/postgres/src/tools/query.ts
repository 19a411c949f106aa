import { JsonText } from "@refmcp/core/answer";
import * as fields from "@refmcp/core/fields";
import { FORMATS, queryOutput, STANDARD_ROWS } from "@refmcp/sql";
import * as z from "zod";
import { database, params, remarks, timeoutMs, tool } from "../context.ts";
import { withNearNames } from "../database/reading/near.ts";
import { readAhead } from "../database/reading/reading.ts";

export default tool({
  name: "query",
  title: "Query",
  description:
    "Run one read-only SQL statement: SELECT, WITH, VALUES, TABLE, SHOW or EXPLAIN. " +
    "It runs in a read-only transaction that is rolled back. For changes see pg_execute, for many rows pg_export.",
  effect: "read",
  openWorld: false,
  argumentAliases: { query: "sql" },
  toolset: "data",
  input: z.strictObject({
    sql: z.string().describe("One statement: SELECT name FROM users WHERE id = $1."),
    params,
    max_rows: z.int().min(1).max(10_000).default(STANDARD_ROWS).describe("Rows at most, 1 to 10000."),
    cursor: fields.cursor,
    timeout_ms: timeoutMs,
    format: z.enum(FORMATS).default("rows").describe("rows: arrays in the order of columns."),
    database,
  }),
  output: queryOutput,
  async run({ sql, params, max_rows, cursor, timeout_ms, format, database: name }, postgres, call) {
    const { database } = postgres.at(name);
    const { maxRows, maxBytes, maxCellBytes: cellBytes } = postgres.limits;
    const work = { signal: call.signal, timeoutMs: timeout_ms };
    const text = await postgres.results.page({
      list: "query",
      query: [sql, params, database.name, format],
      cursor,
      format,
      maxRows: Math.min(max_rows, maxRows),
      maxBytes,
      budget: call.budget,
      async read(ahead) {
        const window = await readAhead(database, { ...work, sql, params, format, cellBytes }, ahead).catch(
          async (error: unknown) => {
            throw await withNearNames(error, database, sql, work);
          },
        );
        return { ...window, notices: remarks(window.notices ?? []) };
      },
    });
    return new JsonText(text);
  },
});
