import * as fields from "@refmcp/core/fields";
import * as z from "zod";
import { entity, relation, tool } from "../context.ts";

export default tool({
  name: "read_graph",
  title: "Read graph",
  description:
    "Read the whole graph if it is small, or pages of names and counts, for example for an overview. To search, call search_nodes.",
  effect: "read",
  view: "graph",
  input: z.strictObject({
    detail: fields.detail.describe("concise: a large graph as names and counts; full: everything."),
    order: z
      .enum(["created", "connected"])
      .default("created")
      .describe("connected: best connected first."),
    limit: fields.limit(500, 1_000),
    cursor: fields.cursor,
  }),
  output: z.object({
    entities: z.array(entity),
    relations: z.array(relation),
    next_cursor: z.string().optional(),
  }),
  run: ({ detail, order, limit, cursor }, memory, call) =>
    memory.text("readGraph", [{ detail, order, limit, cursor, budget: call.budget }], call),
});
