import * as z from "zod";
import { count, factsOf, source, tool } from "../context.ts";
import { importText } from "../graph/transfer/files.ts";

export default tool({
  name: "import_graph",
  title: "Import a graph",
  description:
    "Import memories: JSON lines or Markdown notes. Existing entities are extended. Lists what was not taken; unreadable lines go to a .rejects file.",
  effect: "add",
  input: z.strictObject({
    path: z
      .string()
      .optional()
      .describe("A .jsonl file; a .md file or a directory of notes (basic-memory, Obsidian)."),
    text: z.string().optional().describe("Lines of JSON, instead of path."),
    source,
  }),
  output: z.object({ entities: count, rejected: count, change_id: count.optional() }),
  run: ({ path, text, source: from }, memory, call) =>
    importText(memory, { path, text }, factsOf("import_graph", from ?? path?.slice(0, 500)), {
      signal: call.signal,
      progress: (done) => call.progress(done, undefined, "entities and relations"),
    }),
});
