import { executeTool } from "@refmcp/sql/tools";
import * as z from "zod";
import { database, dryRun, params, statement, tool } from "../context.ts";
import { runChanges } from "../database/writing/write.ts";

export default tool({
  ...executeTool,
  name: "write_query",
  title: "Write query",
  description:
    "Run one INSERT, UPDATE, DELETE or REPLACE. With --allow-ddl also CREATE, ALTER and DROP. Supports RETURNING. undo_database_change restores its rows; what it can't restore, DROP, and ALTER except ADD ask the user first. For several related changes call execute.",
  argumentAliases: { sql: "query" },
  input: z.strictObject({
    query: statement("UPDATE users SET name = ? WHERE id = ?"),
    params,
    database,
    dry_run: dryRun,
  }),
  run: ({ query, params, database, dry_run }, databases, call) =>
    runChanges(
      databases,
      { statements: [{ sql: query, params }], database, dryRun: dry_run },
      call,
    ),
});
