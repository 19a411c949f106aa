import * as z from "zod";
import { callerOf, deleted, deleting, factsOf, hard, list, relationInput, tool } from "../context.ts";

export default tool({
  name: "delete_relations",
  title: "Delete relations",
  description: "Delete relations and keep the entities; undo_memory_change restores them.",
  effect: "destroy",
  openWorld: false,
  idempotent: true,
  input: z.strictObject({ relations: list(relationInput).describe("The relations."), hard }),
  output: deleted,
  run: ({ relations, hard: isHard }, memory, call) =>
    deleting(call, isHard, (agreed) =>
      memory.run(
        "deleteRelations",
        [relations, { ...factsOf("delete_relations"), ...agreed }],
        callerOf(call),
      ),
    ),
});
