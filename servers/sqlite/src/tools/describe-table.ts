import { describeTableTool } from "@refmcp/sql/tools";
import * as z from "zod";
import { database, tool } from "../context.ts";
import { describeTable } from "../database/reading/describe.ts";

const reference = z.object({
  table: z.string(),
  columns: z.array(z.string()),
  references: z.array(z.string()).optional(),
  on_delete: z.string().optional(),
});

export default tool({
  ...describeTableTool,
  name: "describe_table",
  description:
    "Get one table or view in full: columns, keys in both directions, indexes, triggers, DDL and its first rows. Rows are counted up to 100,000. For the names of tables call list_tables.",
  argumentAliases: { table: "table_name" },
  input: z.strictObject({
    table_name: z
      .string()
      .min(1)
      .max(1_000)
      .describe("Name of a table or view as list_tables shows it."),
    database,
  }),
  output: z.object({
    table: z.string(),
    type: z.string(),
    row_count: z.number().optional(),
    more_rows: z.boolean().optional(),
    without_rowid: z.boolean().optional(),
    strict: z.boolean().optional(),
    columns: z.array(
      z.object({
        name: z.string(),
        type: z.string(),
        /** What a CHECK allows. */
        allowed: z.string().optional(),
        check: z.string().optional(),
        /** Values found in rows; there may be others. */
        seen: z.string().optional(),
        not_null: z.boolean(),
        default: z.string().optional(),
        primary_key: z.number().optional(),
        generated: z.boolean().optional(),
      }),
    ),
    foreign_keys: z.array(reference),
    referenced_by: z.array(reference),
    indexes: z.array(
      z.object({
        name: z.string(),
        unique: z.boolean(),
        columns: z.array(z.string()),
        ddl: z.string().optional(),
      }),
    ),
    triggers: z.array(z.string()),
    ddl: z.string(),
    sample: z.array(z.array(z.unknown())).optional(),
    notices: z.array(z.string()).optional(),
  }),
  run: ({ table_name, database }, databases, { budget, signal }) =>
    describeTable({ databases, database, signal }, table_name, budget),
});
