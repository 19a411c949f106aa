import * as z from "zod";
import { count, database, schema, tool } from "../context.ts";
import { importCsv } from "../database/transfer/transfer.ts";

export default tool({
  name: "pg_import_csv",
  title: "Import CSV",
  description:
    "Add the rows of a CSV file below an allowed directory to an existing table, all or none. " +
    "The first line names the columns. Existing rows don't change. To create the table use pg_execute.",
  effect: "add",
  openWorld: false,
  argumentAliases: { table_name: "table" },
  toolset: "data",
  needs: "allowWrite",
  input: z.strictObject({
    path: z.string().describe("The file: absolute, or below an allowed directory."),
    table: z.string().min(1).describe("Name, or schema.name."),
    schema,
    delimiter: z.string().length(1).default(",").describe("Field separator: , or ; or a tab."),
    null_text: z.string().max(20).default("").describe("Text that means NULL."),
    dry_run: z.boolean().default(false).describe("Load, report, and roll back."),
    database,
  }),
  output: z.object({
    table: z.string(),
    rows: count,
    columns: z.array(z.string()),
    bytes: count,
    committed: z.boolean(),
  }),
  run: ({ null_text, dry_run, database: name, ...input }, postgres, call) =>
    importCsv(postgres.at(name), postgres.guard, {
      ...input,
      signal: call.signal,
      nullText: null_text,
      dryRun: dry_run,
      progress: (bytes, of) => call.progress(bytes, of, "bytes read"),
      confirm: (loss) => call.confirm(loss),
    }),
});
