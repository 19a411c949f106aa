/** Dates as pages and headers write them, in ISO 8601. */

const ISO =
  /^(\d{4})([-/]?)(\d{2})\2(\d{2})(?:[T ](\d{2}:\d{2}(?::\d{2})?)(?:[.,]\d+)? ?(Z|[+-]\d{2}:?\d{2})?)?$/i;
const MONTH = "(?:jan|feb|mar|apr|may|june?|july?|aug|sept?|oct|nov|dec)[a-z]{0,6}\\.?";
/** English dates: `Tue, 05 May 2026 10:00:00 GMT`, `May 5, 2026`, `5 May 2026, 10:00 PM`. */
const ENGLISH = new RegExp(
  `^(?:(?:mon|tue|wed|thu|fri|sat|sun)[a-z]{0,6},? )?(?:\\d{1,2} ${MONTH}|${MONTH} \\d{1,2}),? \\d{4}` +
    "(?:,? \\d{1,2}:\\d{2}(?::\\d{2})?(?: ?[ap]m)?( GMT| UTC| Z| [+-]\\d{4})?)?$",
  "i",
);

/**
 * A date that a page or a header gives, in ISO 8601: in UTC with its time if it has a time zone, otherwise the day (or
 * month, or year). Everything else is undefined, because a page can write anything there, and `Date` accepts most texts
 * that contain a number.
 */
export function dateOf(text: string | undefined): string | undefined {
  const value = text?.replace(/\s+/g, " ").trim() ?? "";
  if (/^\d{4}(?:-(?:0[1-9]|1[0-2]))?$/.test(value)) return value;
  const iso = ISO.exec(value);
  const english = iso === null ? ENGLISH.exec(value) : null;
  const zone = iso?.[6] ?? english?.[1];
  const [, year, , month, day, time = "00:00"] = iso ?? [];
  const exact =
    iso !== null
      ? `${year}-${month}-${day}T${time}${zone ?? "Z"}`
      : `${english?.[0]}${zone === undefined ? " UTC" : ""}`;
  const date = new Date(exact.toUpperCase());
  if ((iso ?? english) === null || Number.isNaN(date.getTime())) return undefined;
  return zone === undefined
    ? date.toISOString().slice(0, 10)
    : date.toISOString().replace(".000Z", "Z");
}
