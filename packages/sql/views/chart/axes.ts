// The axes of a chart: where a value is, and which values get a label.
import { scaleBand, scaleLinear, scaleUtc } from "d3-scale";
import { timeSpan, timeText } from "./times.ts";
import { type Drawable, hasNumbers, hasTimes, numberOf, timeOf } from "./values.ts";

/** Degrees by which labels are turned if they don't fit next to each other. */
const TURN = -35;
const COS = Math.cos((TURN * Math.PI) / 180);
const SIN = -Math.sin((TURN * Math.PI) / 180);
/** Between labels. */
const GAP = 14;
const LINE = 16;
/** Longer names of categories are shortened; the tooltip and the rows have them in full. */
const MAX_NAME = 150;
/** Bars along a time axis must not be thinner, in pixels. */
const MIN_BAR = 1;

export interface Label {
  readonly at: number;
  readonly text: string;
}

/** Text in the size of labels: its width, and what fits in a width. */
export interface Letters {
  readonly measure: (text: string) => number;
  readonly text: (value: unknown) => string;
}

export interface XAxis {
  /** Where a row is; undefined if its value has no place. */
  readonly at: (row: number) => number | undefined;
  readonly labels: readonly Label[];
  readonly turn: number;
  /** Pixels of a bar, or of the bars of a row together. */
  readonly band: number;
  /** Pixels below the axis. */
  readonly height: number;
  /** Pixels that the labels need to the left of the plot's right edge minus its width. */
  readonly left: number;
  /** What the labels lack: the span of time. */
  readonly span: string;
  /** Whether values are placed to scale. */
  readonly isScaled: boolean;
}

/** A scale from the smallest to the largest value with round ends, and its labels. */
export function yAxis(
  values: readonly number[],
  isFromZero: boolean,
  [bottom, top]: readonly [number, number],
  write: (value: number) => string,
) {
  const all = isFromZero ? [0, ...values] : values;
  let [min, max] = all.length === 0 ? [0, 1] : [minOf(all), maxOf(all)];
  if (min === max) [min, max] = min === 0 ? [0, 1] : [min - Math.abs(min), max + Math.abs(max)];
  const count = Math.max(2, Math.round((bottom - top) / 50));
  const scale = scaleLinear().domain([min, max]).range([bottom, top]).nice(count);
  return {
    at: (value: number) => scale(value),
    labels: scale.ticks(count).map((tick): Label => ({ at: scale(tick), text: write(tick) })),
  };
}

/**
 * The axis of a column along the bottom. Dates and numbers are placed to scale; bars too, if their dates are
 * regular enough to leave room for each. Everything else gets a place for each row.
 */
export function xAxis(
  { rows }: Pick<Drawable, "rows">,
  x: number,
  isBar: boolean,
  range: readonly [number, number],
  letters: Letters,
  write: (value: number) => string,
): XAxis {
  const areTimes = hasTimes(rows, x);
  const read = areTimes ? timeOf : numberOf;
  const places = rows.map((row) => read(row[x]));
  const known = places.filter((place) => place !== undefined);
  const isScalable = isBar ? areTimes : areTimes || hasNumbers(rows, x);
  const span = areTimes ? timeSpan(minOf(known), maxOf(known)) : "";
  if (isScalable) {
    const scaled = scaledAxis(known, areTimes, isBar, range, letters, write);
    if (scaled !== undefined) {
      const at = (row: number) => {
        const place = places[row];
        return place === undefined ? undefined : scaled.place(place);
      };
      return { ...scaled, at, turn: 0, height: LINE, left: 0, span, isScaled: true };
    }
  }
  const name = areTimes ? timeText(known) : undefined;
  const names = rows.map((row, index) => {
    const place = places[index];
    return name === undefined || place === undefined ? letters.text(row[x]) : name(place);
  });
  return {
    ...namedAxis(names, areTimes ? Number.POSITIVE_INFINITY : MAX_NAME, range, letters),
    span,
  };
}

function scaledAxis(
  values: readonly number[],
  areTimes: boolean,
  isBar: boolean,
  [from, to]: readonly [number, number],
  { measure }: Letters,
  write: (value: number) => string,
) {
  const [min, max] = [minOf(values), maxOf(values)];
  const gap = isBar ? smallestGap(values) : 0;
  const unit = (to - from) / (max - min + gap || 1);
  const band = gap * unit * 0.8;
  if (isBar && (gap === 0 || band < MIN_BAR)) return undefined;
  const pad = isBar ? (gap * unit) / 2 : 8;
  const range = [from + pad, to - pad];
  const scale = areTimes
    ? scaleUtc().domain([min, max]).range(range)
    : scaleLinear().domain([min, max]).range(range);
  const place = (value: number) => (min === max ? (from + to) / 2 : scale(value));
  const labelled = (ticks: readonly number[]) => {
    const text = areTimes ? timeText(ticks, [min, max]) : write;
    return ticks.map((tick): Label => ({ at: place(tick), text: text(tick) }));
  };
  const fits = (labels: readonly Label[]) =>
    labels.every(({ at, text }, index) => {
      const before = labels[index - 1];
      return (
        before === undefined || at - before.at >= (measure(text) + measure(before.text)) / 2 + GAP
      );
    });
  // As many labels as fit; round steps with few labels between large ones, such as years, are thinned out instead.
  const tries = [1, 2, 3].flatMap((every) =>
    Array.from({ length: 9 }, (_, index) => {
      const ticks: readonly number[] = min === max ? [] : scale.ticks(10 - index).map(Number);
      return labelled(ticks.filter((_, at) => at % every === 0));
    }),
  );
  const best = tries
    .filter((labels) => labels.length > 0 && fits(labels))
    .reduce<readonly Label[]>((most, labels) => (labels.length > most.length ? labels : most), []);
  // Two times that are closer than a tick's distance have none between them.
  return { place, labels: best.length > 0 ? best : labelled([min]), band };
}

function namedAxis(
  names: readonly string[],
  maxWidth: number,
  [from, to]: readonly [number, number],
  { measure }: Letters,
): Omit<XAxis, "span"> {
  const scale = scaleBand<number>()
    .domain(names.map((_, index) => index))
    .range([from, to])
    .paddingInner(0.2)
    .paddingOuter(0.1);
  const step = scale.step();
  const at = (row: number) => (scale(row) ?? 0) + scale.bandwidth() / 2;
  const isTurned = names.some((name) => measure(name) + GAP > step);
  const every = isTurned ? Math.ceil(LINE / step) : 1;
  const labels = names.flatMap((name, index): Label[] =>
    index % every === 0
      ? [{ at: at(index), text: isTurned ? fitting(name, maxWidth, measure) : name }]
      : [],
  );
  const width = maxOf([0, ...labels.map(({ text }) => measure(text))]);
  return {
    at,
    labels,
    turn: isTurned ? TURN : 0,
    band: scale.bandwidth(),
    height: isTurned ? width * SIN + LINE : LINE,
    // A turned label ends below its mark, and begins to the left of it.
    left: isTurned
      ? maxOf(labels.map((label) => measure(label.text) * COS - (label.at - from)))
      : 0,
    isScaled: false,
  };
}

/** As much of a text as fits in a width. */
export function fitting(text: string, width: number, measure: (text: string) => number): string {
  if (measure(text) <= width) return text;
  const characters = [...text.slice(0, 500)];
  while (characters.length > 0 && measure(`${characters.join("")}…`) > width) characters.pop();
  return `${characters.join("").trimEnd()}…`;
}

function smallestGap(values: readonly number[]): number {
  const sorted = [...new Set(values)].sort((one, other) => one - other);
  return sorted.length < 2
    ? 0
    : minOf(sorted.slice(1).map((value, index) => value - (sorted[index] ?? 0)));
}

/** Without arguments for each value, of which there are too many for a call. */
export const minOf = (values: readonly number[]): number =>
  values.reduce((min, value) => Math.min(min, value), Number.POSITIVE_INFINITY);
export const maxOf = (values: readonly number[]): number =>
  values.reduce((max, value) => Math.max(max, value), Number.NEGATIVE_INFINITY);
