import * as fields from "@refmcp/core/fields";
import * as z from "zod";
import { entity, relation, tool } from "../context.ts";
import { openNodes } from "../graph/read/nodes.ts";

export default tool({
  name: "open_nodes",
  title: "Open nodes",
  description:
    "Read entities by exact name: all observations, oldest first, with their relations. learned gives day and source: once if all are equal, 3x for three in a row. To find names, call search_nodes.",
  toolset: "memory",
  effect: "read",
  view: "graph",
  input: z.strictObject({
    names: z.array(z.string()).max(1_000).describe("Exact names, for example Ada Lovelace."),
    depth: z.int().min(0).max(3).default(0).describe("Relations to follow, 0 to 3."),
    history: z
      .boolean()
      .default(false)
      .describe("Also the facts that were replaced, with ids and times."),
    cursor: fields.cursor,
  }),
  output: z.object({
    entities: z.array(entity),
    relations: z.array(relation),
    next_cursor: z.string().optional(),
  }),
  run: (input, memory, call) => openNodes(memory.of(call), { ...input, budget: call.budget }),
});
