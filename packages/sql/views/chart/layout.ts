// What a chart shows and where.
import { fitting, type Letters, maxOf, xAxis, yAxis } from "./axes.ts";
import { type Drawable, numberOf } from "./values.ts";

export const KINDS = ["bar", "line", "scatter"] as const;
export type Kind = (typeof KINDS)[number];

/** More marks can't be distinguished, and would slow a page down. */
export const MAX_MARKS = 5_000;
/** Pixels of the labels' text. */
export const TEXT_SIZE = 12;
/** Up to this many points of a line are marked. */
const MAX_DOTS = 60;
/** A line ends where the next value is more than this many usual steps away. */
const GAP_STEPS = 6;
const LINE = 18;

/** A column to draw, and the index of its color. */
export interface Series {
  readonly index: number;
  readonly color: number;
}

/** A color: of a series by its index, or of the page. */
type Ink = number | "rule" | "muted";

export type Mark =
  | {
      readonly is: "line";
      readonly ink: Ink;
      readonly points: readonly (readonly [number, number])[];
    }
  | {
      readonly is: "bar";
      readonly ink: Ink;
      readonly x: number;
      readonly y: number;
      readonly width: number;
      readonly height: number;
    }
  | {
      readonly is: "dot";
      readonly ink: Ink;
      readonly x: number;
      readonly y: number;
      readonly radius: number;
    }
  | {
      readonly is: "text";
      readonly ink: Ink;
      readonly x: number;
      readonly y: number;
      readonly text: string;
      readonly anchor: "start" | "middle" | "end";
      /** Degrees around its anchor. */
      readonly turn: number;
    };

/** Where a value is drawn, to find what is below a pointer. */
export interface Point {
  readonly row: number;
  readonly column: number;
  readonly color: number;
  readonly x: number;
  readonly y: number;
}

export interface Layout {
  readonly width: number;
  readonly height: number;
  readonly label: string;
  readonly marks: readonly Mark[];
  readonly points: readonly Point[];
  /** How many rows are drawn. */
  readonly drawn: number;
  /** Where the values are: left, top, right, bottom. */
  readonly plot: readonly [number, number, number, number];
}

/** What to draw, and with which text. */
export interface Wish extends Letters {
  readonly kind: Kind;
  /** The column along the bottom. */
  readonly x: number;
  readonly ys: readonly Series[];
  readonly width: number;
  readonly height: number;
}

/** Places columns against another one. */
export function layoutOf(table: Drawable, wish: Wish): Layout {
  const { kind, x, ys, width, height, measure, text } = wish;
  const rows = table.rows.slice(0, Math.floor(MAX_MARKS / Math.max(ys.length, 1)));
  const nameOf = (index: number) => text(table.columns[index]?.name.trim() || "?");
  const numbers = new Intl.NumberFormat(undefined, {
    notation: "compact",
    maximumSignificantDigits: 4,
  });
  const write = (value: number) => numbers.format(value);
  const marks: Mark[] = [];
  const put = (given: Partial<Mark & { is: "text" }> & { x: number; y: number; text: string }) =>
    marks.push({ is: "text", ink: "muted", anchor: "start", turn: 0, ...given });

  let top = 8;
  const [only] = ys;
  if (ys.length === 1 && only !== undefined) {
    put({ x: 4, y: top + 8, text: fitting(nameOf(only.index), width - 8, measure) });
    top += LINE + 4;
  }

  const values = ys.flatMap(({ index }) => rows.flatMap((row) => numberOf(row[index]) ?? []));
  const right = width - 14;
  const isBar = kind === "bar";
  // The labels below decide about the height, and those at the left about the width.
  const draft = (bottom: number) => yAxis(values, kind !== "scatter", [bottom, top], write);
  const widest = maxOf([0, ...draft(height - 60).labels.map((label) => measure(label.text))]);
  let left = Math.ceil(widest) + 14;
  let along = xAxis({ rows }, x, isBar, [left, right], { measure, text }, write);
  if (along.left > left - 4) {
    left = Math.min(Math.ceil(along.left) + 4, Math.floor(width / 3));
    along = xAxis({ rows }, x, isBar, [left, right], { measure, text }, write);
  }
  const bottom = Math.round(height - Math.min(along.height, height / 3) - LINE - 10);
  const y = draft(bottom);
  for (const { at, text: value } of y.labels) {
    const line = Math.round(at) + 0.5;
    marks.push({
      is: "line",
      ink: "rule",
      points: [
        [left, line],
        [right, line],
      ],
    });
    put({ x: left - 8, y: at + 4, text: value, anchor: "end" });
  }
  for (const { at, text: name } of along.labels) {
    const half = along.turn === 0 ? measure(name) / 2 : 0;
    const place = Math.min(Math.max(at, half), width - half);
    if (along.isScaled)
      marks.push({
        is: "line",
        ink: "rule",
        points: [
          [at, bottom],
          [at, bottom + 5],
        ],
      });
    const anchor = along.turn === 0 ? "middle" : "end";
    put({
      x: place,
      y: bottom + (along.turn === 0 ? 18 : 14),
      text: name,
      anchor,
      turn: along.turn,
    });
  }
  const xTitle = [nameOf(x), along.span].filter((part) => part !== "").join(", ");
  put({
    x: (left + right) / 2,
    y: height - 5,
    text: fitting(xTitle, width - 8, measure),
    anchor: "middle",
  });

  const points: Point[] = [];
  ys.forEach(({ index, color }, series) => {
    const placed = rows.map((row, at): Point | undefined => {
      const [value, place] = [numberOf(row[index]), along.at(at)];
      return value === undefined || place === undefined
        ? undefined
        : { row: at, column: index, color, x: place, y: y.at(value) };
    });
    const known = placed.filter((point) => point !== undefined);
    points.push(...known);
    const dots = (of: readonly Point[], radius: number) =>
      marks.push(
        ...of.map((point): Mark => ({ is: "dot", ink: color, x: point.x, y: point.y, radius })),
      );
    if (kind === "bar") {
      const part = along.band / ys.length;
      for (const point of known)
        marks.push({
          is: "bar",
          ink: color,
          x: point.x - along.band / 2 + part * series,
          y: Math.min(point.y, y.at(0)),
          width: part,
          height: Math.abs(point.y - y.at(0)),
        });
    } else if (kind === "line") {
      const runs = runsOf(placed, along.isScaled);
      for (const run of runs)
        if (run.length > 1)
          marks.push({ is: "line", ink: color, points: run.map((point) => [point.x, point.y]) });
      dots(
        known.length <= MAX_DOTS ? known : runs.flatMap((run) => (run.length === 1 ? run : [])),
        3,
      );
    } else dots(known, known.length > 100 ? 2 : 3.5);
  });
  const label = `${ys.map(({ index }) => nameOf(index)).join(", ")} by ${nameOf(x)}`;
  return {
    width,
    height,
    label,
    marks,
    points,
    drawn: rows.length,
    plot: [left, top, right, bottom],
  };
}

/**
 * The parts of a line between missing values, from left to right. Along a scale, a distance of many usual ones is a gap
 * too, such as a fortnight in rows of each day.
 */
function runsOf(points: readonly (Point | undefined)[], isScaled: boolean): Point[][] {
  const known = points.filter((point) => point !== undefined);
  const steps = known.slice(1).map((point, index) => point.x - (known[index]?.x ?? 0));
  // In another order than that of the axis, a line would go back and forth.
  if (isScaled && steps.some((step) => step < 0))
    return [known.sort((one, other) => one.x - other.x)];
  const usual = steps.toSorted((one, other) => one - other)[Math.floor(steps.length / 2)] ?? 0;
  const runs: Point[][] = [[]];
  for (const point of points) {
    const last = runs.at(-1)?.at(-1);
    const isGap =
      isScaled && usual > 0 && last !== undefined && (point?.x ?? 0) - last.x > GAP_STEPS * usual;
    if (point === undefined || isGap) runs.push([]);
    if (point !== undefined) runs.at(-1)?.push(point);
  }
  return runs;
}
