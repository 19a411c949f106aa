import * as z from "zod";
import { database, path, tool } from "../context.ts";
import { importCsv } from "../database/transfer/transfer.ts";

export default tool({
  name: "import_csv",
  title: "Import CSV",
  description:
    "Add the rows of a CSV file to an existing table, all or none. The first line names the columns; an empty field is NULL, a quoted empty field is an empty string. To create the table call create_table.",
  effect: "add",
  openWorld: false,
  needs: "allowWrite",
  argumentAliases: { table_name: "table" },
  input: z.strictObject({
    path: path("CSV file"),
    table: z.string().min(1).max(1_000).describe("Table to add to, as list_tables shows it."),
    delimiter: z.string().length(1).default(",").describe("Field separator: , or ; or a tab."),
    database,
    dry_run: z.boolean().default(false).describe("Load, report, and roll back."),
  }),
  output: z.object({
    table: z.string(),
    columns: z.array(z.string()),
    rows: z.number(),
    bytes: z.number(),
    committed: z.boolean(),
  }),
  run: ({ dry_run, ...input }, databases, call) =>
    importCsv(databases, {
      ...input,
      dryRun: dry_run,
      signal: call.signal,
      progress: (bytes, of) => call.progress(bytes, of, "bytes read"),
      confirm: (loss) => call.confirm(loss),
    }),
});
