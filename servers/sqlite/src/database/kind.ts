import type { Kind } from "@refmcp/sql";

/** What the tools are called; read_query, write_query, create_table, list_tables and describe_table are those of the official server. */
export const kind: Kind = {
  title: "SQLite",
  names: {
    query: "read_query",
    describe: "describe_tables",
    execute: "execute",
    explain: "explain",
    export: "export",
    importCsv: "import_csv",
    listChanges: "list_database_changes",
    undoChange: "undo_database_change",
  },
  aliases: {
    describe: ["describe_table", "list_tables"],
    execute: ["write_query", "create_table", "run_transaction"],
    explain: ["explain_query"],
    export: ["export_query"],
  },
  params:
    'Values for ?, ?1, $1 in order, or one object for :name: text, number, true, null, {"base64": "…"} for bytes.',
  example: "SELECT name FROM users WHERE id = ?",
  reads: "SELECT, WITH, VALUES, EXPLAIN or a PRAGMA that reports",
  asks: "what it can't restore, and with --allow-ddl DROP and ALTER except ADD, ask the user first.",
  database: "Name of a --db option, or a path inside the allowed directories; default: the first.",
  hasSchemas: false,
  analyzes: false,
  exportsParams: true,
};
