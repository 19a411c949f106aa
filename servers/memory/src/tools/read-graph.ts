import * as fields from "@refmcp/core/fields";
import * as z from "zod";
import { callerOf, counts, relation, shownEntity, tool } from "../context.ts";

export default tool({
  name: "read_graph",
  title: "Read graph",
  description:
    "Read the whole graph if it is small, or pages of names and counts if it is large. To look for something, call search_nodes.",
  effect: "read",
  openWorld: false,
  input: z.strictObject({
    detail: fields.detail.describe("For a large graph: concise shows names and counts, full everything."),
    limit: fields.limit(500, 1_000),
    cursor: fields.cursor,
  }),
  output: z.object({
    entities: z.array(shownEntity),
    relations: z.array(relation),
    total: counts.optional(),
    note: z.string().optional(),
    next_cursor: z.string().optional(),
  }),
  run: ({ detail, limit, cursor }, memory, call) =>
    memory.run("readGraph", [{ detail, limit, cursor, budget: call.budget }], callerOf(call)),
});
