import { pathToFileURL } from "node:url";
import { withLinks } from "@refmcp/core";
import * as z from "zod";
import { database, params, path, statement, tool } from "../context.ts";
import { EXPORT_FORMATS } from "../database/connection/protocol.ts";
import { exportRows } from "../database/transfer/transfer.ts";

export default tool({
  name: "export_query",
  title: "Export query",
  description:
    "Write all rows of a SELECT to a new file, however many there are. The file is created complete or not at all; nothing is overwritten. To see some rows call read_query.",
  effect: "add",
  openWorld: false,
  argumentAliases: { query: "sql" },
  input: z.strictObject({
    sql: statement("SELECT * FROM users"),
    params,
    path: path("New file"),
    format: z.enum(EXPORT_FORMATS).default("csv").describe("csv with a header line, or jsonl."),
    database,
  }),
  output: z.object({ path: z.string(), format: z.string(), rows: z.number(), bytes: z.number() }),
  async run({ sql, params, path, format, database }, databases, call) {
    const file = await exportRows(databases, {
      sql,
      params,
      path,
      format,
      database,
      signal: call.signal,
      progress: (rows) => call.progress(rows, undefined, "rows written"),
    });
    const value = { path: file.path, format, rows: file.rows, bytes: file.bytes };
    const mimeType = format === "csv" ? "text/csv" : "application/jsonl";
    const uri = pathToFileURL(file.path).href;
    return withLinks(value, [{ uri, name: file.path, mimeType, size: file.bytes }]);
  },
});
