import * as z from "zod";
import { count, factsOf, tool } from "../context.ts";
import { undoChange } from "../graph/journal/undo.ts";

export default tool({
  name: "undo_memory_change",
  title: "Undo a change",
  description:
    "Remove what a change added and restore what it deleted or renamed, all of it. An undo can be undone.",
  toolset: "memory",
  effect: "change",
  input: z.strictObject({
    change_id: z
      .int()
      .min(1)
      .max(1e15)
      .describe("From the response of the change, or recent_changes."),
  }),
  output: z.object({ change_id: count, message: z.string() }),
  run: ({ change_id }, memory, call) =>
    undoChange(memory.of(call), change_id, factsOf("undo_memory_change")),
});
