import * as z from "zod";
import { deleting, deletion, factsOf, hard, list, tool } from "../context.ts";

export default tool({
  name: "delete_observations",
  title: "Delete observations",
  description:
    "Delete facts by their exact text (open_nodes shows it); undo_memory_change restores them.",
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
      memory.run("deleteObservations", [deletions, options], call),
    ),
});
