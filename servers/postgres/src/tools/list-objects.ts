import { JsonText } from "@refmcp/boundary/answer";
import * as fields from "@refmcp/core/fields";
import * as z from "zod";
import { database, tool } from "../context.ts";
import {
  KINDS,
  listedNames,
  listedObject,
  listObjects,
  namesOf,
  READABLE,
} from "../database/reading/objects.ts";

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
    kinds: z
      .array(z.enum(KINDS))
      .min(1)
      .max(KINDS.length)
      .default(READABLE)
      .describe("What to list; by default tables and views."),
    schema: z.string().optional().describe("Only this schema; system schemas only when named."),
    query: z.string().optional().describe("Part of the name, for example user; case-insensitive."),
    detail: z
      .enum(["names", "full"])
      .default("full")
      .describe("full, or only names by schema and kind."),
    limit: z
      .int()
      .min(1)
      .max(1_000)
      .optional()
      .describe("Maximum objects, 1 to 1000. Default: 100; names: 1000."),
    cursor: fields.cursor,
    database,
  }),
  output: z.object({
    objects: z.array(listedObject).optional(),
    names: listedNames.optional(),
    next_cursor: fields.nextCursor,
  }),
  async run(
    { database: name, detail, limit = detail === "names" ? 1_000 : 100, ...input },
    postgres,
    call,
  ) {
    const asked = { ...input, detail, limit, budget: call.budget - 500 };
    const { objects, ...next } = await listObjects(postgres.at(name), asked, {
      signal: call.signal,
    });
    return new JsonText(
      JSON.stringify({
        ...(detail === "names" ? { names: namesOf(objects) } : { objects }),
        ...next,
      }),
    );
  },
});
