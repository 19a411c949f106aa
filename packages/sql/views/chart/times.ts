// How dates and times are written on a chart's axis.

const MINUTE = 60_000;
const DAY = 24 * 60 * MINUTE;

/**
 * How to write these times: without what all have in common, but never without the date if it differs.
 *
 * @param span the times of the whole axis, if these are only its labels
 */
export function timeText(times: readonly number[], span = times): (time: number) => string {
  const same = (length: number) =>
    new Set(span.map((time) => iso(time).slice(0, length))).size === 1;
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
