import * as z from "zod";
import { count, tool } from "../context.ts";
import { exportDirectory, exportText } from "../graph/transfer/files.ts";

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
      .describe(
        "jsonl: a backup that the official server reads too; markdown: a new directory of notes.",
      ),
    path: z
      .string()
      .optional()
      .describe("New file or directory. If omitted, the text is returned."),
  }),
  output: z.object({
    bytes: count,
    path: z.string().optional(),
    files: count.optional(),
    text: z.string().optional(),
  }),
  run({ format, path }, memory, call) {
    const { signal, budget } = call;
    return format === "markdown"
      ? exportDirectory(memory.of(call), memory.paths, path, signal)
      : exportText(memory.of(call), memory.paths, { path, budget, signal });
  },
});
