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
      "1. pg_explain with analyze: where do the milliseconds go, and where is the estimate far from the truth?",
      "2. pg_describe_table of the tables in it: which indexes are there?",
      "3. Try rewrites with pg_explain; where hypopg is installed, test hypothetical indexes with its indexes argument.",
      "4. Report the plan's bottleneck, the rewrite or the CREATE INDEX CONCURRENTLY that you would use, and what it costs on writes. Change nothing.",
    ].join("\n"),
});
