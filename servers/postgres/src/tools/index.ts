// Written by `pnpm generate`.
import describeTable from "./describe-table.ts";
import describeTables from "./describe-tables.ts";
import execute from "./execute.ts";
import explain from "./explain.ts";
import exportRows from "./export-rows.ts";
import health from "./health.ts";
import importCsv from "./import-csv.ts";
import listChanges from "./list-changes.ts";
import listObjects from "./list-objects.ts";
import query from "./query.ts";
import suggestIndexes from "./suggest-indexes.ts";
import topQueries from "./top-queries.ts";
import undoChange from "./undo-change.ts";

export const tools = [
  describeTable,
  describeTables,
  execute,
  explain,
  exportRows,
  health,
  importCsv,
  listChanges,
  listObjects,
  query,
  suggestIndexes,
  topQueries,
  undoChange,
];
