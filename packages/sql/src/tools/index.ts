import type { Kind } from "../databases.ts";
import { describeTool } from "./describe-tables.ts";
import { executeTool } from "./execute.ts";
import { explainTool } from "./explain.ts";
import { exportTool } from "./export.ts";
import { importTool } from "./import-csv.ts";
import { listChangesTool } from "./list-changes.ts";
import { queryOutput, queryTool } from "./query.ts";
import { undoChangeTool } from "./undo-change.ts";

export { queryOutput };

/** The tools of every SQL server. */
export const sqlTools = (kind: Kind) => [
  describeTool(kind),
  executeTool(kind),
  explainTool(kind),
  exportTool(kind),
  importTool(kind),
  listChangesTool(kind),
  queryTool(kind),
  undoChangeTool(kind),
];
