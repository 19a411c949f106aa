// Draws table columns as SVG, in the page's colors.
import { svg } from "./host.ts";
import { hasNumbers, numberOf, shown, type Table } from "./table.ts";
import { hasTimes, timeOf, timeSpan, timeText, timeTicks } from "./time-axis.ts";

export const KINDS = ["bar", "line", "scatter"] as const;
export type Kind = (typeof KINDS)[number];

/** More marks could not be distinguished, and would slow the page down. */
const MAX_MARKS = 2_000;
const WIDTH = 620;
const HEIGHT = 300;
const BOX = { left: 62, right: 12, top: 12, bottom: 64 };
const INNER = WIDTH - BOX.left - BOX.right;
const LABEL_WIDTH = 80;

/** A column to draw, and the index of its color. */
export interface Series {
  readonly index: number;
  readonly color: number;
}

/** Draws columns against another one; also returns how many rows were drawn. */
export function chartOf(
  kind: Kind,
  { columns, rows }: Pick<Table, "columns" | "rows">,
  x: number,
  ys: readonly Series[],
): { readonly drawing: SVGSVGElement; readonly drawn: number } {
  const drawn = rows.slice(0, Math.floor(MAX_MARKS / Math.max(ys.length, 1)));
  const values = ys.flatMap(({ index }) => drawn.flatMap((row) => numberOf(row[index]) ?? []));
  const y = scale(values, kind === "scatter" ? [] : [0], [HEIGHT - BOX.bottom, BOX.top]);
  const title = `${ys.map(({ index }) => columns[index]?.name).join(", ")} by ${columns[x]?.name}`;
  const drawing = svg("svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "img", "aria-label": title });
  for (const tick of y.ticks) {
    drawing.append(
      svg("line", { class: "rule", x1: BOX.left, x2: WIDTH - BOX.right, y1: y.at(tick), y2: y.at(tick) }),
      svg("text", { class: "tick", x: BOX.left - 8, y: y.at(tick) + 4, "text-anchor": "end" }, format(tick)),
    );
  }
  const areTimes = hasTimes(drawn, x);
  const positionOf = areTimes ? timeOf : numberOf;
  const positions = drawn.flatMap((row) => positionOf(row[x]) ?? []);
  const along =
    kind !== "bar" && (areTimes || hasNumbers(drawn, x))
      ? (areTimes ? timeScale : scaleAlong)(positions, [BOX.left + 8, WIDTH - BOX.right - 8])
      : undefined;
  const step = INNER / Math.max(drawn.length, 1);
  const place = (row: readonly unknown[], index: number) =>
    along?.at(positionOf(row[x]) ?? Number.NaN) ?? BOX.left + step * (index + 0.5);
  const timeLabel = areTimes ? timeText(positions) : undefined;
  const nameOf = (value: unknown) => timeLabel?.(timeOf(value) ?? Number.NaN) ?? shown(value);
  drawing.append(
    ...(along === undefined
      ? labels(
          drawn.map((row, index) => ({
            text: row[x] === null ? shown(null) : nameOf(row[x]),
            at: place(row, index),
          })),
          step,
        )
      : along.ticks.map((tick) => label(tick.text, along.at(tick.at), false))),
    axisTitle(
      columns[x]?.name ?? "",
      areTimes ? timeSpan(Math.min(...positions), Math.max(...positions)) : "",
    ),
  );
  ys.forEach(({ index: column, color }, series) => {
    const marks = drawn.flatMap((row, index) => {
      const value = numberOf(row[column]);
      const at = place(row, index);
      return value === undefined || Number.isNaN(at)
        ? []
        : [{ at, y: y.at(value), title: `${shown(row[x])}: ${shown(row[column])}` }];
    });
    const group = svg("g", { class: `series s${color % 8}` });
    if (kind === "line")
      group.append(svg("polyline", { points: marks.map((mark) => `${mark.at},${mark.y}`).join(" ") }));
    const width = (step * 0.8) / ys.length;
    for (const mark of marks) {
      const left = mark.at - step * 0.4 + width * series;
      const box = {
        x: left,
        width: Math.max(width, 0.5),
        y: Math.min(mark.y, y.at(0)),
        height: Math.abs(mark.y - y.at(0)),
      };
      group.append(
        svg(
          kind === "bar" ? "rect" : "circle",
          kind === "bar" ? box : { cx: mark.at, cy: mark.y, r: marks.length > 100 ? 2 : 3.5 },
          svg("title", {}, mark.title),
        ),
      );
    }
    drawing.append(group);
  });
  return { drawing, drawn: drawn.length };
}

/** What the axis shows, below it. */
function axisTitle(name: string, span: string): Element {
  const text = span === "" ? name : `${name}, ${span}`;
  return svg(
    "text",
    { class: "tick", x: BOX.left + INNER / 2, y: HEIGHT - 6, "text-anchor": "middle" },
    text.length > 80 ? `${text.slice(0, 79)}…` : text,
  );
}

function scaleAlong(values: readonly number[], range: readonly [number, number]) {
  const { ticks, at } = scale(values, [], range);
  return { ticks: ticks.map((tick) => ({ at: tick, text: format(tick) })), at };
}

/** A scale of times, in proportion, from the first to the last. */
function timeScale(values: readonly number[], [from, to]: readonly [number, number]) {
  const [first, last] = [Math.min(...values), Math.max(...values)];
  const at = (value: number) =>
    first === last ? (from + to) / 2 : from + ((value - first) / (last - first)) * (to - from);
  return { ticks: timeTicks(first, last), at };
}

/** A linear scale with round ticks. */
function scale(values: readonly number[], also: readonly number[], [from, to]: readonly [number, number]) {
  const all = [...values, ...also];
  let [least, most] = [Math.min(...all), Math.max(...all)];
  if (all.length === 0) [least, most] = [0, 1];
  if (least === most) [least, most] = least === 0 ? [0, 1] : [least - Math.abs(least), most + Math.abs(most)];
  const rough = (most - least) / 5;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = power * ([1, 2, 5, 10].find((factor) => factor * power >= rough) ?? 10);
  const [first, last] = [Math.floor(least / step), Math.ceil(most / step)];
  const ticks = Array.from({ length: last - first + 1 }, (_, index) => (first + index) * step);
  const at = (value: number) => from + ((value / step - first) / (last - first)) * (to - from);
  return { ticks, at };
}

/** Labels below the axis: slanted if they are long, and thinned out until they fit. */
function labels(names: readonly { readonly text: string; readonly at: number }[], step: number): Element[] {
  const isSlanted = names.some(({ text }) => text.length * 7 > Math.min(step, LABEL_WIDTH));
  const every = Math.ceil((isSlanted ? 24 : 8) / step);
  return names.flatMap(({ text, at }, index) => (index % every === 0 ? label(text, at, isSlanted) : []));
}

function label(text: string, at: number, isSlanted: boolean): Element {
  const short = text.length > 16 ? `${text.slice(0, 7)}…${text.slice(-8)}` : text;
  const y = HEIGHT - BOX.bottom + 18;
  return isSlanted
    ? svg(
        "text",
        { class: "tick", x: at, y, "text-anchor": "end", transform: `rotate(-35 ${at} ${y})` },
        short,
      )
    : svg("text", { class: "tick", x: at, y, "text-anchor": "middle" }, short);
}

const numbers = new Intl.NumberFormat(undefined, { notation: "compact", maximumSignificantDigits: 4 });

function format(value: number): string {
  return numbers.format(value);
}
