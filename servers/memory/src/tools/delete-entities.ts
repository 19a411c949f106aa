import * as z from "zod";
import { deleting, deletion, factsOf, hard, list, tool } from "../context.ts";
import { deleteEntities } from "../graph/write/remove.ts";

export default tool({
  name: "delete_entities",
  title: "Delete entities",
  description:
    "Delete entities with their observations and relations; undo_memory_change restores them. To rename or merge, call update_entities.",
  toolset: "memory",
  ...deletion,
  input: z.strictObject({ entityNames: list(z.string()).describe("Exact names."), hard }),
  run: ({ entityNames, hard: isHard }, memory, call) =>
    deleting(call, factsOf("delete_entities"), isHard, (options) =>
      deleteEntities(memory.of(call), entityNames, options),
    ),
});
