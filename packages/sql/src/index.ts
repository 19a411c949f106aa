export { type AnswerParts, answerText, queryOutput, roomForRows } from "./answer.ts";
export { type Column, type CutCells, encodeCell, encodeRow } from "./cells.ts";
export { changeOutput, statementsInput, withValues } from "./changes.ts";
export { type Removal, removalOf, type Statement, statementOf, targetOf } from "./classify.ts";
export { type AskingOptions, agreed } from "./confirm.ts";
export { csvHeader, csvLine, csvLines, csvRecords } from "./csv.ts";
export { distinctNames, FORMATS, type Format, ROW_COST, type RowWriter, rowWriter } from "./formats.ts";
export { type Limits, limitOptions, limitsOf, STANDARD_ROWS } from "./limits.ts";
export { counted, EVERY_ROW, LossTally, type RowLoss } from "./loss.ts";
export { didYouMean, quoteIdentifier, suggesting, withNear } from "./names.ts";
export { type NewFile, writeNewFile } from "./new-file.ts";
export {
  isPart,
  type OutlineColumn,
  type OutlineOptions,
  type OutlineTable,
  outlined,
  outlineFits,
  outlineOutput,
} from "./outline.ts";
export { type Ahead, type PageRequest, ResultStore, type ResultWindow } from "./results.ts";
export { type Token, tokenize } from "./tokens.ts";
