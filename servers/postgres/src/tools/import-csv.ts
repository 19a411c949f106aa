import { importArguments, importCsvTool } from "@refmcp/sql/tools";
import * as z from "zod";
import { count, database, schema, tool } from "../context.ts";
import { withNearNames } from "../database/reading/near.ts";
import { importCsv } from "../database/transfer/transfer.ts";

const { delimiter, dry_run } = importArguments;

export default tool({
  ...importCsvTool,
  name: "pg_import_csv",
  description:
    "Add the rows of a CSV file below an allowed directory to an existing table, all or none. " +
    "The first line names the columns. Existing rows don't change. To create the table use pg_execute.",
  toolset: "data",
  input: z.strictObject({
    path: z.string().describe("The file: absolute, or below an allowed directory."),
    table: z.string().min(1).describe("Name, or schema.name."),
    schema,
    delimiter,
    null_text: z.string().max(20).default("").describe("Text that means NULL."),
    dry_run,
    database,
  }),
  output: z.object({
    table: z.string(),
    rows: count,
    columns: z.array(z.string()),
    bytes: count,
    committed: z.boolean(),
    change_id: z.string().optional(),
    note: z.string().optional(),
  }),
  run({ null_text: nullText, dry_run: dryRun, database: name, ...input }, postgres, call) {
    const at = postgres.at(name);
    const importing = importCsv(at, postgres.guard, { ...input, nullText, dryRun }, call);
    return withNearNames(importing, at, "", call);
  },
});
