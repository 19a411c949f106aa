import * as fields from "@refmcp/core/fields";
import { outlineOutput } from "@refmcp/sql";
import * as z from "zod";
import { database, tool } from "../context.ts";
import { outline } from "../database/reading/outline.ts";

export default tool({
  name: "pg_describe_tables",
  title: "Describe tables",
  description:
    "Describe all tables at once, or those with a matching name or column: columns, types, primary and foreign keys. rows are estimates. For one table with constraints, triggers and policies call pg_describe_table.",
  effect: "read",
  openWorld: false,
  toolset: "data",
  input: z.strictObject({
    query: z.string().optional().describe("Part of a table name, case-insensitive."),
    column: z.string().optional().describe("Part of a column name: shows only matching columns."),
    schema: z.string().optional().describe("Only this schema; system schemas only when named."),
    detail: z
      .enum(["concise", "full"])
      .default("concise")
      .describe("full adds defaults, comments and indexes."),
    limit: fields.limit(500, 5_000),
    cursor: fields.cursor,
    database,
  }),
  output: outlineOutput,
  run: ({ database: name, ...input }, postgres, { budget, signal }) =>
    outline(postgres.at(name), { ...input, budget }, { signal }),
});
