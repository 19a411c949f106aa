import { pathToFileURL } from "node:url";
import { fitting, type JsonText } from "@refmcp/boundary/answer";
import { withLinks } from "@refmcp/core";
import * as fields from "@refmcp/core/fields";
import * as z from "zod";
import {
  type Asked,
  type Chart,
  changeOutput,
  charted,
  chartInput,
  formatInput,
  queryOutput,
} from "./answer.ts";
import { EXPORT_FORMATS, type ExportFormat, type Format } from "./formats.ts";
import { STANDARD_ROWS } from "./limits.ts";
import type { NewFile } from "./new-file.ts";
import { outlineOutput } from "./outline.ts";

// What a tool has in common in all SQL servers. A server adds its name and description, and what its dialect needs.

const reading = { effect: "read", openWorld: false } as const;
const changing = { openWorld: false, needs: "allowWrite" } as const;

export const queryTool = { ...reading, view: "rows", output: queryOutput } as const;
export const queryArguments = {
  max_rows: z.int().min(1).max(10_000).default(STANDARD_ROWS).describe("Maximum rows, 1 to 10000."),
  cursor: fields.cursor,
  format: formatInput,
  chart: chartInput,
};

/** Answers a query, with a picture of its rows if the format is `chart`. @param ask runs it, and writes rows in a format */
export const answered = async (
  ask: (format: Format) => Promise<string>,
  format: Asked,
  chart: Chart | undefined,
): Promise<JsonText> => charted(await ask(format === "chart" ? "rows" : format), format, chart);

export const describeTableTool = { ...reading, title: "Describe table" } as const;
export const describeTablesTool = { ...reading, title: "Describe tables", output: outlineOutput } as const;

export const explainTool = {
  ...reading,
  title: "Explain query",
  argumentAliases: { query: "sql" },
} as const;

export const suggestIndexesTool = { ...reading, title: "Suggest indexes" } as const;

export const executeTool = {
  ...changing,
  title: "Execute changes",
  effect: "destroy",
  output: changeOutput,
} as const;

export const exportTool = {
  title: "Export rows",
  effect: "add",
  openWorld: false,
  argumentAliases: { query: "sql" },
  output: z.object({ path: z.string(), format: z.string(), rows: z.number(), bytes: z.number() }),
} as const;
export const exportFormat = z
  .enum(EXPORT_FORMATS)
  .default("csv")
  .describe("csv with a header line, or jsonl.");

/** The answer of an export, with a link to the file. */
export function exported({ path, rows, bytes }: NewFile & { readonly rows: number }, format: ExportFormat) {
  const mimeType = format === "csv" ? "text/csv" : "application/jsonl";
  return withLinks({ path, format, rows, bytes }, [
    { uri: pathToFileURL(path).href, name: path, mimeType, size: bytes },
  ]);
}

export const importCsvTool = {
  ...changing,
  title: "Import CSV",
  effect: "add",
  argumentAliases: { table_name: "table" },
} as const;
export const importArguments = {
  delimiter: z.string().length(1).default(",").describe("Field separator: , or ; or a tab."),
  dry_run: z.boolean().default(false).describe("Load, report, and roll back."),
};

/**
 * The part of a list that fits in an answer.
 *
 * @param isMore whether there are more items after these
 * @param cursorOf the cursor that continues after an item, given by its position
 */
export function pageOf<Item>(
  items: readonly Item[],
  { limit, budget, isMore = false }: { limit: number; budget: number; isMore?: boolean },
  cursorOf: (last: number) => string | undefined,
): { readonly page: Item[]; readonly next_cursor?: string | undefined } {
  const page = items.slice(0, Math.min(limit, fitting(items, budget)));
  const goesOn = page.length > 0 && (isMore || page.length < items.length);
  return goesOn ? { page, next_cursor: cursorOf(page.length - 1) } : { page };
}
