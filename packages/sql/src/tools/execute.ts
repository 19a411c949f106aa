import { toolFor } from "@refmcp/core";
import * as z from "zod";
import { runChanges } from "../change/run.ts";
import type { Databases, Kind } from "../databases.ts";
import { column, database, dryRun, params, tableCounts } from "./fields.ts";

/** The answer of a tool that changes data. */
const changeOutput = z.object({
  committed: z.boolean(),
  /** One for each statement. */
  results: z.array(
    z.object({
      command: z.string(),
      row_count: z.number().optional(),
      columns: z.array(column).optional(),
      rows: z.array(z.array(z.unknown())).optional(),
    }),
  ),
  tables: z.array(tableCounts).optional(),
  last_insert_rowid: z.string().optional(),
  loss: z.string().optional(),
  /** To undo it; absent if nothing was recorded. */
  change_id: z.string().optional(),
  /** That the record has a copy of the rows. */
  note: z.string().optional(),
  truncated: z.boolean(),
  truncated_by: z.enum(["bytes", "cell"]).optional(),
  notices: z.array(z.string()).optional(),
});

export const executeTool = (kind: Kind) =>
  toolFor<Databases>()({
    name: kind.names.execute,
    title: "Execute changes",
    description: `Run changing SQL: one statement, or several in one transaction, all or none. ${kind.names.undoChange} restores changed rows; ${kind.asks} dry_run runs everything, reports and rolls back. For reading call ${kind.names.query}.`,
    effect: "destroy",
    openWorld: false,
    needs: "allowWrite",
    aliases: kind.aliases.execute ?? [],
    argumentAliases: { query: "statements", sql: "statements" },
    input: z.strictObject({
      statements: z
        .preprocess(
          (value) => (typeof value === "string" ? [value] : value),
          z
            .array(
              z.union([z.string(), z.strictObject({ sql: z.string(), params: params(kind) })], {
                error: "expected an SQL text or { sql, params }",
              }),
            )
            .min(1)
            .max(500),
        )
        .describe(
          'In order, each as text or with values: ["DELETE FROM a WHERE id = 1", { "sql": …, "params": […] }].',
        ),
      dry_run: dryRun("Run it, report what would change, and roll back."),
      database: database(kind),
    }),
    output: changeOutput,
    run: ({ statements, dry_run, database }, databases, call) =>
      runChanges(databases, { statements: statements.map(bound), database, dryRun: dry_run }, call),
  });

const bound = (item: string | { sql: string; params: unknown[] }) =>
  typeof item === "string" ? { sql: item, params: [] } : item;
