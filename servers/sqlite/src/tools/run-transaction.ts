import { changeOutput, statementsInput, withValues } from "@refmcp/sql";
import * as z from "zod";
import { database, dryRun, params, tool } from "../context.ts";
import { runChanges } from "../database/writing/write.ts";

export default tool({
  name: "run_transaction",
  title: "Run transaction",
  description:
    "Run several changing statements in one transaction, all or none. Accepts the same statements as write_query. Data loss is measured, and the user is asked once.",
  effect: "destroy",
  openWorld: false,
  needs: "allowWrite",
  input: z.strictObject({
    statements: statementsInput("DELETE FROM a WHERE id = 1", params),
    database,
    dry_run: dryRun,
  }),
  output: changeOutput,
  run: ({ statements, database, dry_run }, databases, call) =>
    runChanges(databases, { statements: withValues(statements), database, dryRun: dry_run }, call),
});
