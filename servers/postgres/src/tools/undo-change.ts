import { undoChangeArguments, undoChangeTool } from "@refmcp/sql/tools";
import * as z from "zod";
import { database, tool } from "../context.ts";
import { undoChange } from "../database/writing/undo.ts";

export default tool({
  ...undoChangeTool,
  name: "pg_undo_change",
  description:
    "Restore the rows of a recorded change, in one transaction. " +
    "If a row was changed since, nothing is changed and the error names it. The undo can be undone too, unless its note says otherwise.",
  toolset: "data",
  input: z.strictObject({ ...undoChangeArguments, database }),
  run: ({ change_id: id, dry_run: dryRun, database: name }, postgres, call) =>
    undoChange(postgres.at(name), { id, dryRun }, call),
});
