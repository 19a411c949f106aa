import { csvLine } from "./csv.ts";

/** A column of a result: its name and its type as the database writes it. */
export interface Column {
  readonly name: string;
  readonly type: string;
}

/** Answers contain blobs of up to this many bytes; of larger ones, only the size. */
const SMALL_BLOB = 1_024;

export interface CutCells {
  count: number;
}

/**
 * A value as JSON can carry it without loss: integers outside ±2^53 as text, bytes as `{ "$blob": size }` with their
 * base64 up to 1 KiB, NaN and infinities as text. Values longer than `max` bytes are truncated.
 *
 * @param max maximum bytes of the value
 * @param cut incremented if the value was truncated
 */
export function encodeCell(value: unknown, max: number, cut: CutCells): unknown {
  switch (typeof value) {
    case "undefined":
      return null;
    case "bigint": {
      const number = Number(value);
      return Number.isSafeInteger(number) ? number : value.toString();
    }
    case "number":
      if (Object.is(value, -0)) return "-0";
      return Number.isFinite(value) ? value : String(value);
    case "string":
      return cutText(value, max, cut);
    case "object": {
      if (value === null) return null;
      if (value instanceof Uint8Array) {
        const size = value.byteLength;
        return size > SMALL_BLOB
          ? { $blob: size }
          : { $blob: size, base64: Buffer.from(value).toString("base64") };
      }
      // Within arrays, bytes have to be encoded too.
      const isNested =
        Array.isArray(value) &&
        value.some((item) => item instanceof Uint8Array || Array.isArray(item));
      const cells = isNested ? value.map((item) => encodeCell(item, max, cut)) : value;
      const text = JSON.stringify(cells);
      return Buffer.byteLength(text) <= max ? cells : cutText(text, max, cut);
    }
    default:
      return value;
  }
}

/** All values of a row, each by `encodeCell`. */
export const encodeRow = (row: readonly unknown[], max: number, cut: CutCells): unknown[] =>
  row.map((value) => encodeCell(value, max, cut));

function cutText(text: string, max: number, cut: CutCells): string {
  // A UTF-16 unit has at most three bytes.
  if (text.length * 3 <= max) return text;
  const bytes = Buffer.byteLength(text);
  if (bytes <= max) return text;
  cut.count += 1;
  const { read } = new TextEncoder().encodeInto(text, new Uint8Array(max));
  return `${text.slice(0, read)}… (${max} of ${bytes} bytes)`;
}

/** How the rows of an answer can be written. */
export const FORMATS = ["rows", "csv"] as const;
export type Format = (typeof FORMATS)[number];

/** Writes a row from the driver as a piece of an answer's JSON text; values beyond the limit are truncated and counted. */
export type RowWriter = (row: readonly unknown[], cut: CutCells) => string;

/** @param cellBytes maximum bytes of one value */
export const rowWriter = (format: Format, cellBytes: number): RowWriter =>
  format === "csv"
    ? (row, cut) => inner(csvLine(encodeRow(row, cellBytes, cut)))
    : (row, cut) => JSON.stringify(encodeRow(row, cellBytes, cut));

/** The member of an answer that holds the rows: `"rows":[…]` or `"text":"…"`. */
export const rowsText = (format: Format, columns: readonly Column[], pieces: readonly string[]) =>
  format === "csv"
    ? `"text":"${inner(csvLine(columns.map(({ name }) => name)))}${pieces.join("")}"`
    : `"rows":[${pieces.join(",")}]`;

/** A text as JSON has it between quotes. */
const inner = (text: string) => JSON.stringify(text).slice(1, -1);
