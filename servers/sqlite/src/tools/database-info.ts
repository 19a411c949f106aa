import * as z from "zod";
import { database, tool } from "../context.ts";
import { databaseInfo } from "../database/reading/catalog.ts";

export default tool({
  name: "database_info",
  title: "Database info",
  description:
    "Show size, journal mode, encoding, a quick integrity check and the largest tables of a database.",
  effect: "read",
  openWorld: false,
  input: z.strictObject({ database }),
  output: z.object({
    size_bytes: z.number(),
    page_size: z.number(),
    page_count: z.number(),
    free_pages: z.number(),
    journal_mode: z.string(),
    encoding: z.string(),
    integrity: z.array(z.string()).optional(),
    largest_tables: z.array(z.object({ name: z.string(), bytes: z.number() })).optional(),
    sqlite_version: z.string(),
    notices: z.array(z.string()).optional(),
  }),
  run: ({ database }, databases, { signal }) => databaseInfo({ databases, database, signal }),
});
