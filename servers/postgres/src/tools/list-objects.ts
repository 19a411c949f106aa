import { cursorsOf, JsonText } from "@refmcp/boundary/answer";
import * as fields from "@refmcp/core/fields";
import { pageOf } from "@refmcp/sql/tools";
import * as z from "zod";
import { database, tool } from "../context.ts";
import { KINDS, listedObject, listObjects, READABLE } from "../database/reading/objects.ts";

const place = z.tuple([z.string(), z.string(), z.string()]);

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
  async run({ kinds, schema, query, detail, limit, cursor, database: name }, postgres, call) {
    const at = postgres.at(name);
    const cursors = cursorsOf("pg_list_objects", [kinds, schema, query, detail, at.name], place);
    const after = cursors.decode(cursor);
    const filter = { kinds, schema, query, detail, limit, after };
    const { objects, more: isMore } = await listObjects(at, filter, { signal: call.signal });
    const { page, ...next } = pageOf(objects, { limit, budget: call.budget - 500, isMore }, (last) => {
      const { schema = "", kind = "", name = "" } = objects[last] ?? {};
      return cursors.encode([schema, kind, name]);
    });
    return new JsonText(JSON.stringify({ objects: page, ...next }));
  },
});
