import * as fields from "@refmcp/core/fields";
import * as z from "zod";
import { callerOf, count, relation, tool } from "../context.ts";

export default tool({
  name: "find_related",
  title: "Find related entities",
  description:
    "Find entities connected to an entity, nearest first, or, with to, the shortest path to another one. For observations, call open_nodes.",
  effect: "read",
  openWorld: false,
  input: z.strictObject({
    name: z.string().describe("Exact name of the entity to start from."),
    to: z.string().optional().describe("Exact name of the entity at the other end of a path."),
    depth: z.int().min(1).max(10).default(2).describe("Maximum number of relations to follow, 1 to 10."),
    direction: z.enum(["both", "out", "in"]).default("both").describe("Which way relations are followed."),
    relation_types: z.array(z.string()).min(1).max(20).optional().describe("Only relations of these types."),
    limit: fields.limit(50, 500),
  }),
  output: z.object({
    entities: z.array(z.object({ name: z.string(), entityType: z.string(), distance: count })),
    relations: z.array(relation),
    path: z.array(z.string()).optional(),
    note: z.string().optional(),
  }),
  run: ({ relation_types, to, ...query }, memory, call) =>
    memory.run("findRelated", [{ ...query, to, types: relation_types, budget: call.budget }], callerOf(call)),
});
