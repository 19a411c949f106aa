import * as z from "zod";
import { count, factsOf, list, source, tool } from "../context.ts";

export default tool({
  name: "add_observations",
  title: "Add observations",
  description: "Add facts to existing entities; duplicates are skipped.",
  effect: "add",
  idempotent: true,
  input: z.strictObject({
    observations: list(
      z.strictObject({
        entityName: z.string(),
        contents: z.array(z.string()).max(5_000).describe("One fact each."),
      }),
    ).describe("The facts by entity."),
    source,
  }),
  output: z.object({
    results: z.array(z.looseObject({ entityName: z.string(), addedObservations: z.array(z.string()) })),
    change_id: count.optional(),
  }),
  run: ({ observations, source: from }, memory, call) =>
    memory.run("addObservations", [observations, factsOf("add_observations", from)], call),
});
