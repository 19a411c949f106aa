/** A column of a result: its name and its type as the database writes it. */
export interface Column {
  readonly name: string;
  readonly type: string;
}

/** Answers contain blobs of up to this many bytes; of larger ones, only the size. */
export const SMALL_BLOB = 1_024;

/** Counts the truncated cells. */
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
    case "bigint":
      return value >= Number.MIN_SAFE_INTEGER && value <= Number.MAX_SAFE_INTEGER
        ? Number(value)
        : value.toString();
    case "number":
      return Number.isFinite(value) && !Object.is(value, -0)
        ? value
        : Object.is(value, -0)
          ? "-0"
          : String(value);
    case "string":
      return cutText(value, max, cut);
    case "object": {
      if (value === null) return null;
      if (value instanceof Uint8Array) return encodeBlob(value);
      if (Array.isArray(value) && value.some((item) => item instanceof Uint8Array || Array.isArray(item)))
        return bounded(
          value.map((item) => encodeCell(item, max, cut)),
          max,
          cut,
        );
      return bounded(value, max, cut);
    }
    default:
      return value;
  }
}

/** Text that JSON leaves unchanged: no quotes, backslashes, control characters or lone surrogates. */
const PLAIN = /^[ !#-[\]-\ud7ff\ue000-\uffff]*$/;

/** `encodeCell` as JSON text, with a shortcut for plain values, which most cells contain. */
export function cellText(value: unknown, max: number, cut: CutCells): string {
  switch (typeof value) {
    case "bigint":
      return value >= Number.MIN_SAFE_INTEGER && value <= Number.MAX_SAFE_INTEGER
        ? value.toString()
        : `"${value}"`;
    case "number":
      if (Number.isFinite(value) && value !== 0) return String(value);
      break;
    case "string":
      if (value.length * 3 <= max) return PLAIN.test(value) ? `"${value}"` : JSON.stringify(value);
      break;
    case "boolean":
      return value ? "true" : "false";
    default:
      if (value === null) return "null";
  }
  return JSON.stringify(encodeCell(value, max, cut));
}

/** All values of a row, each by `encodeCell`. */
export function encodeRow(row: readonly unknown[], max: number, cut: CutCells): unknown[] {
  return row.map((value) => encodeCell(value, max, cut));
}

function encodeBlob(bytes: Uint8Array): object {
  const size = bytes.byteLength;
  if (size > SMALL_BLOB) return { $blob: size };
  return { $blob: size, base64: Buffer.from(bytes).toString("base64") };
}

/** JSON and arrays are kept up to the limit, and truncated as text beyond it. */
function bounded(value: object, max: number, cut: CutCells): unknown {
  const text = JSON.stringify(value);
  return Buffer.byteLength(text) <= max ? value : cutText(text, max, cut);
}

function cutText(text: string, max: number, cut: CutCells): string {
  // A UTF-16 unit has at most three bytes.
  if (text.length * 3 <= max) return text;
  const bytes = Buffer.byteLength(text);
  if (bytes <= max) return text;
  cut.count += 1;
  const { read } = new TextEncoder().encodeInto(text, new Uint8Array(max));
  return `${text.slice(0, read)}… (${max} of ${bytes} bytes)`;
}
