import * as fields from "@refmcp/core/fields";
import * as z from "zod";
import { entity, relation, tool } from "../context.ts";
import { readGraph } from "../graph/read/graph.ts";

export default tool({
  name: "read_graph",
  title: "Read graph",
  description:
    "Read the whole graph if it is small, or pages of names, counts and relations for an overview. To search, call search_nodes.",
  toolset: "memory",
  effect: "read",
  view: "graph",
  input: z.strictObject({
    limit: fields.limit(500, 1_000),
    cursor: fields.cursor,
  }),
  output: z.object({
    entities: z.array(entity),
    relations: z.array(relation),
    next_cursor: z.string().optional(),
  }),
  run: (input, memory, call) => readGraph(memory.of(call), { ...input, budget: call.budget }),
});
