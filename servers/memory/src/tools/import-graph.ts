import * as z from "zod";
import { count, factsOf, source, tool } from "../context.ts";
import { importText } from "../graph/transfer/files.ts";

export default tool({
  name: "import_graph",
  title: "Import a graph",
  description:
    "Import a memory as JSON lines. Existing entities are extended; unreadable lines are skipped and listed.",
  toolset: "more",
  effect: "add",
  input: z.strictObject({
    path: z.string().optional().describe("A .jsonl or .json file."),
    text: z.string().optional().describe("Lines of JSON, instead of path."),
    source,
  }),
  output: z.object({ entities: count, rejected: count, change_id: count.optional() }),
  run: ({ path, text, source: from }, memory, call) =>
    importText(
      memory.of(call),
      memory.paths,
      { path, text },
      factsOf("import_graph", from ?? path?.slice(0, 500)),
    ),
});
