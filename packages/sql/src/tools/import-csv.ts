import { toolFor } from "@refmcp/core";
import * as z from "zod";
import type { Databases, Kind } from "../databases.ts";
import { importCsv } from "../files/import.ts";
import { database, dryRun, path, schema, table } from "./fields.ts";

export const importTool = (kind: Kind) =>
  toolFor<Databases>()({
    name: kind.names.importCsv,
    title: "Import CSV",
    description: `Add the rows of a CSV file to an existing table, all or none. The first line names the columns; an empty field is NULL, a quoted empty field is an empty string. To create the table call ${kind.names.execute}.`,
    effect: "add",
    openWorld: false,
    needs: "allowWrite",
    aliases: kind.aliases.importCsv ?? [],
    argumentAliases: { table_name: "table" },
    input: z.strictObject({
      path: path("CSV file"),
      table: table.describe(`Table to add to, as ${kind.names.describe} shows it.`),
      ...schema(kind),
      delimiter: z.string().length(1).default(",").describe("Field separator: , or ; or a tab."),
      dry_run: dryRun("Load, report, and roll back."),
      database: database(kind),
    }),
    output: z.object({
      table: z.string(),
      columns: z.array(z.string()),
      rows: z.number(),
      bytes: z.number(),
      committed: z.boolean(),
      change_id: z.string().optional(),
      note: z.string().optional(),
    }),
    run: ({ dry_run: dryRun, ...asked }, databases, call) =>
      importCsv(databases, { ...asked, dryRun }, call),
  });
