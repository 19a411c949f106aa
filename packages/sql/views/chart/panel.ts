// A chart with controls for what it draws.

import { oneLine } from "../../../boundary/src/answer/untrusted.ts";
import { element } from "../../../core/views/host.ts";
import type { Table } from "../table.ts";
import { chartOf } from "./chart.ts";
import { KINDS, type Kind, MAX_MARKS } from "./layout.ts";
import { hasNumbers, hasTimes } from "./values.ts";

/** Keys are numbers too, but nobody draws them. */
const KEY = /(^|_)id$/i;

/** Whether a chart of these rows would show something: numbers in several rows, and something to draw them against. */
export function isDrawable({ columns, rows }: Table): boolean {
  return (
    rows.length > 1 && columns.length > 1 && columns.some((_, index) => hasNumbers(rows, index))
  );
}

/** The panel; it starts with what suits the columns. */
export function chartPanel(table: () => Table) {
  const { columns, rows } = table();
  const numbers = columns.flatMap((_, index) => (hasNumbers(rows, index) ? [index] : []));
  const times = columns.findIndex((_, index) => hasTimes(rows, index));
  const words = columns.findIndex((_, index) => !numbers.includes(index));
  const start = times >= 0 ? times : words;
  const names = columns.map(({ name }, index) => [String(index), oneLine(name)] as const);
  const x = select("By", names, String(Math.max(start, 0)));
  const kinds = KINDS.map((name) => [name, name] as const);
  const kind = select("Type", kinds, times >= 0 ? "line" : "bar");
  const others = numbers.filter((index) => String(index) !== x.input.value);
  const first =
    others.find((index) => !KEY.test(columns[index]?.name ?? "")) ?? others[0] ?? numbers[0];
  const boxes = numbers.map((index, series) => {
    const input = element("input", { type: "checkbox" });
    input.checked = index === first;
    const swatch = element("span", { class: `swatch s${series % 8}` });
    return {
      index,
      input,
      label: element("label", {}, input, swatch, oneLine(columns[index]?.name ?? "")),
    };
  });
  const legend = element("legend", { class: "spoken" }, "Values");
  const values = element("fieldset", {}, legend, ...boxes.map(({ label }) => label));
  const place = element("div");
  const note = element("p", { class: "note", role: "status" });
  let width = 0;
  const draw = () => {
    if (!place.isConnected) return;
    width = place.clientWidth;
    const ys = boxes.flatMap(({ index, input }, color) => (input.checked ? { index, color } : []));
    const wish = {
      kind: kind.input.value as Kind,
      x: Number(x.input.value),
      ys,
      width: Math.max(width, 240),
    };
    const { drawing, drawn } = chartOf(table(), wish);
    place.replaceChildren(drawing);
    const count = table().rows.length;
    note.textContent =
      drawn < count
        ? `The first ${drawn.toLocaleString()} of ${count.toLocaleString()} loaded rows are drawn, since a chart has at most ${MAX_MARKS.toLocaleString()} values.`
        : "";
    note.hidden = note.textContent === "";
  };
  for (const input of [kind.input, x.input, ...boxes.map((box) => box.input)])
    input.addEventListener("change", draw);
  new ResizeObserver(() => {
    if (place.clientWidth !== width) draw();
  }).observe(place);
  // Labels are placed by their width, which a font that arrives later changes.
  document.fonts.addEventListener("loadingdone", draw);
  const bar = element("div", { class: "bar" }, kind.label, x.label, values);
  return { panel: element("div", { class: "box chart" }, bar, place, note), draw };
}

function select(name: string, options: readonly (readonly [string, string])[], value: string) {
  const input = element(
    "select",
    {},
    ...options.map(([key, text]) => element("option", { value: key }, text)),
  );
  input.value = value;
  return { input, label: element("label", {}, `${name} `, input) };
}
