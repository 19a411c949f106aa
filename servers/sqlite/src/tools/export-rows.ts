import { exported, exportFormat, exportTool } from "@refmcp/sql/tools";
import * as z from "zod";
import { database, params, path, statement, tool } from "../context.ts";
import { exportRows } from "../database/transfer/transfer.ts";

export default tool({
  ...exportTool,
  name: "export",
  aliases: ["export_query"],
  description:
    "Write all rows of a SELECT to a new file, however many there are. The file is created complete or not at all; nothing is overwritten. To see some rows call read_query.",
  input: z.strictObject({
    sql: statement("SELECT * FROM users"),
    params,
    path: path("New file"),
    format: exportFormat,
    database,
  }),
  run: async (input, databases, call) =>
    exported(await exportRows(databases, input, call), input.format),
});
