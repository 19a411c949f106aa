import * as z from "zod";
import { prompt } from "../context.ts";

export default prompt({
  name: "mcp-demo",
  title: "Demo",
  description: "Fill a database with sample data on a topic and explore it step by step.",
  args: z.object({ topic: z.string().describe("The topic of the data: retail sales.") }),
  run: ({ topic }) =>
    `Show me what can be done with a SQLite database, on the topic ${JSON.stringify(topic.slice(0, 200))}. Invent a short business problem, create two or three tables (create_table), fill them with plausible rows (write_query or execute), answer three questions with read_query, and record your findings with append_insight. Show memo://insights at the end. If the server is read-only, use the existing tables. Pause after each step and ask me how to continue.`,
});
