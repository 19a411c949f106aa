import * as fields from "@refmcp/core/fields";
import { queryOutput } from "@refmcp/sql";
import { charted, chartInput, formatInput, writtenFormat } from "@refmcp/sql/charted";
import * as z from "zod";
import { database, params, statement, tool } from "../context.ts";
import { query as ask } from "../database/reading/query.ts";

export default tool({
  name: "read_query",
  title: "Read query",
  description:
    "Run one SELECT and get its rows, typed and bounded. WITH, VALUES, EXPLAIN and read-only PRAGMAs also work. Pass values as params. For changes call write_query.",
  effect: "read",
  openWorld: false,
  view: "rows",
  argumentAliases: { sql: "query" },
  input: z.strictObject({
    query: statement("SELECT name FROM users WHERE id = ?"),
    params,
    database,
    max_rows: z.int().min(1).max(10_000).default(200).describe("Maximum rows, 1 to 10000."),
    timeout_ms: fields.timeoutMs(30_000, 3_600_000),
    cursor: fields.cursor,
    format: formatInput,
    chart: chartInput,
  }),
  output: queryOutput,
  run: async (
    { query, params, database, max_rows, timeout_ms, cursor, format, chart },
    databases,
    { budget, signal },
  ) =>
    charted(
      await ask(databases, {
        sql: query,
        params,
        database,
        maxRows: max_rows,
        timeoutMs: timeout_ms,
        cursor,
        format: writtenFormat(format),
        budget,
        signal,
      }),
      format,
      chart,
    ),
});
