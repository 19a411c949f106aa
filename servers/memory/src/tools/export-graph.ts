import * as z from "zod";
import { count, tool } from "../context.ts";
import { FORMATS } from "../graph/jsonl.ts";
import { exportText } from "../graph/transfer.ts";

export default tool({
  name: "export_graph",
  title: "Export the graph",
  description:
    "Write the whole graph to a new file, or answer its text where it is small. Formats: jsonl (the official server's file, byte for byte), graphml, mermaid, svg (a picture). Overwrites nothing.",
  effect: "add",
  openWorld: false,
  input: z.strictObject({
    format: z.enum(FORMATS).default("jsonl").describe("The format."),
    path: z
      .string()
      .optional()
      .describe("The new file, absolute or below an allowed directory. Left out: the text itself."),
  }),
  output: z.object({
    format: z.string(),
    bytes: count,
    path: z.string().optional(),
    text: z.string().optional(),
  }),
  run: ({ format, path }, memory, call) =>
    exportText(memory, { format, path, budget: call.budget }, call.signal),
});
