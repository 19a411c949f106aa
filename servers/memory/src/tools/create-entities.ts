import * as z from "zod";
import { count, entity, factsOf, list, source, tool } from "../context.ts";
import { createEntities } from "../graph/write/entities.ts";

export default tool({
  name: "create_entities",
  title: "Create entities",
  description:
    "Create entities (people, projects, things) with observations. Names are unique: call search_nodes first. For existing entities, call add_observations.",
  toolset: "memory",
  effect: "add",
  idempotent: true,
  input: z.strictObject({
    entities: list(
      z.strictObject({
        name: z.string(),
        entityType: z.string().describe("person, place …"),
        observations: z.array(z.string()).max(5_000).describe("One fact each."),
      }),
    ).describe("One or more new entities."),
    on_conflict: z
      .enum(["skip", "merge", "error"])
      .default("skip")
      .describe("If the name exists: skip it, merge the observations, or error."),
    source,
  }),
  output: z.object({
    entities: z.array(entity),
    change_id: count.optional(),
  }),
  run: ({ entities, on_conflict, source: from }, memory, call) =>
    createEntities(memory.of(call), entities, {
      on_conflict,
      ...factsOf("create_entities", from),
    }),
});
