import * as z from "zod";
import { count, tool } from "../context.ts";
import { exportText } from "../graph/transfer/files.ts";

export default tool({
  name: "export_graph",
  title: "Save the graph",
  description:
    "Write the graph to a new file, never over an existing one, or return a small graph as text.",
  toolset: "more",
  effect: "add",
  input: z.strictObject({
    format: z
      .enum(["jsonl", "markdown"])
      .default("jsonl")
      .describe("jsonl: the official server reads it too; markdown: to read."),
    path: z.string().optional().describe("New file. If omitted, the text is returned."),
  }),
  output: z.object({
    bytes: count,
    path: z.string().optional(),
    text: z.string().optional(),
  }),
  run: (input, memory, call) =>
    exportText(memory.of(call), memory.paths, {
      ...input,
      path: input.path,
      budget: call.budget,
      signal: call.signal,
    }),
});
