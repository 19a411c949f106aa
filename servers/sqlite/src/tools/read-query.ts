import { JsonText } from "@refmcp/boundary/answer";
import * as fields from "@refmcp/core/fields";
import { queryArguments, queryTool } from "@refmcp/sql/tools";
import * as z from "zod";
import { database, params, statement, tool } from "../context.ts";
import { query } from "../database/reading/query.ts";

const { max_rows, ...answer } = queryArguments;

export default tool({
  ...queryTool,
  name: "read_query",
  title: "Read query",
  description:
    "Run one SELECT and get its rows, typed and bounded. WITH, VALUES, EXPLAIN and read-only PRAGMAs also work. Pass values as params. For changes call write_query.",
  argumentAliases: { sql: "query" },
  input: z.strictObject({
    query: statement("SELECT name FROM users WHERE id = ?"),
    params,
    database,
    max_rows,
    timeout_ms: fields.timeoutMs(30_000, 3_600_000),
    ...answer,
  }),
  async run({ query: sql, max_rows: maxRows, timeout_ms: timeoutMs, ...input }, databases, call) {
    const { budget, signal } = call;
    const question = { ...input, sql, maxRows, timeoutMs, budget, signal };
    return new JsonText(await query(databases, question));
  },
});
