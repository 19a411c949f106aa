import * as z from "zod";
import { deleting, deletion, factsOf, hard, list, relationInput, tool } from "../context.ts";

export default tool({
  name: "delete_relations",
  title: "Delete relations",
  description: "Delete relations and keep the entities; undo_memory_change restores them.",
  ...deletion,
  input: z.strictObject({ relations: list(relationInput).describe("Exactly as stored."), hard }),
  run: ({ relations, hard: isHard }, memory, call) =>
    deleting(call, factsOf("delete_relations"), isHard, (options) =>
      memory.run("deleteRelations", [relations, options], call),
    ),
});
