// Programs that must stay small, such as SQLite's runner, import single modules (`@refmcp/sql/formats`): this one brings zod.

export {
  type ChangeSummary,
  ChangeWriter,
  RECORD_BYTES,
  type RecordedRow,
  type RecordSlot,
  RecordTooLarge,
  readRows,
  type TableCounts,
  TOO_LARGE,
} from "./change-record.ts";
export { CHANGES_NAME, ChangeStore, type ChangeStoreOptions, type RecordedChange } from "./changes.ts";
export { csvHeader } from "./csv.ts";
export { type Dialect, translated } from "./dialect.ts";
export {
  type Column,
  distinctNames,
  type ExportFormat,
  encodeCell,
  encodeRow,
  type Format,
  ROW_COST,
  rowWriter,
} from "./formats.ts";
export { type Limits, type LimitValues, limitOptions, limitsOf, STANDARD_ROWS } from "./limits.ts";
export { type Loss, lossText, rowCount } from "./loss-text.ts";
export { didYouMean, quoteIdentifier, suggesting, unquoted, withNear } from "./names.ts";
export { type NewFile, writeNewFile } from "./new-file.ts";
export {
  type Ahead,
  answerText,
  type Bound,
  type Calling,
  type Changing,
  type Question,
  ResultStore,
  type ResultWindow,
} from "./results.ts";
export {
  excerpt,
  positionText,
  removalOf,
  type Statement,
  statementOf,
  targetOf,
  tokenize,
} from "./statement.ts";
export { reasonOf, statusEntry, statusResource } from "./status.ts";
