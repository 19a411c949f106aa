import * as fields from "@refmcp/core/fields";
import * as z from "zod";
import { count, tool } from "../context.ts";
import { recentChanges } from "../graph/journal/changes.ts";

export default tool({
  name: "recent_changes",
  title: "Recent changes",
  description:
    "List what was added, changed or deleted, newest first. undo_memory_change reverts a change.",
  toolset: "memory",
  effect: "read",
  input: z.strictObject({ limit: fields.limit(20, 100), cursor: fields.cursor }),
  output: z.object({
    changes: z.array(z.looseObject({ change_id: count, summary: z.string() })),
    next_cursor: z.string().optional(),
  }),
  run: (input, memory, call) => recentChanges(memory.of(call), { ...input, budget: call.budget }),
});
