import * as z from "zod";
import { confirming, deleted, factsOf, hard, list, tool } from "../context.ts";
import { bounded } from "../graph/bounded.ts";
import { deleteObservations } from "../graph/remove.ts";

export default tool({
  name: "delete_observations",
  title: "Delete observations",
  description:
    "Delete facts of entities by their exact text (open_nodes shows it); undo_memory_change brings them back.",
  effect: "destroy",
  openWorld: false,
  idempotent: true,
  input: z.strictObject({
    deletions: list(
      z.strictObject({
        entityName: z.string().describe("Exact name."),
        observations: list(z.string()).describe("Exact texts."),
      }),
    ).describe("The facts by entity."),
    hard,
  }),
  output: deleted,
  async run({ deletions, hard: isHard }, memory, call) {
    const facts = { ...factsOf("delete_observations", call), ...confirming(call, isHard) };
    return bounded(await deleteObservations(memory.store, deletions, facts), call.budget);
  },
});
