import * as z from "zod";
import { callerOf, count, factsOf, list, tool } from "../context.ts";
import { bounded } from "../graph/bounded.ts";

const named = z.object({ name: z.string(), entityType: z.string() });

export default tool({
  name: "update_entities",
  title: "Update entities",
  description:
    "Rename entities (relations follow), change their types, or merge one into another. To change facts, call add_observations and delete_observations.",
  effect: "change",
  openWorld: false,
  input: z.strictObject({
    updates: list(
      z.strictObject({
        name: z.string().describe("Current exact name."),
        new_name: z.string().optional().describe("New name."),
        new_type: z.string().optional().describe("New type."),
        merge_into: z.string().optional().describe("Entity to merge into; this one is removed."),
      }),
    ).describe("The updates; all are applied or none."),
  }),
  output: z.object({
    updated: z.array(
      z.object({
        name: z.string(),
        before: named,
        after: named,
        moved: z.object({ observations: count, relations: count }).optional(),
      }),
    ),
    change_id: count.optional(),
    not_shown: count.optional(),
  }),
  run: async ({ updates }, memory, call) =>
    bounded(
      await memory.run("updateEntities", [updates, factsOf("update_entities")], callerOf(call)),
      call.budget,
    ),
});
