import * as z from "zod";
import { prompt } from "../context.ts";

export default prompt({
  name: "write_sqlite_query",
  title: "Write a query",
  description: "Turn a question in plain words into a SELECT, try it and explain it.",
  args: z.object({ question: z.string().describe("What you want to know: best customers of May.") }),
  run: ({ question }) =>
    [
      `Write a SQLite SELECT that answers: ${JSON.stringify(question.slice(0, 2_000))}`,
      "1. list_tables and describe_table: use only names that are there.",
      "2. Put values into params, give an ORDER BY over a unique key where rows are listed.",
      "3. Try it with read_query and look whether the rows can be right: NULLs, duplicates of joins, text that looks like numbers or dates.",
      "4. Show me the query, what it does in two sentences, and the answer. Change nothing.",
    ].join("\n"),
});
