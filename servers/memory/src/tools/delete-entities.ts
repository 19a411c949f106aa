import * as z from "zod";
import { callerOf, deleted, deleting, factsOf, hard, list, tool } from "../context.ts";

export default tool({
  name: "delete_entities",
  title: "Delete entities",
  description:
    "Delete entities with their observations and relations; undo_memory_change restores them. To rename or merge, call update_entities.",
  effect: "destroy",
  openWorld: false,
  idempotent: true,
  input: z.strictObject({ entityNames: list(z.string()).describe("Exact names."), hard }),
  output: deleted,
  run: ({ entityNames, hard: isHard }, memory, call) =>
    deleting(call, isHard, (agreed) =>
      memory.run(
        "deleteEntities",
        [entityNames, { ...factsOf("delete_entities"), ...agreed }],
        callerOf(call),
      ),
    ),
});
