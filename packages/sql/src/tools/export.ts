import { pathToFileURL } from "node:url";
import { toolFor, withLinks } from "@refmcp/core";
import * as z from "zod";
import { EXPORT_FORMATS } from "../answer/formats.ts";
import type { Databases } from "../databases.ts";
import { exportRows } from "../files/export.ts";
import type { Kind } from "../kind.ts";
import { database, offered, params, path, statement } from "./fields.ts";

export const exportTool = (kind: Kind) =>
  toolFor<Databases>()({
    name: kind.names.export,
    title: "Save rows to a file",
    description: `Write all rows of a SELECT to a new file, however many there are. The file is created complete or not at all; nothing is overwritten. To see some rows call ${kind.names.query}.`,
    effect: "add",
    openWorld: false,
    aliases: kind.aliases.export ?? [],
    argumentAliases: { query: "sql" },
    input: z.strictObject({
      sql: statement("SELECT * FROM users"),
      ...offered(kind.exportsParams, { params: params(kind).optional() }),
      path: path("New file"),
      format: z.enum(EXPORT_FORMATS).default("csv").describe("csv with a header line, or jsonl."),
      database: database(kind),
    }),
    output: z.object({ path: z.string(), format: z.string(), rows: z.number(), bytes: z.number() }),
    async run({ params = [], ...asked }, databases, call) {
      const { path, rows, bytes } = await exportRows(databases, { ...asked, params }, call);
      const mimeType = asked.format === "csv" ? "text/csv" : "application/jsonl";
      return withLinks({ path, format: asked.format, rows, bytes }, [
        { uri: pathToFileURL(path).href, name: path, mimeType, size: bytes },
      ]);
    },
  });
