import * as z from "zod";
import { prompt } from "../context.ts";

export default prompt({
  name: "optimise_sqlite_query",
  title: "Make a query faster",
  description: "Find out why a SELECT is slow and what would help.",
  args: z.object({ query: z.string().describe("The SELECT.") }),
  run: ({ query }) =>
    [
      "Make this SQLite query faster:",
      JSON.stringify(query.slice(0, 20_000)),
      "1. explain_query: which tables are scanned in full, and which index does SQLite have to build for each run?",
      "2. describe_table of the tables in it: which indexes and how many rows do they have?",
      "3. Try rewrites with explain_query, and compare elapsed_ms of read_query before and after; the rows must stay the same.",
      "4. Report the bottleneck, the rewrite or CREATE INDEX that you recommend, and its cost for writes. Change nothing.",
    ].join("\n"),
});
