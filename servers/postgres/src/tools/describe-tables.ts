import * as fields from "@refmcp/core/fields";
import { describeTablesTool } from "@refmcp/sql/tools";
import * as z from "zod";
import { database, tool } from "../context.ts";
import { describeTables } from "../database/reading/describe.ts";

export default tool({
  ...describeTablesTool,
  name: "pg_describe_tables",
  description:
    "Get columns, types and keys of all tables, or of those with a matching name or column. rows are estimates; seen lists common values, not all. For one table in full call pg_describe_table.",
  toolset: "data",
  input: z.strictObject({
    query: z.string().optional().describe("Part of a table name, case-insensitive."),
    column: z
      .string()
      .optional()
      .describe("Part of a column name, for example email: shows only matching columns."),
    schema: z.string().optional().describe("Only this schema; system schemas only when named."),
    detail: z
      .enum(["concise", "full"])
      .default("concise")
      .describe("full adds defaults, comments and indexes. (…) after a type: allowed values."),
    limit: fields.limit(500, 5_000),
    cursor: fields.cursor,
    database,
  }),
  run: ({ database: name, ...input }, postgres, { budget, signal }) =>
    describeTables(postgres.at(name), { ...input, budget }, { signal }),
});
