import * as z from "zod";
import { deleting, deletion, factsOf, hard, list, relationInput, tool } from "../context.ts";
import { deleteRelations } from "../graph/write/remove.ts";

export default tool({
  name: "delete_relations",
  title: "Delete relations",
  description: "Delete relations and keep the entities; undo_memory_change restores them.",
  toolset: "memory",
  ...deletion,
  input: z.strictObject({ relations: list(relationInput).describe("Exactly as stored."), hard }),
  run: ({ relations, hard: isHard }, memory, call) =>
    deleting(call, factsOf("delete_relations"), isHard, (options) =>
      deleteRelations(memory.of(call), relations, options),
    ),
});
