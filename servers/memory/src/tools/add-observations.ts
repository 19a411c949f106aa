import * as z from "zod";
import { count, factsOf, list, source, tool } from "../context.ts";
import { addObservations } from "../graph/write/observations.ts";

export default tool({
  name: "add_observations",
  title: "Add observations",
  description:
    "Add facts to existing entities; duplicates are skipped. If a fact changed, pass the old one in replaces: it stays in the history of open_nodes.",
  toolset: "memory",
  effect: "add",
  idempotent: true,
  input: z.strictObject({
    observations: list(
      z.strictObject({
        entityName: z.string(),
        contents: z.array(z.string()).max(5_000).describe("One fact each."),
        replaces: z
          .array(z.string())
          .max(5_000)
          .optional()
          .describe("Old facts that these replace: exact texts or ids (#12)."),
      }),
    ).describe("The facts by entity."),
    source,
  }),
  output: z.object({
    results: z.array(
      z.looseObject({ entityName: z.string(), addedObservations: z.array(z.string()) }),
    ),
    change_id: count.optional(),
  }),
  run: ({ observations, source: from }, memory, call) =>
    addObservations(memory.of(call), observations, factsOf("add_observations", from)),
});
