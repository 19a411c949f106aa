import * as z from "zod";
import { callerOf, count, factsOf, list, source, tool } from "../context.ts";
import { bounded } from "../graph/bounded.ts";

export default tool({
  name: "add_observations",
  title: "Add observations",
  description:
    "Add facts to existing entities. Duplicates are reported and not added again. For a new entity, call create_entities.",
  effect: "add",
  openWorld: false,
  idempotent: true,
  input: z.strictObject({
    observations: list(
      z.strictObject({
        entityName: z.string().describe("Exact name."),
        contents: list(z.string()).describe("One fact each."),
      }),
    ).describe("The facts by entity."),
    source,
  }),
  output: z.object({
    results: z.array(
      z.object({
        entityName: z.string(),
        addedObservations: z.array(z.string()),
        duplicates: z.array(z.string()).optional(),
      }),
    ),
    change_id: count.optional(),
    not_shown: count.optional(),
  }),
  run: async ({ observations, source: from }, memory, call) =>
    bounded(
      await memory.run("addObservations", [observations, factsOf("add_observations", from)], callerOf(call)),
      call.budget,
    ),
});
