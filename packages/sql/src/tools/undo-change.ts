import { toolFor } from "@refmcp/core";
import * as z from "zod";
import { undoChange } from "../change/run.ts";
import type { Databases, Kind } from "../databases.ts";
import { database, dryRun, tableCounts } from "./fields.ts";

export const undoChangeTool = (kind: Kind) =>
  toolFor<Databases>()({
    name: kind.names.undoChange,
    title: "Undo change",
    description:
      "Restore the rows of a recorded change, in one transaction. If a row was changed since, nothing is changed and the error names it. The undo can be undone too.",
    effect: "change",
    openWorld: false,
    needs: "allowWrite",
    aliases: kind.aliases.undoChange ?? [],
    argumentAliases: { id: "change_id" },
    input: z.strictObject({
      change_id: z
        .string()
        .max(60)
        .describe("Id of the change, from its answer or the list of changes."),
      dry_run: dryRun("Check the rows, report, and roll back."),
      database: database(kind),
    }),
    output: z.object({
      undone: z.string(),
      committed: z.boolean(),
      tables: z.array(tableCounts),
      /** Undoing this one makes the change again. */
      change_id: z.string().optional(),
      /** What could not be undone. */
      note: z.string().optional(),
    }),
    run: ({ change_id: id, dry_run: dryRun, database }, databases, call) =>
      undoChange(databases, { id, dryRun, database }, call),
  });
