import * as fields from "@refmcp/core/fields";
import * as z from "zod";
import { entity, relation, tool } from "../context.ts";

export default tool({
  name: "open_nodes",
  title: "Open nodes",
  description:
    "Read entities by exact name: all observations with date and source (learned; one value if all match), and relations. To find names, call search_nodes.",
  effect: "read",
  view: "graph",
  input: z.strictObject({
    names: z.array(z.string()).max(1_000).describe("Exact names."),
    depth: z.int().min(0).max(3).default(0).describe("Relations to follow, 0 to 3."),
    cursor: fields.cursor,
  }),
  output: z.object({
    entities: z.array(entity),
    relations: z.array(relation),
    next_cursor: z.string().optional(),
  }),
  run: ({ names, depth, cursor }, memory, call) =>
    memory.text("openNodes", [{ names, depth, cursor, budget: call.budget }], call),
});
