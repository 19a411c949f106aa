import * as z from "zod";
import { confirming, deleted, factsOf, hard, list, tool } from "../context.ts";
import { bounded } from "../graph/bounded.ts";
import { deleteEntities } from "../graph/remove.ts";

export default tool({
  name: "delete_entities",
  title: "Delete entities",
  description:
    "Delete entities with their observations and relations; undo_memory_change brings them back. To correct a name or join two call update_entities.",
  effect: "destroy",
  openWorld: false,
  idempotent: true,
  input: z.strictObject({ entityNames: list(z.string()).describe("Exact names."), hard }),
  output: deleted,
  async run({ entityNames, hard: isHard }, memory, call) {
    const facts = { ...factsOf("delete_entities", call), ...confirming(call, isHard) };
    return bounded(await deleteEntities(memory.store, entityNames, facts), call.budget);
  },
});
