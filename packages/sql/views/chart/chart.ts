// Draws a chart as SVG, in the page's colors, with the values below the pointer.

import { oneLine } from "../../../boundary/src/answer/untrusted.ts";
import { element, svg } from "../../../core/views/host.ts";
import { plainText, type Table } from "../table.ts";
import { type Layout, layoutOf, type Mark, type Point, TEXT_SIZE, type Wish } from "./layout.ts";

const HEIGHT = 320;
/** From farther away, a pointer shows no value, in pixels. */
const REACH = 60;

const pen = document.createElement("canvas").getContext("2d");

/** The width of a label in the page's font. */
function measured(text: string): number {
  if (pen === null) return text.length * TEXT_SIZE * 0.6;
  pen.font = `${TEXT_SIZE}px ${getComputedStyle(document.documentElement).fontFamily}`;
  return pen.measureText(text).width;
}

/** Draws columns against another one; also returns how many rows were drawn. */
export function chartOf(
  table: Pick<Table, "columns" | "rows">,
  wish: Pick<Wish, "kind" | "x" | "ys" | "width">,
): { readonly drawing: HTMLElement; readonly drawn: number } {
  const layout = layoutOf(table, {
    ...wish,
    height: HEIGHT,
    measure: measured,
    text: (value) => oneLine(plainText(value).slice(0, 200)),
  });
  const { width, height, label, drawn } = layout;
  const drawing = svg("svg", {
    viewBox: `0 0 ${width} ${height}`,
    role: "img",
    "aria-label": label,
    tabindex: 0,
  });
  drawing.append(...layout.marks.map(drawnMark));
  const tip = element("div", { class: "tip", role: "status", hidden: "" });
  const hot = svg("g", { class: "hot" });
  drawing.append(hot);
  const show = (point: Point | undefined) => {
    tip.hidden = point === undefined;
    hot.replaceChildren(
      ...(point === undefined ? [] : markedRow(layout, point, wish.kind === "scatter")),
    );
    if (point === undefined) return;
    tip.replaceChildren(...tipLines(table, wish, point));
    const isRight = point.x > width / 2;
    tip.style.left = isRight ? "auto" : `${(point.x / width) * 100}%`;
    tip.style.right = isRight ? `${100 - (point.x / width) * 100}%` : "auto";
  };
  listen(drawing, layout, wish.kind === "scatter", show);
  return { drawing: element("div", { class: "drawing" }, drawing, tip), drawn };
}

/** Shows the values near the pointer; the arrow keys go from one to the next. */
function listen(
  drawing: SVGSVGElement,
  { points, width }: Layout,
  isScatter: boolean,
  show: (point: Point | undefined) => void,
): void {
  const sorted = [...points].sort((one, other) => one.x - other.x || one.row - other.row);
  let current = -1;
  drawing.addEventListener("pointermove", (event) => {
    const box = drawing.getBoundingClientRect();
    const scale = width / box.width;
    const [x, y] = [(event.clientX - box.left) * scale, (event.clientY - box.top) * scale];
    const away = (point: Point) =>
      Math.hypot(point.x - x, isScatter ? point.y - y : (point.y - y) / 100);
    current = sorted.reduce(
      (best, point, index) =>
        best < 0 || away(point) < away(sorted[best] ?? point) ? index : best,
      -1,
    );
    const near = sorted[current];
    show(near !== undefined && away(near) <= REACH ? near : undefined);
  });
  drawing.addEventListener("pointerleave", () => show(undefined));
  drawing.addEventListener("blur", () => show(undefined));
  drawing.addEventListener("keydown", ({ key }) => {
    const step = key === "ArrowRight" ? 1 : key === "ArrowLeft" ? -1 : 0;
    if (key === "Escape") show(undefined);
    if (step === 0 || sorted.length === 0) return;
    const row = sorted[current]?.row;
    do current = Math.min(Math.max(current + step, 0), sorted.length - 1);
    while (sorted[current]?.row === row && current > 0 && current < sorted.length - 1);
    show(sorted[current]);
  });
}

/** A line through the row's place, and a ring around each of its values. */
function markedRow(
  { points, plot }: Layout,
  { row, column, x }: Point,
  isScatter: boolean,
): SVGElement[] {
  const same = points.filter((one) => one.row === row && (!isScatter || one.column === column));
  const [, top, , bottom] = plot;
  const rings = same.map((one) =>
    svg("circle", { class: `ring s${one.color % 8}`, cx: one.x, cy: one.y, r: 5 }),
  );
  return isScatter ? rings : [svg("line", { x1: x, x2: x, y1: top, y2: bottom }), ...rings];
}

function tipLines(
  { columns, rows }: Pick<Table, "columns" | "rows">,
  { x, ys }: Pick<Wish, "x" | "ys">,
  { row }: Point,
): HTMLElement[] {
  const text = (value: unknown) => oneLine(plainText(value).slice(0, 80));
  const values = rows[row] ?? [];
  return [
    element("b", {}, text(values[x])),
    ...ys.map(({ index, color }) =>
      element(
        "div",
        {},
        element("span", { class: `swatch s${color % 8}` }),
        ` ${text(columns[index]?.name)} `,
        element("b", {}, text(values[index])),
      ),
    ),
  ];
}

function drawnMark(mark: Mark): SVGElement {
  const color = typeof mark.ink === "number" ? `s${mark.ink % 8}` : mark.ink;
  switch (mark.is) {
    case "line":
      if (typeof mark.ink === "string") return ruled(mark.points, mark.ink);
      return svg("polyline", {
        class: color,
        points: mark.points.map((point) => point.map(short).join()).join(" "),
      });
    case "bar":
      return svg("rect", {
        class: color,
        x: short(mark.x),
        y: short(mark.y),
        width: short(mark.width),
        height: short(mark.height),
      });
    case "dot":
      return svg("circle", { class: color, cx: short(mark.x), cy: short(mark.y), r: mark.radius });
    case "text": {
      const at = { x: short(mark.x), y: short(mark.y), "text-anchor": mark.anchor };
      const turn = mark.turn === 0 ? {} : { transform: `rotate(${mark.turn} ${at.x} ${at.y})` };
      return svg("text", { class: color, "font-size": TEXT_SIZE, ...at, ...turn }, mark.text);
    }
  }
}

function ruled([from, to]: readonly (readonly [number, number])[], color: string): SVGElement {
  const [[x1, y1], [x2, y2]] = [from ?? [0, 0], to ?? [0, 0]];
  return svg("line", { class: color, x1: short(x1), y1: short(y1), x2: short(x2), y2: short(y2) });
}

/** Thousands of coordinates take much less memory with few digits. */
const short = (value: number) => Math.round(value * 1_000) / 1_000;
