import * as fields from "@refmcp/core/fields";
import * as z from "zod";
import { count, tool } from "../context.ts";

export default tool({
  name: "find_related",
  title: "Find related entities",
  description:
    "Find entities connected to an entity, nearest first, or with to, the shortest path to another.",
  effect: "read",
  view: "graph",
  input: z.strictObject({
    name: z.string().describe("Exact name to start from."),
    to: z.string().optional().describe("Exact name at the other end."),
    depth: z.int().min(1).max(10).default(2).describe("Relations to follow, 1 to 10."),
    direction: z.enum(["both", "out", "in"]).default("both").describe("out: from it; in: to it."),
    relation_types: z
      .array(z.string())
      .min(1)
      .max(20)
      .optional()
      .describe("Only these types, for example works at."),
    limit: fields.limit(50, 500),
  }),
  output: z.object({
    entities: z.array(z.looseObject({ name: z.string(), distance: count })),
    path: z.array(z.string()).optional(),
  }),
  run: ({ relation_types, to, ...query }, memory, call) =>
    memory.text(
      "findRelated",
      [{ ...query, to, types: relation_types, budget: call.budget }],
      call,
    ),
});
