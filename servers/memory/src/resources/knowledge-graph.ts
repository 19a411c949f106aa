import { resource } from "../context.ts";
import { readGraph } from "../graph/read/graph.ts";

/** Characters: a resource may be larger than a tool's answer. */
const BUDGET = 1_000_000;

export default resource({
  uri: "memory://knowledge-graph",
  name: "knowledge-graph",
  title: "Knowledge graph",
  description:
    "All entities and relations; for a very large graph only the first part, with a note.",
  mimeType: "application/json",
  async read(memory) {
    const query = { detail: "full", limit: 100_000, budget: BUDGET } as const;
    const { next_cursor, note: _, ...rest } = await readGraph(memory.store, query);
    const more =
      next_cursor === undefined
        ? {}
        : { note: "Only the first part; export_graph writes all of it to a file." };
    return JSON.stringify({ ...rest, ...more }, undefined, 2);
  },
  watch: (memory, changed) => memory.watch.listen(() => changed()),
});
