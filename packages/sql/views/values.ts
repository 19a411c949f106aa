// What of a result can be drawn: numbers, dates and times, in the form that answers have.

/** Columns with rows of values, as encoded for an answer. */
export interface Drawable {
  readonly columns: readonly { readonly name: string }[];
  readonly rows: readonly (readonly unknown[])[];
}

const ISO =
  /^(\d{4}-\d\d)(?:(-\d\d)(?:[T ](\d\d:\d\d)(:\d\d(?:\.\d{1,9})?)?)?(?:Z|[+-]\d\d(?::?\d\d)?)?)?$/;

/** A value as a number; in an answer, integers beyond 2^53 and decimals are text. */
export function numberOf(value: unknown): number | undefined {
  const isNumeric = typeof value === "string" && /^-?\d+(\.\d+)?(e[+-]?\d+)?$/i.test(value);
  const number = isNumeric ? Number(value) : value;
  return typeof number === "number" && Number.isFinite(number) ? number : undefined;
}

/** A written month, date or time in milliseconds since 1970; its time zone is ignored, so that it is drawn as written. */
export function timeOf(value: unknown): number | undefined {
  const match = typeof value === "string" ? ISO.exec(value) : null;
  const [, month, day = "-01", time = "00:00", seconds = ""] = match ?? [];
  const at = month === undefined ? Number.NaN : Date.parse(`${month}${day}T${time}${seconds}Z`);
  return Number.isNaN(at) ? undefined : at;
}

/** Whether a column has only numbers and NULL. */
export const hasNumbers = (rows: Drawable["rows"], index: number): boolean =>
  hasOnly(rows, index, numberOf);

/** Whether a column has only dates and NULL. */
export const hasTimes = (rows: Drawable["rows"], index: number): boolean =>
  hasOnly(rows, index, timeOf);

function hasOnly(
  rows: Drawable["rows"],
  index: number,
  read: (value: unknown) => number | undefined,
) {
  const values = rows.map((row) => row[index] ?? null).filter((value) => value !== null);
  return values.length > 0 && values.every((value) => read(value) !== undefined);
}
