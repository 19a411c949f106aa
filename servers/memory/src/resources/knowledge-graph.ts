import { resource } from "../context.ts";
import { readGraph } from "../graph/read/graph.ts";

/** Characters: a resource may be larger than a tool's answer. */
const BUDGET = 1_000_000;

export default resource({
  uri: "memory://knowledge-graph",
  name: "knowledge-graph",
  title: "Knowledge graph",
  description: "All entities and relations; of a very large graph the first names and counts.",
  mimeType: "application/json",
  async read({ store }) {
    const { next_cursor: _, ...graph } = await readGraph(store, { limit: 100_000, budget: BUDGET });
    return JSON.stringify(graph);
  },
});
