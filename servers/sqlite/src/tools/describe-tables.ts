import * as fields from "@refmcp/core/fields";
import { describeTablesTool } from "@refmcp/sql/tools";
import * as z from "zod";
import { database, tool } from "../context.ts";
import { describeTables } from "../database/reading/describe.ts";

export default tool({
  ...describeTablesTool,
  name: "describe_tables",
  description:
    "Describe all tables at once, or those with a matching name or column: columns, types, primary and foreign keys. Allowed values follow the type in parentheses; seen lists some found in rows, there may be others. For one table with its DDL, triggers and sample rows call describe_table.",
  input: z.strictObject({
    query: z.string().max(200).optional().describe("Part of a table name, case-insensitive."),
    column: z
      .string()
      .max(200)
      .optional()
      .describe("Part of a column name; only matching columns are shown."),
    detail: z.enum(["concise", "full"]).default("concise").describe("full adds defaults and indexes."),
    limit: fields.limit(500, 5_000),
    cursor: fields.cursor,
    database,
  }),
  run: (input, databases, { budget, signal }) => describeTables({ ...input, databases, budget, signal }),
});
