// Programs that must stay small, such as SQLite's runner, import single modules (`@refmcp/sql/formats`): this one brings zod.

export * from "./change-record.ts";
export * from "./changes.ts";
export { csvHeader } from "./csv.ts";
export * from "./dialect.ts";
export * from "./formats.ts";
export * from "./limits.ts";
export * from "./loss-text.ts";
export * from "./names.ts";
export * from "./new-file.ts";
export * from "./results.ts";
export * from "./statement.ts";
