// Dates and times on a chart's axis.
import type { Table } from "./table.ts";

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const MONTH = 30.5 * DAY;
const YEAR = 365.25 * DAY;
/** Distances between ticks. */
const STEPS = [
  ...[1, 2, 5, 10, 30].map((count) => count * SECOND),
  ...[1, 2, 5, 10, 30].map((count) => count * MINUTE),
  ...[1, 2, 3, 6, 12].map((count) => count * HOUR),
  ...[1, 2, 7, 14].map((count) => count * DAY),
  ...[1, 2, 3, 6].map((count) => count * MONTH),
  ...[1, 2, 5, 10, 20, 50, 100].map((count) => count * YEAR),
];
/** As many labels as fit side by side. */
const MAX_TICKS = 6;
const ISO = /^(\d{4}-\d\d-\d\d)(?:[T ](\d\d:\d\d)(:\d\d(?:\.\d{1,9})?)?)?(?:Z|[+-]\d\d(?::?\d\d)?)?$/;

/** A written date or time in milliseconds since 1970; its time zone is ignored. */
export function timeOf(value: unknown): number | undefined {
  const [, date, time = "00:00", seconds = ""] = (typeof value === "string" && ISO.exec(value)) || [];
  const at = date === undefined ? Number.NaN : Date.parse(`${date}T${time}${seconds}Z`);
  return Number.isNaN(at) ? undefined : at;
}

/** Whether a column has only dates and NULL. */
export function hasTimes(rows: Table["rows"], index: number): boolean {
  const values = rows.map((row) => row[index]).filter((value) => value !== null);
  return values.length > 0 && values.every((value) => timeOf(value) !== undefined);
}

/** Ticks at round times between the first and the last, with labels as exact as their distance. */
export function timeTicks(first: number, last: number): { readonly at: number; readonly text: string }[] {
  const step = STEPS.find((one) => (last - first) / one <= MAX_TICKS - 1) ?? (last - first) / (MAX_TICKS - 1);
  const ticks: number[] = [];
  for (let at = floorTo(first, step); at <= last; at = next(at, step)) if (at >= first) ticks.push(at);
  // Two times that are closer than a tick's distance have none between them.
  const shown = ticks.length > 0 ? ticks : [first];
  const text = timeText(shown);
  return shown.map((at) => ({ at, text: text(at) }));
}

/** How to write these times: without what all have in common, but never without the date if it differs. */
export function timeText(times: readonly number[]): (time: number) => string {
  const same = (length: number) => new Set(times.map((time) => iso(time).slice(0, length))).size === 1;
  if (times.every((time) => time % DAY === 0)) {
    if (times.every((time) => iso(time).endsWith("-01-01"))) return (time) => iso(time).slice(0, 4);
    return times.every((time) => iso(time).endsWith("-01")) ? (time) => iso(time).slice(0, 7) : iso;
  }
  const end = times.every((time) => time % MINUTE === 0) ? 16 : 19;
  const start = same(10) ? 11 : same(4) ? 5 : 0;
  return (time) => new Date(time).toISOString().replace("T", " ").slice(start, end);
}

/** From which day to which day: what the labels of times may lack. */
export function timeSpan(first: number, last: number): string {
  return iso(first) === iso(last) ? iso(first) : `${iso(first)} to ${iso(last)}`;
}

function iso(time: number): string {
  return new Date(time).toISOString().slice(0, 10);
}

function floorTo(time: number, step: number): number {
  if (step < MONTH) return Math.floor(time / step) * step;
  const date = new Date(time);
  const [year, month] = [date.getUTCFullYear(), date.getUTCMonth()];
  if (step >= YEAR) return Date.UTC(year - (year % Math.round(step / YEAR)), 0);
  return Date.UTC(year, month - (month % Math.round(step / MONTH)));
}

function next(time: number, step: number): number {
  if (step < MONTH) return time + step;
  const date = new Date(time);
  return Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + Math.round((12 * step) / YEAR));
}
