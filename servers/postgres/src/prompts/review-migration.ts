import * as z from "zod";
import { prompt } from "../context.ts";

export default prompt({
  name: "review_migration",
  title: "Review a migration",
  description: "Review the SQL of a migration before it runs.",
  args: z.object({ sql: z.string().describe("The statements of the migration.") }),
  run: ({ sql }) =>
    [
      "Review this migration for PostgreSQL; do not run it:",
      "```sql",
      sql.replaceAll("```", "` ` `"),
      "```",
      "Describe its tables (pg_describe_tables) and consider their sizes. Then report:",
      "- which locks each statement takes, for how long at this size, and what they block;",
      "- what rewrites the table (type changes, volatile defaults) and what scans it (NOT NULL, CHECK, foreign keys: NOT VALID first, VALIDATE later);",
      "- which indexes should be created CONCURRENTLY, outside a transaction;",
      "- what is permanently lost, and how to undo the rest;",
      "- what depends on it: views, functions, foreign keys, the application.",
      "End with the migration as you would run it, step by step.",
    ].join("\n"),
});
