import { ToolError } from "@refmcp/core/answer";
import * as z from "zod";
import { cells, columns, count, database, notices, params, showing, timeoutMs, tool } from "../context.ts";
import { withNearNames } from "../database/reading/near.ts";
import { write } from "../database/writing/writing.ts";

export default tool({
  name: "pg_execute",
  title: "Execute changes",
  description:
    "Run changing SQL: one statement, or several in one transaction, all or nothing. " +
    "What destroys data (DROP, TRUNCATE, DELETE or UPDATE of every row or of more than 1,000) is worked out first and asks " +
    "the user. dry_run runs everything, reports and takes it back. For reading use query.",
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
    params,
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
    truncated: z.boolean(),
    truncated_by: z.enum(["rows", "bytes", "cell"]).optional(),
    notices,
  }),
  async run({ statements, params, dry_run, timeout_ms, database: name }, postgres, call) {
    const at = postgres.at(name).database;
    const work = { signal: call.signal, timeoutMs: timeout_ms };
    const { show, fitting, hasCut, remarks } = showing(postgres, call, "rows");
    const caps = { rows: 200, bytes: postgres.limits.maxBytes };
    const confirm = (loss: string) => call.confirm(loss);
    const written = await write(at, { ...work, statements, params, caps, dryRun: dry_run, confirm }).catch(
      async (error: unknown) => {
        throw error instanceof ToolError ? await withNearNames(error, at, work) : error;
      },
    );
    let stopped: "rows" | "bytes" | undefined;
    const results = written.outcomes.map((outcome) => {
      const rows = outcome.rows.map(show);
      // Several statements share the budget.
      const fits = Math.ceil(fitting(rows, outcome.columns) / statements.length);
      stopped ??= fits < rows.length ? "bytes" : outcome.stopped;
      return {
        command: outcome.command,
        ...(outcome.rowCount === undefined ? {} : { row_count: outcome.rowCount }),
        ...(outcome.columns.length === 0 ? {} : { columns: [...outcome.columns], rows: rows.slice(0, fits) }),
      };
    });
    const by = stopped ?? (hasCut() ? ("cell" as const) : undefined);
    const said = remarks(written.notices);
    return {
      committed: written.committed,
      results,
      tables: [...written.tables],
      ...(written.loss === undefined ? {} : { loss: written.loss }),
      truncated: by !== undefined,
      ...(by === undefined ? {} : { truncated_by: by }),
      ...(said.length === 0 ? {} : { notices: said }),
    };
  },
});
