import type { Kind } from "@refmcp/sql";

/** What the tools are called; query is that of the official server. */
export const kind: Kind = {
  title: "PostgreSQL",
  names: {
    query: "query",
    describe: "pg_describe_tables",
    execute: "pg_execute",
    explain: "pg_explain",
    export: "pg_export",
    importCsv: "pg_import_csv",
    listChanges: "pg_list_changes",
    undoChange: "pg_undo_change",
  },
  aliases: { describe: ["pg_describe_table"] },
  params: 'Values for $1, $2, …, for example [42, "x"].',
  example: "SELECT name FROM users WHERE id = $1",
  reads: "SELECT, WITH, VALUES, TABLE, SHOW or EXPLAIN",
  asks: "what can't be recorded (TRUNCATE, what triggers and cascades change), and changes of the schema or rights except CREATE of a free name and ADD, ask the user first. VACUUM and CONCURRENTLY run alone.",
  database: "Name of a --db database; default: the first.",
  hasSchemas: true,
  analyzes: true,
  exportsParams: false,
};
