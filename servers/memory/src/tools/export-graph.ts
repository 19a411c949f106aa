import * as z from "zod";
import { count, tool } from "../context.ts";
import { exportText } from "../graph/transfer/files.ts";
import { FORMATS } from "../graph/transfer/jsonl.ts";

export default tool({
  name: "export_graph",
  title: "Export the graph",
  description:
    "Export the graph to a new file (existing files are never overwritten), or return a small graph as text. jsonl is a backup that the official server reads too, markdown a new directory of notes, svg an image.",
  effect: "add",
  input: z.strictObject({
    format: z.enum(FORMATS).default("jsonl").describe("The format."),
    path: z.string().optional().describe("New file or directory. If omitted, the text is returned."),
  }),
  output: z.object({
    bytes: count,
    path: z.string().optional(),
    files: count.optional(),
    text: z.string().optional(),
  }),
  run: ({ format, path }, memory, call) =>
    exportText(memory, { format, path, budget: call.budget }, call.signal),
});
