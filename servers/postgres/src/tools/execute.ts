import { executeTool, statementsInput, withValues } from "@refmcp/sql/tools";
import * as z from "zod";
import { database, params, timeoutMs, tool } from "../context.ts";
import { runChanges } from "../database/writing/writing.ts";

export default tool({
  ...executeTool,
  name: "pg_execute",
  description:
    "Run changing SQL: one statement, or several in one transaction, all or nothing. " +
    "Changed rows are recorded: pg_undo_change restores them. What is not (TRUNCATE, rows that can't be recorded), and changes of the schema or rights except " +
    "CREATE of a free name and ADD, need the user's confirmation. dry_run runs everything, reports and rolls back. VACUUM and CONCURRENTLY run alone. For reading use query.",
  toolset: "data",
  input: z.strictObject({
    statements: statementsInput(params),
    dry_run: z.boolean().default(false).describe("Report, then roll everything back."),
    timeout_ms: timeoutMs,
    database,
  }),
  run: ({ statements, dry_run, timeout_ms, database }, postgres, call) => {
    const given = {
      statements: withValues(statements),
      database,
      dryRun: dry_run,
      timeoutMs: timeout_ms,
    };
    return runChanges(postgres, given, call);
  },
});
