import { cursorsOf, fitting, JsonText } from "@refmcp/boundary/answer";
import * as fields from "@refmcp/core/fields";
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
    const { objects, more } = await listObjects(
      at,
      { kinds, schema, query, detail, limit, after },
      { signal: call.signal },
    );
    const shown = objects.slice(0, fitting(objects, call.budget - 500));
    const last = shown.at(-1);
    const isMore = last !== undefined && (more || shown.length < objects.length);
    const next_cursor = isMore ? cursors.encode([last.schema, last.kind, last.name]) : undefined;
    return new JsonText(JSON.stringify({ objects: shown, next_cursor }));
  },
});
