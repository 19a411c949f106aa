import { toolFor } from "@refmcp/core";
import * as fields from "@refmcp/core/fields";
import * as z from "zod";
import { describeTables } from "../answer/relations.ts";
import type { Databases, Kind } from "../databases.ts";
import { database, schema, table } from "./fields.ts";

export const describeTool = (kind: Kind) =>
  toolFor<Databases>()({
    name: kind.names.describe,
    title: "Describe tables",
    description:
      "Get columns, types and keys of all tables, or of those with a matching name or column; with table, everything about one. Views without match or column: only names. (…) after a type: allowed values; seen: some values in rows; rows are estimates.",
    effect: "read",
    openWorld: false,
    aliases: kind.aliases.describe ?? [],
    argumentAliases: { table_name: "table", query: "match" },
    input: z.strictObject({
      table: table.optional().describe("One table or view, in full."),
      match: z.string().max(200).optional().describe("Part of a table name."),
      column: z
        .string()
        .max(200)
        .optional()
        .describe("Part of a column name, for example email: shows only matching columns."),
      ...schema(kind),
      detail: z
        .enum(["names", "concise", "full"])
        .optional()
        .describe(
          "names: of all tables; concise: a line for each column; full: keys in both directions, indexes, triggers, definition. Default: concise, for one table full.",
        ),
      limit: fields.limit(500, 5_000),
      cursor: fields.cursor,
      database: database(kind),
    }),
    output: z.object({
      tables: z
        .array(
          z.looseObject({
            table: z.string(),
            type: z.string(),
            columns: z.array(z.unknown()).optional(),
          }),
        )
        .optional(),
      /** By schema and type. */
      names: z.record(z.string(), z.record(z.string(), z.array(z.string()))).optional(),
      next_cursor: fields.nextCursor,
    }),
    async run({ database: name, ...asked }, databases, call) {
      return await describeTables(databases, await databases.at(name), asked, call);
    },
  });
