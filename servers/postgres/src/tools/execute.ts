import { changeOutput, statementsInput, withValues } from "@refmcp/sql";
import * as z from "zod";
import { database, params, timeoutMs, tool } from "../context.ts";
import { runChanges } from "../database/writing/writing.ts";

export default tool({
  name: "pg_execute",
  title: "Execute changes",
  description:
    "Run changing SQL: one statement, or several in one transaction, all or nothing. " +
    "Large losses (DROP, TRUNCATE, the last rows or half of a table, more than 1,000 rows in a session) and weaker protection (GRANT, " +
    "policies, triggers off) need the user's confirmation. dry_run runs everything, reports and rolls back. VACUUM and CONCURRENTLY run alone. For reading use query.",
  effect: "destroy",
  openWorld: false,
  toolset: "data",
  needs: "allowWrite",
  input: z.strictObject({
    statements: statementsInput("DELETE FROM a WHERE id = 1", params),
    dry_run: z.boolean().default(false).describe("Report, then roll everything back."),
    timeout_ms: timeoutMs,
    database,
  }),
  output: changeOutput,
  run: ({ statements, dry_run, timeout_ms, database }, postgres, call) => {
    const given = { statements: withValues(statements), database, dryRun: dry_run, timeoutMs: timeout_ms };
    return runChanges(postgres, given, call);
  },
});
