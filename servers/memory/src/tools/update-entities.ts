import * as z from "zod";
import { count, factsOf, list, tool } from "../context.ts";
import { updateEntities } from "../graph/write/update.ts";

export default tool({
  name: "update_entities",
  title: "Update entities",
  description: "Rename entities (relations follow), change their types, or merge one into another.",
  toolset: "memory",
  effect: "change",
  input: z.strictObject({
    updates: list(
      z.strictObject({
        name: z.string().describe("Exact name."),
        new_name: z.string().optional(),
        new_type: z.string().optional(),
        merge_into: z.string().optional().describe("Name of the entity that receives everything."),
      }),
    ).describe("Applied all or none."),
  }),
  output: z.object({
    updated: z.array(z.looseObject({})),
    change_id: count.optional(),
  }),
  run: ({ updates }, memory, call) =>
    updateEntities(memory.of(call), updates, factsOf("update_entities")),
});
