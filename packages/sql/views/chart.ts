// A chart of loaded rows: columns of numbers against another column. A click on a name in the legend shows or hides its values.
import "uplot/dist/uPlot.min.css";
import uPlot from "uplot";
import { oneLine } from "../../boundary/src/answer/untrusted.ts";
import { element } from "../../core/views/host.ts";
import { hasNumbers, hasTimes, numberOf, plainText, type Table, timeOf } from "./table.ts";

/** More can't be distinguished. */
const MAX_ROWS = 5_000;
const HEIGHT = 320;
const MAX_NAME = 18;
/** Values this many times larger than the others have a separate axis at the right. */
const OTHER_MAGNITUDE = 20;
/** Keys are numbers too, but nobody draws them. */
const KEY = /(^|_)id$/i;
/** Colors that people with color blindness can distinguish (Okabe and Ito). */
const COLORS = "#0072b2 #e69f00 #009e73 #d55e00 #cc79a7 #56b4e9 #8c6d31 #888888".split(" ");
const KINDS = ["bar", "line", "scatter"] as const;

/** Whether a chart of these rows would show something: numbers in several rows, and something to draw them against. */
export function isDrawable({ columns, rows }: Table): boolean {
  return rows.length > 1 && columns.length > 1 && columns.some((_, at) => hasNumbers(rows, at));
}

/** The panel; it starts with what suits the columns. */
export function chartPanel(table: () => Table) {
  const { columns, rows } = table();
  const names = columns.map(({ name }) => oneLine(name));
  const isTime = (at: number) => hasTimes(rows, at);
  const times = columns.findIndex((_, at) => isTime(at));
  const words = columns.findIndex((_, at) => !hasNumbers(rows, at));
  const by = select("By", names, Math.max(times >= 0 ? times : words, 0));
  const kind = select("Type", KINDS, times >= 0 ? 1 : 0);
  const place = element("div", { role: "figure" });
  const note = element("p", { class: "note", role: "status" });
  let chart: uPlot | undefined;
  const draw = () => {
    if (!place.isConnected) return;
    chart?.destroy();
    const { rows } = table();
    const visible = rows.slice(0, MAX_ROWS);
    const x = Number(by.input.value);
    const numbers = columns.flatMap((_, at) => (at !== x && hasNumbers(visible, at) ? [at] : []));
    const values = numbers.filter((at) => !KEY.test(columns[at]?.name ?? ""));
    const ys = values.length > 0 ? values : numbers;
    chart = drawChart(place, { columns, rows: visible }, x, ys, KINDS[Number(kind.input.value)]);
    note.hidden = visible.length === rows.length;
    note.textContent = `The first ${visible.length.toLocaleString()} of ${rows.length.toLocaleString()} loaded rows are drawn.`;
  };
  for (const { input } of [by, kind]) input.addEventListener("change", draw);
  new ResizeObserver(() => {
    if (chart !== undefined && place.clientWidth !== chart.width) draw();
  }).observe(place);
  const bar = element("div", { class: "bar" }, kind.label, by.label);
  return { panel: element("div", { class: "box panel" }, bar, place, note), draw };
}

function drawChart(
  place: HTMLElement,
  { columns, rows }: Pick<Table, "columns" | "rows">,
  x: number,
  ys: readonly number[],
  kind: (typeof KINDS)[number] = "bar",
): uPlot {
  const areTimes = hasTimes(rows, x);
  const isScaled = areTimes || (kind !== "bar" && hasNumbers(rows, x));
  const placed = rows.map((row, at) => {
    const value = areTimes ? (timeOf(row[x]) ?? 0) / 1_000 : numberOf(row[x]);
    return { row, at: isScaled ? (value ?? Number.NaN) : at };
  });
  const sorted = placed.filter(({ at }) => !Number.isNaN(at)).sort((a, b) => a.at - b.at);
  const labels = differing(sorted.map(({ row }) => oneLine(plainText(row[x]).slice(0, 80))));
  const values = ys.map((y) => sorted.map(({ row }) => numberOf(row[y]) ?? null));
  const most = values.map((column) => Math.max(...column.map((value) => Math.abs(value ?? 0))));
  const isOther = (at: number) => {
    const ratio = (most[at] ?? 0) / (most[0] || 1);
    return ratio > OTHER_MAGNITUDE || ratio < 1 / OTHER_MAGNITUDE;
  };
  const muted = getComputedStyle(place).getPropertyValue("color");
  const axis = { stroke: muted, grid: { stroke: muted, width: 0.2 }, size: 60 };
  const paths = {
    bar: uPlot.paths.bars?.({ size: [0.8, 60] }),
    line: uPlot.paths.linear?.(),
    scatter: () => null,
  }[kind];
  const series = ys.map(
    (y, at): uPlot.Series => ({
      label: oneLine(columns[y]?.name.trim() || "?"),
      scale: isOther(at) ? "other" : "y",
      stroke: COLORS[at % COLORS.length] ?? "",
      width: kind === "line" ? 2 : 1,
      show: at === 0,
      ...(paths === undefined ? {} : { paths }),
      ...(kind === "bar" ? { fill: COLORS[at % COLORS.length] ?? "" } : {}),
      points: { show: kind === "scatter" || (kind === "line" && sorted.length <= 60) },
    }),
  );
  const words: Partial<uPlot.Axis> = {
    values: (_, ticks) => ticks.map((tick) => clipped(labels[tick] ?? "")),
    incrs: [1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000],
    rotate: -35,
    size: 90,
  };
  const width = Math.max(place.clientWidth, 240);
  const title = `${series[0]?.label} by ${oneLine(columns[x]?.name ?? "?")}`;
  const options: uPlot.Options = {
    title,
    width,
    height: HEIGHT,
    tzDate: (seconds) => uPlot.tzDate(new Date(seconds * 1_000), "UTC"),
    scales: { x: { time: areTimes }, ...(kind === "scatter" ? {} : fromZero()) },
    axes: [
      { ...axis, ...(isScaled ? { size: 52 } : words) },
      axis,
      ...(ys.some((_, at) => isOther(at)) ? [{ ...axis, scale: "other", side: 1 as const }] : []),
    ],
    series: [
      { label: oneLine(columns[x]?.name ?? "?"), value: (_, at) => labelAt(at, sorted, labels) },
      ...series,
    ],
  };
  place.setAttribute("aria-label", `${kind} chart: ${title}`);
  return new uPlot(options, [sorted.map(({ at }) => at), ...values], place);
}

/** The label of the row that the pointer is at. */
function labelAt(at: number | null, rows: readonly { at: number }[], labels: readonly string[]) {
  return labels[rows.findIndex((row) => row.at === at)] ?? "";
}

/** Bars and areas are judged by their length, so their scale begins at zero. */
function fromZero(): uPlot.Scales {
  const range: uPlot.Scale.Range = (_, min, max) =>
    uPlot.rangeNum(Math.min(min ?? 0, 0), Math.max(max ?? 1, 0), 0.1, true);
  return { y: { range }, other: { range } };
}

/** Texts without what all of them begin with, if that is long: what differs is what matters. */
function differing(texts: readonly string[]): readonly string[] {
  const [first = "", ...others] = texts;
  let length = first.length;
  for (const text of others) while (!text.startsWith(first.slice(0, length))) length -= 1;
  return length < MAX_NAME / 2 ? texts : texts.map((text) => `…${text.slice(length)}`);
}

const clipped = (text: string) =>
  text.length > MAX_NAME ? `${text.slice(0, MAX_NAME - 1)}…` : text;

function select(name: string, names: readonly string[], value: number) {
  const options = names.map((text, at) => element("option", { value: String(at) }, text));
  const input = element("select", {}, ...options);
  input.value = String(value);
  return { input, label: element("label", {}, `${name} `, input) };
}
