// Written by `pnpm generate`.
import createTable from "./create-table.ts";
import databaseInfo from "./database-info.ts";
import describeTable from "./describe-table.ts";
import describeTables from "./describe-tables.ts";
import execute from "./execute.ts";
import explain from "./explain.ts";
import exportRows from "./export-rows.ts";
import importCsv from "./import-csv.ts";
import listDatabaseChanges from "./list-database-changes.ts";
import listTables from "./list-tables.ts";
import readQuery from "./read-query.ts";
import suggestIndexes from "./suggest-indexes.ts";
import undoDatabaseChange from "./undo-database-change.ts";
import writeQuery from "./write-query.ts";

export const tools = [
  createTable,
  databaseInfo,
  describeTable,
  describeTables,
  execute,
  explain,
  exportRows,
  importCsv,
  listDatabaseChanges,
  listTables,
  readQuery,
  suggestIndexes,
  undoDatabaseChange,
  writeQuery,
];
