import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { basename } from "node:path";
import { oneLine, ToolError } from "@refmcp/boundary/answer";
import { BarChart, LineChart, ScatterChart } from "echarts/charts";
import { GridComponent, LegendComponent, TitleComponent } from "echarts/components";
import { init, use } from "echarts/core";
import { SVGRenderer } from "echarts/renderers";
import { type Column, distinctNames } from "./formats.ts";
import type { Chart } from "./tools.ts";

use([BarChart, LineChart, ScatterChart, GridComponent, LegendComponent, TitleComponent, SVGRenderer]);

const WIDTH = 900;
const HEIGHT = 500;
/** More points can't be told apart at this width. */
const MAX_POINTS = 5_000;
const MAX_SERIES = 10;
/** Longer labels are shortened to fit; the rows contain them in full. */
const MAX_LABEL = 40;
/** Colors that people with color blindness can tell apart (Okabe and Ito). */
const COLORS = "#0072b2 #e69f00 #009e73 #d55e00 #cc79a7 #56b4e9 #8c6d31 #f0e442 #444444 #999999".split(" ");
const FONT = "DejaVu Sans";

type Rows = readonly (readonly unknown[])[];

/**
 * Draws columns of a result. ECharts writes an SVG, and resvg renders it with a bundled font, since servers often have none.
 *
 * @param rows values as encoded for an answer
 * @returns a PNG
 * @throws ToolError `invalid` for columns that are missing or have no numbers, `too_large` for too many points
 */
export async function drawChart(chart: Chart, columns: readonly Column[], rows: Rows): Promise<Uint8Array> {
  const svg = svgOf(chart, columns, rows);
  painting ??= painter();
  const { Resvg, font } = await painting;
  const picture = new Resvg(svg, {
    font: { fontBuffers: [font], defaultFontFamily: FONT, loadSystemFonts: false },
  });
  return picture.render().asPng();
}

export function svgOf(chart: Chart, columns: readonly Column[], rows: Rows): string {
  const option = optionOf(chart, columns, rows);
  const drawing = init(null, null, { renderer: "svg", ssr: true, width: WIDTH, height: HEIGHT });
  try {
    drawing.setOption(option);
    return drawing.renderToSVGString();
  } finally {
    drawing.dispose();
  }
}

/** The options for ECharts: plain data, without functions that it would call or text that it would parse as markup. */
export function optionOf(chart: Chart, columns: readonly Column[], rows: Rows) {
  if (rows.length === 0) throw new ToolError("invalid", "The result has no rows to draw.");
  const allNames = columns.map(({ name }) => name).join(", ");
  const at = (name: string) => {
    const index = columns.findIndex((column) => column.name === name);
    if (index >= 0) return index;
    throw new ToolError("invalid", `The result has no column ${JSON.stringify(name.slice(0, 60))} to draw.`, {
      hint: `Its columns are ${allNames.slice(0, 500)}.`,
    });
  };
  const x = chart.x === undefined ? 0 : at(chart.x);
  const drawn = (
    chart.y?.map(at) ??
    columns.map((_, index) => index).filter((index) => index !== x && hasNumbers(rows, index))
  ).slice(0, MAX_SERIES);
  const without = drawn.find((index) => !hasNumbers(rows, index));
  if (drawn.length === 0 || without !== undefined)
    throw new ToolError(
      "invalid",
      without === undefined
        ? "No column has numbers to draw."
        : `The column ${JSON.stringify(columns[without]?.name.slice(0, 60))} has no numbers to draw.`,
      {
        hint: "Select the categories first and numbers after them: SELECT city, count(*) … GROUP BY city.",
      },
    );
  if (rows.length * drawn.length > MAX_POINTS)
    throw new ToolError(
      "too_large",
      `A chart can have at most ${MAX_POINTS} points; this one would have ${rows.length * drawn.length}.`,
      {
        hint: "Aggregate with GROUP BY, or draw fewer rows or columns.",
      },
    );
  const axis = axisOf(chart, rows, x);
  // ECharts treats an empty name in a legend as a line break.
  const names = distinctNames(drawn.map((index) => short(columns[index]?.name.trim() || "?")));
  return {
    animation: false,
    useUTC: true,
    backgroundColor: "#ffffff",
    color: COLORS,
    textStyle: { fontFamily: FONT },
    ...(chart.title === undefined
      ? {}
      : { title: { text: short(chart.title, 90), left: "center", textStyle: { fontSize: 18 } } }),
    ...(drawn.length === 1 ? {} : { legend: { bottom: 6, data: names } }),
    grid: {
      left: 20,
      right: 30,
      top: chart.title === undefined ? 40 : 65,
      bottom: drawn.length === 1 ? 20 : 50,
      outerBoundsMode: "same",
      outerBoundsContain: "all",
    },
    xAxis: { name: short(columns[x]?.name ?? ""), nameLocation: "middle", nameGap: 30, ...axis.axis },
    yAxis: {
      type: "value",
      ...(drawn.length === 1 ? { name: names[0] } : {}),
      scale: chart.type === "scatter",
    },
    series: drawn.map((index, place) => ({
      type: chart.type,
      name: names[place],
      ...(chart.type === "line" ? { showSymbol: rows.length <= 60, connectNulls: false } : {}),
      data: rows.map((row, point) =>
        axis.isCategory ? numberOf(row[index]) : [axis.places[point], numberOf(row[index])],
      ),
    })),
  };
}

/** A label is one line, and XML allows no control characters. */
function short(text: string, max = MAX_LABEL): string {
  const line = oneLine(text.slice(0, max * 2).toWellFormed());
  return line.length > max ? `${line.slice(0, max - 1)}…` : line;
}

/** In an answer, integers beyond 2^53 and decimals are text. */
function numberOf(value: unknown): number | null {
  const isNumeric = typeof value === "string" && /^-?[\d.]+(e[+-]?\d+)?$/i.test(value);
  const number = isNumeric ? Number(value) : value;
  return typeof number === "number" && Number.isFinite(number) ? number : null;
}

const hasNumbers = (rows: Rows, index: number) =>
  rows.some((row) => numberOf(row[index]) !== null) &&
  rows.every((row) => row[index] === null || numberOf(row[index]) !== null);

/** Bars get categories; lines and scatter plots place numbers and dates to scale. */
function axisOf({ type }: Chart, rows: Rows, x: number) {
  const isNumeric = hasNumbers(rows, x);
  const dates = rows.map((row) => dateOf(row[x]));
  if (type !== "bar" && (isNumeric || dates.every((date) => date !== undefined))) {
    const places = isNumeric ? rows.map((row) => numberOf(row[x])) : dates;
    return { isCategory: false as const, places, axis: { type: isNumeric ? "value" : "time", scale: true } };
  }
  const labels = rows.map((row) =>
    short(row[x] === null ? "NULL" : typeof row[x] === "string" ? row[x] : JSON.stringify(row[x])),
  );
  const isLong = labels.length > 8 || labels.some((label) => label.length > 12);
  return {
    isCategory: true as const,
    places: [],
    axis: {
      type: "category",
      data: labels,
      nameGap: isLong ? 10 : 30,
      nameLocation: isLong ? "end" : "middle",
      axisLabel: { rotate: isLong ? 40 : 0, hideOverlap: true },
    },
  };
}

/** Milliseconds of an ISO 8601 date with or without a time. */
function dateOf(value: unknown): number | undefined {
  const pattern = /^\d{4}-\d\d-\d\d([T ]\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d(:?\d\d)?)?)?$/;
  if (typeof value !== "string" || !pattern.test(value)) return undefined;
  const isDay = value.length === 10;
  const time = Date.parse(isDay ? value : value.replace(" ", "T").replace(/([+-]\d\d)$/, "$1:00"));
  return Number.isNaN(time) ? undefined : time;
}

let painting: ReturnType<typeof painter> | undefined;

async function painter() {
  const [{ initWasm, Resvg }, wasm, font] = await Promise.all([
    import("@resvg/resvg-wasm"),
    packed("@resvg/resvg-wasm/index_bg.wasm"),
    packed("dejavu-fonts-ttf/ttf/DejaVuSans.ttf"),
  ]);
  await initWasm(wasm);
  return { Resvg, font };
}

/** A file of a package; in a bundle it is next to the code. */
async function packed(specifier: string): Promise<Uint8Array> {
  const bundled = new URL(`./${basename(specifier)}`, import.meta.url);
  return await readFile(existsSync(bundled) ? bundled : createRequire(import.meta.url).resolve(specifier));
}
