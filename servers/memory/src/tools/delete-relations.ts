import * as z from "zod";
import { confirming, deleted, factsOf, hard, list, relationInput, tool } from "../context.ts";
import { bounded } from "../graph/bounded.ts";
import { deleteRelations } from "../graph/remove.ts";

export default tool({
  name: "delete_relations",
  title: "Delete relations",
  description:
    "Delete relations; the entities stay, and undo_memory_change brings the relations back. To delete an entity with its relations call delete_entities.",
  effect: "destroy",
  openWorld: false,
  idempotent: true,
  input: z.strictObject({ relations: list(relationInput).describe("The relations."), hard }),
  output: deleted,
  async run({ relations, hard: isHard }, memory, call) {
    const facts = { ...factsOf("delete_relations", call), ...confirming(call, isHard) };
    return bounded(await deleteRelations(memory.store, relations, facts), call.budget);
  },
});
