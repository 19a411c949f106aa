import * as z from "zod";
import { prompt } from "../context.ts";

export default prompt({
  name: "write_query",
  title: "Write a query",
  description: "Turn a question into SQL, run it and answer.",
  args: z.object({
    question: z.string().describe("In plain words: which customers bought nothing this year?"),
  }),
  run: ({ question }) =>
    [
      `Answer this from the database: ${question}`,
      "1. Find relevant tables with pg_list_objects, and their columns and keys with pg_describe_table. Do not guess names.",
      "2. Write one SELECT. Pass values as params for $1, $2. Aggregate in SQL rather than reading many rows.",
      "3. Run it with query. Check that the numbers are plausible: joins that duplicate rows, NULLs, time zones.",
      "4. Answer in a sentence or two, with the SQL and your assumptions.",
    ].join("\n"),
});
