import * as fields from "@refmcp/core/fields";
import * as z from "zod";
import { tool } from "../context.ts";

export default tool({
  name: "list_changes",
  title: "List changes",
  description:
    "List what was changed through this server, newest first, to find what undo_change can take back.",
  effect: "read",
  openWorld: false,
  input: z.strictObject({
    path: z.string().optional().describe("Only changes at or below this path."),
    limit: fields.limit(20, 200),
    cursor: fields.cursor,
  }),
  output: z.object({
    changes: z.array(
      z.object({
        id: z.string(),
        time: z.string(),
        action: z.string(),
        path: z.string(),
        destination: z.string().optional(),
        size_before: z.number().optional(),
        size_after: z.number().optional(),
        undoes: z.string().optional(),
        undone_by: z.string().optional(),
        not_undoable: z.string().optional(),
      }),
    ),
    next_cursor: fields.nextCursor,
  }),
  async run(range, files, call) {
    const { changes, nextCursor } = await files.changes({ ...range, maxChars: call.budget });
    return {
      changes: changes.map(({ change, undoneBy }) => ({
        ...change,
        undone_by: undoneBy,
        not_undoable: change.final,
      })),
      next_cursor: nextCursor,
    };
  },
});
