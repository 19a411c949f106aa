import { JsonText } from "@refmcp/boundary/answer";
import { queryArguments, queryTool } from "@refmcp/sql/tools";
import * as z from "zod";
import { database, params, timeoutMs, tool } from "../context.ts";
import { readPage } from "../database/reading/reading.ts";

const { max_rows, cursor, ...answer } = queryArguments;

export default tool({
  ...queryTool,
  name: "query",
  title: "Query",
  description:
    "Run one read-only SQL statement: SELECT, WITH, VALUES, TABLE, SHOW or EXPLAIN. " +
    "It runs in a read-only transaction that is rolled back. For changes see pg_execute, for many rows pg_export.",
  argumentAliases: { query: "sql" },
  toolset: "data",
  input: z.strictObject({
    sql: z.string().describe("One statement: SELECT name FROM users WHERE id = $1."),
    params,
    max_rows,
    cursor,
    timeout_ms: timeoutMs,
    ...answer,
    database,
  }),
  async run({ max_rows: maxRows, timeout_ms: timeoutMs, ...input }, postgres, call) {
    const { budget, signal } = call;
    return new JsonText(await readPage(postgres, { ...input, maxRows, timeoutMs, budget, signal }));
  },
});
