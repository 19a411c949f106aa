import { explainTool } from "@refmcp/sql/tools";
import * as z from "zod";
import { database, params, statement, tool } from "../context.ts";
import { explain } from "../database/advice/advice.ts";

export default tool({
  ...explainTool,
  name: "explain",
  aliases: ["explain_query"],
  description:
    "Show how SQLite would run a SELECT, without running it: plan, full scans and missing indexes. missing_indexes are CREATE INDEX statements that SQLite would use; table sizes are not considered.",
  input: z.strictObject({ sql: statement("SELECT * FROM users WHERE name = ?"), params, database }),
  output: z.object({
    plan: z.array(z.string()),
    full_scans: z.array(z.string()),
    missing_indexes: z.array(z.string()),
  }),
  run: ({ sql, params, database }, databases, { signal }) =>
    explain({ databases, database, signal }, { sql, params }),
});
