// The process that runs SQLite, which must stay small, imports single modules (`@refmcp/sql/formats`): this one brings zod.

export { didYouMean, quoteIdentifier, suggesting, unquoted, withNear } from "./answer/names.ts";
export { excerpt, positionText } from "./answer/position.ts";
export * from "./answer/relations.ts";
export * from "./answer/results.ts";
export * from "./change/loss.ts";
export * from "./change/record.ts";
export * from "./change/run.ts";
export * from "./change/store.ts";
export type * from "./database.ts";
export * from "./databases.ts";
export { exportRows } from "./files/export.ts";
export { importCsv, shownImport } from "./files/import.ts";
