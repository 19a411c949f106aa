import { oneLine } from "@refmcp/boundary/answer";
import { isObject } from "@refmcp/core/internal/protocol/messages";

/** How wide a cell may be on a terminal. A pipe gets whole cells. */
const MAX_CELL_CHARS = 40;

/** Rows of a result with the names of their columns. */
interface Rows {
  readonly names: readonly string[];
  readonly rows: readonly (readonly unknown[])[];
  /** What the result has besides the rows, for lines below the table. */
  readonly rest: Readonly<Record<string, unknown>>;
}

/**
 * A result's data as a table: rows with columns as SQL tools return them, else the first list of objects, else its
 * members. Undefined for a result without data.
 *
 * @param limited whether long cells are shortened
 */
export function asTable(data: unknown, limited: boolean): string | undefined {
  if (!isObject(data)) return undefined;
  const { names, rows, rest } = rowsOf(data);
  const cells = [names, ...rows].map((row) =>
    names.map((_, index) => cellText(row[index], limited)),
  );
  const widths = names.map((_, index) => Math.max(...cells.map((row) => row[index]?.length ?? 0)));
  const isNumeric = names.map((_, index) => {
    return (
      rows.length > 0 && rows.every((row) => row[index] === null || typeof row[index] === "number")
    );
  });
  const lines = cells.map((row) =>
    row
      .map((cell, index) => {
        const width = widths[index] ?? 0;
        return isNumeric[index] === true ? cell.padStart(width) : cell.padEnd(width);
      })
      .join("  ")
      .trimEnd(),
  );
  const rule = widths.map((width) => "-".repeat(width)).join("  ");
  const below = Object.entries(rest).map(
    ([name, value]) => `${oneLine(name)}: ${cellText(value, false)}`,
  );
  return `${[lines[0] ?? "", rule, ...lines.slice(1), ...(below.length > 0 ? ["", ...below] : [])].join("\n")}\n`;
}

function rowsOf(data: Readonly<Record<string, unknown>>): Rows {
  const { columns, rows, ...others } = data;
  if (Array.isArray(columns) && Array.isArray(rows) && rows.every(Array.isArray)) {
    const names = columns.map((column) => String(isObject(column) ? column.name : column));
    return { names, rows, rest: others };
  }
  const found = Object.entries(data).find(([, value]) => isListOfObjects(value));
  if (found === undefined) {
    return { names: ["name", "value"], rows: Object.entries(data), rest: {} };
  }
  const [key, list] = found;
  const objects: readonly Readonly<Record<string, unknown>>[] = Array.isArray(list) ? list : [];
  const names = [...new Set(objects.flatMap((one) => Object.keys(one)))];
  const { [key]: _, ...rest } = data;
  return { names, rows: objects.map((one) => names.map((name) => one[name])), rest };
}

function isListOfObjects(value: unknown): boolean {
  return Array.isArray(value) && value.length > 0 && value.every(isObject);
}

function cellText(value: unknown, limited: boolean): string {
  if (value === null || value === undefined) return "";
  const text = oneLine(typeof value === "object" ? JSON.stringify(value) : String(value));
  return limited && text.length > MAX_CELL_CHARS ? `${text.slice(0, MAX_CELL_CHARS - 1)}…` : text;
}
