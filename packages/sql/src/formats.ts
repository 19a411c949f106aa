import { type Column, type CutCells, cellText, encodeRow } from "./cells.ts";
import { csvLines } from "./csv.ts";

/** How the rows of an answer can be written. */
export const FORMATS = ["rows", "objects", "csv", "markdown"] as const;
export type Format = (typeof FORMATS)[number];

/** Memory of a kept row in addition to its text, in characters. */
export const ROW_COST = 40;

/** Writes the rows of a result as pieces of an answer's JSON text. */
export interface RowWriter {
  /** Writes a row from the driver; values beyond the limit are truncated and counted. */
  write(row: readonly unknown[], cut: CutCells): string;
  /** Writes a row from `encodeRow`. */
  writeEncoded(row: readonly unknown[]): string;
}

/** @param cellBytes maximum bytes of one value */
export function rowWriter(format: Format, names: readonly string[], cellBytes: number): RowWriter {
  const joined = (
    texts: (row: readonly unknown[], text: (value: unknown) => string) => string,
  ): RowWriter => ({
    write: (row, cut) => texts(row, (value) => cellText(value, cellBytes, cut)),
    writeEncoded: (row) => texts(row, (value) => JSON.stringify(value)),
  });
  const line = (text: (row: readonly unknown[]) => string): RowWriter => {
    const writeEncoded = (row: readonly unknown[]) => JSON.stringify(text(row)).slice(1, -1);
    return { write: (row, cut) => writeEncoded(encodeRow(row, cellBytes, cut)), writeEncoded };
  };
  switch (format) {
    case "rows":
      return joined((row, text) => {
        let piece = "[";
        for (let at = 0; at < row.length; at++) piece += at === 0 ? text(row[at]) : `,${text(row[at])}`;
        return `${piece}]`;
      });
    case "objects": {
      const keys = distinctNames(names).map((key) => `${JSON.stringify(key)}:`);
      return joined((row, text) => `{${row.map((value, at) => keys[at] + text(value)).join(",")}}`);
    }
    case "csv":
      return line((row) => csvLines([row]));
    case "markdown":
      return line(markdownLine);
  }
}

/** The member of an answer that holds the rows: `"rows":[…]`, `"objects":[…]` or `"text":"…"`. */
export function rowsText(format: Format, columns: readonly Column[], pieces: readonly string[]): string {
  const names = columns.map(({ name }) => name);
  switch (format) {
    case "rows":
    case "objects":
      return `"${format}":[${pieces.join(",")}]`;
    case "csv":
      return `"text":"${JSON.stringify(csvLines([names])).slice(1, -1)}${pieces.join("")}"`;
    case "markdown": {
      const head = `${markdownLine(names)}|${" --- |".repeat(names.length)}\n`;
      return `"text":"${JSON.stringify(head).slice(1, -1)}${pieces.join("")}"`;
    }
  }
}

/** Unique keys for columns: repeated names are numbered. */
export function distinctNames(names: readonly string[]): string[] {
  const taken = new Set<string>();
  return names.map((name) => {
    let key = name;
    for (let count = 2; taken.has(key); count++) key = `${name}_${count}`;
    taken.add(key);
    return key;
  });
}

/** Escapes values so that none ends its cell or its line. */
function markdownLine(row: readonly unknown[]): string {
  const cells = row.map((value) => {
    if (value === null || value === undefined) return "NULL";
    const text = typeof value === "string" ? value : JSON.stringify(value);
    return text.replace(/[\\|]/g, "\\$&").replace(/\r\n|[\r\n]/g, "<br>");
  });
  return `| ${cells.join(" | ")} |\n`;
}
