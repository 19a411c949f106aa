/** Shorter lists are written in one line. */
const LINE_CHARS = 100;
const MAX_DEPTH = 40;

type Row = Readonly<Record<string, unknown>>;

/**
 * JSON as indented lines: `key: value`, lists with dashes, and lists of similar objects as CSV under a line with their keys. Empty
 * values are left out.
 */
export function linesOf(value: unknown, indent = "", depth = 0): string[] {
  if (depth > MAX_DEPTH) return [`${indent}…`];
  if (Array.isArray(value)) {
    const table = tableOf(value);
    if (table !== undefined) return table.map((row) => indent + row);
    return value.filter(isFilled).flatMap((item) => {
      const [first = "", ...rest] = linesOf(item, `${indent} `, depth + 1);
      return [`${indent}- ${first.trimStart()}`, ...rest];
    });
  }
  if (typeof value === "object" && value !== null)
    return Object.entries(value).flatMap(([key, one]) => {
      if (!isFilled(one)) return [];
      const name = key.replace(/[\s:]+/g, " ").slice(0, 200);
      if (typeof one !== "object" || one === null) return [`${indent}${name}: ${scalar(one)}`];
      if (Array.isArray(one)) {
        const inline =
          one.every((item) => typeof item !== "object" || item === null) &&
          one.map(scalar).join(", ");
        if (typeof inline === "string" && inline.length <= LINE_CHARS)
          return [`${indent}${name}: ${inline}`];
      }
      return [`${indent}${name}:`, ...linesOf(one, `${indent} `, depth + 1)];
    });
  return [indent + scalar(value)];
}

/** Longer values without a space are encoded, encrypted or a file. */
const MAX_WORD = 1_000;

function scalar(value: unknown): string {
  const text = String(value).replace(/\s+/g, " ").trim();
  return text.length > MAX_WORD && !/\s/.test(text) ? `(${text.length} characters)` : text;
}

function isFilled(value: unknown): boolean {
  if (value === null || value === undefined || value === "") return false;
  if (Array.isArray(value)) return value.some(isFilled);
  return typeof value !== "object" || Object.values(value).some(isFilled);
}

/** A list of flat objects with mostly the same keys, as CSV. */
function tableOf(list: readonly unknown[]): string[] | undefined {
  if (list.length < 2 || !list.every(isFlat)) return undefined;
  const rows = list.filter(isFlat);
  const counts = new Map<string, number>();
  for (const row of rows)
    for (const [key, value] of Object.entries(row))
      if (isFilled(value)) counts.set(key, (counts.get(key) ?? 0) + 1);
  const keys = [...counts.keys()];
  const filled = [...counts.values()].reduce((sum, count) => sum + count, 0);
  if (keys.length === 0 || filled < keys.length * rows.length * 0.6) return undefined;
  return csvOf([
    keys,
    ...rows.map((row) => keys.map((key) => (isFilled(row[key]) ? scalar(row[key]) : ""))),
  ]);
}

const isFlat = (item: unknown): item is Row =>
  typeof item === "object" &&
  item !== null &&
  !Array.isArray(item) &&
  Object.values(item).every((value) => typeof value !== "object" || value === null);

/** Rows as CSV (RFC 4180), one line each. */
export const csvOf = (rows: readonly (readonly string[])[]): string[] =>
  rows.map((row) =>
    row.map((cell) => (/[",]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell)).join(","),
  );
