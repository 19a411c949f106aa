import { ToolError } from "@refmcp/core/answer";
import * as z from "zod";
import { cells, columns, count, database, notices, remarks, timeoutMs, tool } from "../context.ts";
import { withNearNames } from "../database/reading/near.ts";
import { shownWriting } from "../database/writing/shown-writing.ts";
import { write } from "../database/writing/writing.ts";

export default tool({
  name: "pg_execute",
  title: "Execute changes",
  description:
    "Run changing SQL: one statement, or several in one transaction, all or nothing. " +
    "What destroys data (DROP, TRUNCATE, DELETE or UPDATE of every row or of more than 1,000) is worked out first and asks " +
    "the user. dry_run runs everything, reports and takes it back. VACUUM and CONCURRENTLY run alone. For reading use query.",
  effect: "destroy",
  openWorld: false,
  toolset: "data",
  needs: "allowWrite",
  input: z.strictObject({
    statements: z
      .array(z.string())
      .min(1)
      .max(100)
      .describe('["UPDATE t SET a = $1 WHERE id = $2"], in order.'),
    params: z
      .array(z.unknown())
      .max(1_000)
      .default([])
      .describe("Values for $1, $2, … of one statement; of several a list for each: [[1], [2]]."),
    dry_run: z.boolean().default(false).describe("Report and take everything back."),
    timeout_ms: timeoutMs,
    database,
  }),
  output: z.object({
    committed: z.boolean(),
    results: z.array(
      z.object({
        command: z.string(),
        row_count: count.optional(),
        columns: columns.optional(),
        rows: cells.optional(),
      }),
    ),
    tables: z.array(z.object({ table: z.string(), inserted: count, updated: count, deleted: count })),
    loss: z.string().optional(),
    undo: z.array(z.string()).optional(),
    truncated: z.boolean(),
    truncated_by: z.enum(["bytes", "cell"]).optional(),
    notices,
  }),
  async run({ statements, params, dry_run, timeout_ms, database: name }, postgres, call) {
    const at = postgres.at(name).database;
    const { maxBytes, maxCellBytes } = postgres.limits;
    const work = { signal: call.signal, timeoutMs: timeout_ms };
    const written = await write(at, {
      ...work,
      statements,
      params,
      caps: { chars: maxBytes },
      dryRun: dry_run,
      confirm: (loss) => call.confirm(loss),
    }).catch(async (error: unknown) => {
      throw error instanceof ToolError ? await withNearNames(error, at, statements.join(" "), work) : error;
    });
    return shownWriting(written, remarks(written.notices), call.budget, maxCellBytes);
  },
});
