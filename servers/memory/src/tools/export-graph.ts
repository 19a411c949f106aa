import * as z from "zod";
import { count, tool } from "../context.ts";
import { FORMATS } from "../graph/jsonl.ts";
import { exportText } from "../graph/transfer.ts";

export default tool({
  name: "export_graph",
  title: "Export the graph",
  description:
    "Export the whole graph to a new file, or return the text of a small one. Formats: jsonl (the official server's format), graphml, mermaid, svg (a picture). Never overwrites a file.",
  effect: "add",
  openWorld: false,
  input: z.strictObject({
    format: z.enum(FORMATS).default("jsonl").describe("The format."),
    path: z
      .string()
      .optional()
      .describe("The new file, absolute or inside an allowed directory. If omitted, the text is returned."),
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
