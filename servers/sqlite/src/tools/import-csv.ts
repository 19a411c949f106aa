import { importArguments, importCsvTool } from "@refmcp/sql/tools";
import * as z from "zod";
import { database, path, tool } from "../context.ts";
import { importCsv } from "../database/transfer/transfer.ts";

const { delimiter, dry_run } = importArguments;

export default tool({
  ...importCsvTool,
  name: "import_csv",
  description:
    "Add the rows of a CSV file to an existing table, all or none. The first line names the columns; an empty field is NULL, a quoted empty field is an empty string. To create the table call create_table.",
  input: z.strictObject({
    path: path("CSV file"),
    table: z.string().min(1).max(1_000).describe("Table to add to, as list_tables shows it."),
    delimiter,
    database,
    dry_run,
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
  run: ({ dry_run: dryRun, ...input }, databases, call) =>
    importCsv(databases, { ...input, dryRun }, call),
});
