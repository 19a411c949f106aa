import { JsonText } from "@refmcp/boundary/answer";
import * as fields from "@refmcp/core/fields";
import * as z from "zod";
import { database, tool } from "../context.ts";
import { KINDS, listedObject, listObjects, READABLE } from "../database/reading/objects.ts";

export default tool({
  name: "pg_list_objects",
  title: "List objects",
  description:
    "List what is in the database: tables, views, functions, types, extensions, schemas, with sizes. " +
    "rows are estimates. For columns and keys of one table call pg_describe_table.",
  effect: "read",
  openWorld: false,
  toolset: "data",
  input: z.strictObject({
    kinds: z.array(z.enum(KINDS)).min(1).max(KINDS.length).default(READABLE).describe("What to list."),
    schema: z.string().optional().describe("Only this schema; system schemas only when named."),
    query: z.string().optional().describe("Part of the name, case-insensitive."),
    detail: z.enum(["names", "full"]).default("full").describe("names omits sizes, estimates and comments."),
    limit: fields.limit(100, 1_000),
    cursor: fields.cursor,
    database,
  }),
  output: z.object({
    objects: z.array(listedObject),
    next_cursor: fields.nextCursor,
  }),
  run: async ({ database: name, ...input }, postgres, { budget, signal }) =>
    new JsonText(
      JSON.stringify(await listObjects(postgres.at(name), { ...input, budget: budget - 500 }, { signal })),
    ),
});
