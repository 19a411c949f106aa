import * as fields from "@refmcp/core/fields";
import { describeTablesTool } from "@refmcp/sql/tools";
import * as z from "zod";
import { database, tool } from "../context.ts";
import { describeTables } from "../database/reading/describe.ts";

export default tool({
  ...describeTablesTool,
  name: "describe_tables",
  description:
    "Get columns, types and keys of all tables, or of those with a matching name or column. seen lists some values found in rows, not all. For DDL, triggers and sample rows call describe_table.",
  input: z.strictObject({
    query: z.string().max(200).optional().describe("Part of a table name, case-insensitive."),
    column: z
      .string()
      .max(200)
      .optional()
      .describe("Part of a column name; only matching columns are shown."),
    detail: z
      .enum(["concise", "full"])
      .default("concise")
      .describe("full adds defaults and indexes. (…) after a type: allowed values."),
    limit: fields.limit(500, 5_000),
    cursor: fields.cursor,
    database,
  }),
  run: (input, databases, { budget, signal }) =>
    describeTables({ ...input, databases, budget, signal }),
});
