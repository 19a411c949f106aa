import { undoChangeArguments, undoChangeTool } from "@refmcp/sql/tools";
import * as z from "zod";
import { database, tool } from "../context.ts";
import { undoChange } from "../database/undo/undo-change.ts";

export default tool({
  ...undoChangeTool,
  name: "undo_database_change",
  description:
    "Restore the rows that a change made through this server changed, also through triggers and cascades. Nothing happens if one of them has changed since. An undo can be undone too, unless its note says otherwise.",
  input: z.strictObject({ ...undoChangeArguments, database }),
  run: ({ change_id: id, dry_run: dryRun, database }, databases, call) =>
    undoChange(databases, { id, dryRun, database }, call),
});
