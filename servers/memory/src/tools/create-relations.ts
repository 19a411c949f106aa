import * as z from "zod";
import { count, factsOf, list, relation, relationInput, source, tool } from "../context.ts";
import { bounded } from "../graph/bounded.ts";
import { createRelations } from "../graph/create.ts";

export default tool({
  name: "create_relations",
  title: "Create relations",
  description: "Remember how entities belong together: from, relationType in active voice, to.",
  effect: "add",
  openWorld: false,
  idempotent: true,
  input: z.strictObject({
    relations: list(relationInput).describe("The relations."),
    on_missing: z
      .enum(["error", "create"])
      .default("error")
      .describe("Where an entity does not exist: refuse the call, or create it with type unknown."),
    source,
  }),
  output: z.object({
    relations: z.array(relation),
    duplicates: z.array(relation).optional(),
    created_entities: z.array(z.string()).optional(),
    change_id: count.optional(),
    not_shown: count.optional(),
  }),
  async run({ relations, on_missing, source: from }, memory, call) {
    const facts = factsOf("create_relations", call, from);
    return bounded(
      await createRelations(memory.store, relations, { onMissing: on_missing, ...facts }),
      call.budget,
    );
  },
});
