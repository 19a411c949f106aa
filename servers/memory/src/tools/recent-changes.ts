import * as fields from "@refmcp/core/fields";
import * as z from "zod";
import { callerOf, count, tool } from "../context.ts";

export default tool({
  name: "recent_changes",
  title: "Recent changes",
  description:
    "List changes to this memory, newest first: what was added, changed or deleted, when, and by which tool. undo_memory_change reverts one.",
  effect: "read",
  openWorld: false,
  input: z.strictObject({ limit: fields.limit(20, 100), cursor: fields.cursor }),
  output: z.object({
    changes: z.array(
      z.object({
        change_id: count,
        at: z.string(),
        action: z.string(),
        summary: z.string(),
        names: z.array(z.string()),
        source: z.string().optional(),
        undone_by: count.optional(),
        undoes: count.optional(),
        permanent: z.boolean().optional(),
      }),
    ),
    next_cursor: z.string().optional(),
  }),
  run: ({ limit, cursor }, memory, call) =>
    memory.run("recentChanges", [{ limit, cursor, budget: call.budget }], callerOf(call)),
});
