import type { Column } from "./cells.ts";
import { csvLine } from "./csv.ts";

/** How the rows of an answer can be written. */
export const FORMATS = ["rows", "objects", "csv", "markdown"] as const;
export type Format = (typeof FORMATS)[number];

/** What counts and notices cost beside the columns and rows, in characters. */
const AROUND = 600;

/** Characters of an answer that are left for rows; at least one. */
export function roomForRows(columns: readonly Column[], budget: number): number {
  return Math.max(budget - AROUND - JSON.stringify(columns).length, 1);
}

/** How many characters an encoded row costs in the answer's JSON. */
export function rowCost(row: readonly unknown[], columns: readonly Column[], format: Format): number {
  switch (format) {
    case "rows":
      return JSON.stringify(row).length + 1;
    case "objects":
      return JSON.stringify(objectOf(row, columns)).length + 1;
    default:
      return JSON.stringify(format === "csv" ? csvLine(row) : markdownLine(row)).length;
  }
}

/** The rows in a format: as `rows`, `objects` or `text`. */
export function shownAs(
  format: Format,
  columns: readonly Column[],
  rows: readonly (readonly unknown[])[],
): { rows?: unknown[][]; objects?: Record<string, unknown>[]; text?: string } {
  const names = columns.map(({ name }) => name);
  switch (format) {
    case "rows":
      return { rows: rows.map((row) => [...row]) };
    case "objects":
      return { objects: rows.map((row) => objectOf(row, columns)) };
    case "csv":
      return { text: [names, ...rows].map(csvLine).join("") };
    case "markdown":
      return {
        text: [markdownLine(names), `|${" --- |".repeat(names.length)}\n`, ...rows.map(markdownLine)].join(
          "",
        ),
      };
  }
}

/** Columns of one name are told apart by a number. */
function objectOf(row: readonly unknown[], columns: readonly Column[]): Record<string, unknown> {
  const object: Record<string, unknown> = {};
  for (const [index, { name }] of columns.entries()) {
    let key = name;
    for (let count = 2; Object.hasOwn(object, key); count++) key = `${name}_${count}`;
    // Not an assignment: a column may be called __proto__.
    Object.defineProperty(object, key, { value: row[index], enumerable: true });
  }
  return object;
}

/** A value can end neither its cell nor its line. */
function markdownLine(row: readonly unknown[]): string {
  const cells = row.map((value) => {
    if (value === null || value === undefined) return "NULL";
    const text = typeof value === "string" ? value : JSON.stringify(value);
    return text.replace(/[\\|]/g, "\\$&").replace(/\r\n|[\r\n]/g, "<br>");
  });
  return `| ${cells.join(" | ")} |\n`;
}
