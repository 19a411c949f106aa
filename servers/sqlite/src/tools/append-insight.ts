import * as z from "zod";
import { tool } from "../context.ts";

export default tool({
  name: "append_insight",
  title: "Append insight",
  description: "Add a business insight to the memo, which can be read as memo://insights.",
  effect: "add",
  openWorld: false,
  input: z.strictObject({
    insight: z.string().min(1).max(5_000).describe("One insight, in a sentence."),
  }),
  output: z.object({ message: z.string(), insights: z.number() }),
  run: ({ insight }, databases) => ({
    message: "Insight added to memo",
    insights: databases.insights.add(insight),
  }),
});
