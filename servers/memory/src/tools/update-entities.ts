import * as z from "zod";
import { callerOf, count, factsOf, list, tool } from "../context.ts";
import { bounded } from "../graph/bounded.ts";

const named = z.object({ name: z.string(), entityType: z.string() });

export default tool({
  name: "update_entities",
  title: "Update entities",
  description:
    "Rename entities (relations follow), change their types, or merge one into another. Facts are changed with add_observations and delete_observations.",
  effect: "change",
  openWorld: false,
  input: z.strictObject({
    updates: list(
      z.strictObject({
        name: z.string().describe("Exact name now."),
        new_name: z.string().optional().describe("Name from now on."),
        new_type: z.string().optional().describe("Type from now on."),
        merge_into: z.string().optional().describe("Entity that gets all of it; this one goes."),
      }),
    ).describe("The updates; all are made or none."),
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
