import * as z from "zod";
import { callerOf, count, factsOf, source, tool } from "../context.ts";
import { importText } from "../graph/transfer.ts";

export default tool({
  name: "import_graph",
  title: "Import a graph",
  description:
    "Import a memory.jsonl file of the official server, or its lines as text. Existing entities are updated; lines that cannot be read go to a .rejects file. undo_memory_change reverts it.",
  effect: "add",
  openWorld: false,
  input: z.strictObject({
    path: z.string().optional().describe("The file, absolute or inside an allowed directory."),
    text: z.string().optional().describe("The lines, instead of path."),
    source,
  }),
  output: z.object({
    entities: count,
    observations: count,
    relations: count,
    duplicates: count,
    created_for_relations: count,
    rejected: count,
    rejects: z.array(z.object({ line: count, reason: z.string(), text: z.string() })).optional(),
    rejects_file: z.string().optional(),
    change_id: count.optional(),
  }),
  run: ({ path, text, source: from }, memory, call) =>
    importText(
      memory,
      { path, text },
      factsOf("import_graph", from ?? path?.slice(0, 500)),
      callerOf(call, "entities and relations"),
    ),
});
