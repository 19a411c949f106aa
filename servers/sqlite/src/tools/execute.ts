import { executeTool, statementsInput, withValues } from "@refmcp/sql/tools";
import * as z from "zod";
import { database, dryRun, params, tool } from "../context.ts";
import { runChanges } from "../database/writing/write.ts";

export default tool({
  ...executeTool,
  name: "execute",
  aliases: ["run_transaction"],
  description:
    "Run several changing statements in one transaction, all or none. Accepts the same statements as write_query. undo_database_change restores their rows; what it can't restore asks the user first.",
  input: z.strictObject({ statements: statementsInput(params), database, dry_run: dryRun }),
  run: ({ statements, database, dry_run }, databases, call) =>
    runChanges(databases, { statements: withValues(statements), database, dryRun: dry_run }, call),
});
