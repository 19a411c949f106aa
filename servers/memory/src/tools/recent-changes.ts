import * as fields from "@refmcp/core/fields";
import * as z from "zod";
import { count, tool } from "../context.ts";

export default tool({
  name: "recent_changes",
  title: "Recent changes",
  description:
    "List what was added, changed or deleted, newest first. undo_memory_change reverts a change.",
  effect: "read",
  input: z.strictObject({ limit: fields.limit(20, 100), cursor: fields.cursor }),
  output: z.object({
    changes: z.array(z.looseObject({ change_id: count, summary: z.string() })),
    next_cursor: z.string().optional(),
  }),
  run: ({ limit, cursor }, memory, call) =>
    memory.run("recentChanges", [{ limit, cursor, budget: call.budget }], call),
});
