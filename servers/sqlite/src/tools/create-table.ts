import { changeOutput } from "@refmcp/sql/tools";
import * as z from "zod";
import { database, statement, tool } from "../context.ts";
import { runChanges } from "../database/writing/write.ts";

export default tool({
  name: "create_table",
  title: "Create table",
  description: "Run one CREATE TABLE. For other schema changes call write_query.",
  effect: "add",
  openWorld: false,
  needs: "allowDdl",
  argumentAliases: { sql: "query" },
  input: z.strictObject({
    query: statement("CREATE TABLE users (id INTEGER PRIMARY KEY, name TEXT)"),
    database,
  }),
  output: changeOutput,
  run({ query, database }, databases, call) {
    const statements = [{ sql: query, params: [] }];
    return runChanges(databases, { statements, database, dryRun: false }, call, true);
  },
});
