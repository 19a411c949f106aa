import * as z from "zod";
import { prompt } from "../context.ts";

export default prompt({
  name: "mcp-demo",
  title: "Demo",
  description: "Seed a database with data of a topic and explore it step by step.",
  args: z.object({ topic: z.string().describe("What the data is about: retail sales.") }),
  run: ({ topic }) =>
    `Show me what can be done with a SQLite database, with the topic ${JSON.stringify(topic.slice(0, 200))}. Invent a short business problem, create two or three tables (create_table), fill them with plausible rows (write_query or run_transaction), answer three questions with read_query, and keep what you find with append_insight. Show memo://insights at the end. Where the server was started read-only, use the tables that are there. Pause after each step and ask me how to go on.`,
});
