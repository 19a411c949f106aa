import * as z from "zod";
import { deleting, deletion, factsOf, hard, list, tool } from "../context.ts";
import { deleteObservations } from "../graph/write/remove.ts";

export default tool({
  name: "delete_observations",
  title: "Delete observations",
  description:
    "Delete facts by their exact text (open_nodes shows it); undo_memory_change restores them.",
  toolset: "memory",
  ...deletion,
  input: z.strictObject({
    deletions: list(
      z.strictObject({
        entityName: z.string(),
        observations: z.array(z.string()).max(5_000),
      }),
    ).describe("Exact names and texts."),
    hard,
  }),
  run: ({ deletions, hard: isHard }, memory, call) =>
    deleting(call, factsOf("delete_observations"), isHard, (options) =>
      deleteObservations(memory.of(call), deletions, options),
    ),
});
