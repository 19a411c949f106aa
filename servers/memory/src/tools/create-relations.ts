import * as z from "zod";
import { callerOf, count, factsOf, list, relation, relationInput, source, tool } from "../context.ts";
import { bounded } from "../graph/bounded.ts";

export default tool({
  name: "create_relations",
  title: "Create relations",
  description: "Create relations between entities by their names; relationType in active voice: works at.",
  effect: "add",
  idempotent: true,
  input: z.strictObject({
    relations: list(relationInput).describe("The relations."),
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
  run: async ({ relations, on_missing, source: from }, memory, call) =>
    bounded(
      await memory.run(
        "createRelations",
        [relations, { onMissing: on_missing, ...factsOf("create_relations", from) }],
        callerOf(call),
      ),
      call.budget,
    ),
});
