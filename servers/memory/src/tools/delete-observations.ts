import * as z from "zod";
import { callerOf, deleted, deleting, factsOf, hard, list, tool } from "../context.ts";

export default tool({
  name: "delete_observations",
  title: "Delete observations",
  description: "Delete facts by their exact text (open_nodes shows it); undo_memory_change restores them.",
  effect: "destroy",
  openWorld: false,
  idempotent: true,
  input: z.strictObject({
    deletions: list(
      z.strictObject({
        entityName: z.string(),
        observations: z.array(z.string()),
      }),
    ).describe("Exact names and texts."),
    hard,
  }),
  output: deleted,
  run: ({ deletions, hard: isHard }, memory, call) =>
    deleting(call, isHard, (agreed) =>
      memory.run(
        "deleteObservations",
        [deletions, { ...factsOf("delete_observations"), ...agreed }],
        callerOf(call),
      ),
    ),
});
