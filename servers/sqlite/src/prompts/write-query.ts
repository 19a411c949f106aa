import * as z from "zod";
import { prompt } from "../context.ts";

export default prompt({
  name: "write_sqlite_query",
  title: "Write a query",
  description: "Turn a question in plain words into a SELECT, test it and explain it.",
  args: z.object({ question: z.string().describe("What you want to know: best customers of May.") }),
  run: ({ question }) =>
    [
      `Write a SQLite SELECT that answers: ${JSON.stringify(question.slice(0, 2_000))}`,
      "1. list_tables and describe_table: use only names that exist.",
      "2. Pass values as params. If you list rows, ORDER BY a unique key.",
      "3. Test it with read_query and check that the rows are plausible: NULLs, duplicates from joins, text that looks like numbers or dates.",
      "4. Show me the query, two sentences on what it does, and the answer. Change nothing.",
    ].join("\n"),
});
