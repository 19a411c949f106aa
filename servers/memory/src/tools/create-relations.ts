import * as z from "zod";
import { count, factsOf, list, relation, relationInput, source, tool } from "../context.ts";
import { createRelations } from "../graph/write/relations.ts";

export default tool({
  name: "create_relations",
  title: "Create relations",
  description:
    "Create relations between entities by their names; relationType in active voice: works at.",
  toolset: "memory",
  effect: "add",
  idempotent: true,
  input: z.strictObject({
    relations: list(relationInput).describe("Each from one entity to another."),
    on_missing: z
      .enum(["error", "create"])
      .default("error")
      .describe("If an entity is missing: fail, or create it."),
    source,
  }),
  output: z.object({
    relations: z.array(relation),
    change_id: count.optional(),
  }),
  run: ({ relations, on_missing, source: from }, memory, call) =>
    createRelations(memory.of(call), relations, {
      on_missing,
      ...factsOf("create_relations", from),
    }),
});
