import { describeTableTool } from "@refmcp/sql/tools";
import * as z from "zod";
import { database, schema, tool } from "../context.ts";
import { boundedDescription, describeTable } from "../database/reading/describe.ts";

export default tool({
  ...describeTableTool,
  name: "pg_describe_table",
  description:
    "Get one table or view: columns, keys in both directions, constraints, indexes, triggers, row security, partitions. Has all that a query needs. To see what exists call pg_list_objects.",
  argumentAliases: { table_name: "table" },
  toolset: "data",
  input: z.strictObject({
    table: z.string().min(1).describe("Name, or schema.name; case-sensitive."),
    schema,
    database,
  }),
  output: z.looseObject({
    schema: z.string(),
    table: z.string(),
    type: z.string(),
    columns: z.array(z.looseObject({ name: z.string(), type: z.string() })),
  }),
  async run({ table, schema, database: name }, postgres, call) {
    const at = postgres.at(name);
    const description = await describeTable(at, table, schema, { signal: call.signal });
    return boundedDescription(description, call.budget);
  },
});
