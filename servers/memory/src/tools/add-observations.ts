import * as z from "zod";
import { count, factsOf, list, source, tool } from "../context.ts";
import { bounded } from "../graph/bounded.ts";
import { addObservations } from "../graph/create.ts";

export default tool({
  name: "add_observations",
  title: "Add observations",
  description:
    "Add facts to entities that exist. What an entity has already is reported and not doubled. For a new entity call create_entities.",
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
  async run({ observations, source: from }, memory, call) {
    const facts = factsOf("add_observations", call, from);
    return bounded(await addObservations(memory.store, observations, facts), call.budget);
  },
});
