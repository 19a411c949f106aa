import * as z from "zod";
import { prompt } from "../context.ts";

export default prompt({
  name: "optimise_query",
  title: "Make a query faster",
  description: "Find out why a SELECT is slow and what would help.",
  args: z.object({ sql: z.string().describe("The SELECT.") }),
  run: ({ sql }) =>
    [
      "Make this query faster:",
      "```sql",
      sql.replaceAll("```", "` ` `"),
      "```",
      "1. pg_explain with analyze: where is the time spent, and which estimates are far off?",
      "2. pg_describe_table for its tables: which indexes exist?",
      "3. Try rewrites with pg_explain; if hypopg is installed, test hypothetical indexes with its indexes argument.",
      "4. Report the bottleneck, the rewrite or the CREATE INDEX CONCURRENTLY that you recommend, and its cost for writes. Change nothing.",
    ].join("\n"),
});
