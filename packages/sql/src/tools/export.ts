import { pathToFileURL } from "node:url";
import { toolFor, withLinks } from "@refmcp/core";
import * as z from "zod";
import type { Databases, Kind } from "../databases.ts";
import { exportRows } from "../files/export.ts";
import { database, offered, params, path, statement } from "./fields.ts";

export const exportTool = (kind: Kind) =>
  toolFor<Databases>()({
    name: kind.names.export,
    title: "Save rows to a file",
    description: `Write all rows of a SELECT to a new CSV file with a header line, however many there are. The file is created complete or not at all; nothing is overwritten. To see some rows call ${kind.names.query}.`,
    effect: "add",
    openWorld: false,
    aliases: kind.aliases.export ?? [],
    argumentAliases: { query: "sql" },
    input: z.strictObject({
      sql: statement("SELECT * FROM users"),
      ...offered(kind.exportsParams, { params: params(kind).optional() }),
      path: path("New file"),
      database: database(kind),
    }),
    output: z.object({ path: z.string(), rows: z.number(), bytes: z.number() }),
    async run({ params = [], ...asked }, databases, call) {
      const { path, rows, bytes } = await exportRows(databases, { ...asked, params }, call);
      const file = { uri: pathToFileURL(path).href, name: path, mimeType: "text/csv", size: bytes };
      return withLinks({ path, rows, bytes }, [file]);
    },
  });
