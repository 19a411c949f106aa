import { oneLine, ToolError } from "@refmcp/boundary/answer";
import type { Chart } from "../tools.ts";
import { type Layout, layoutOf, MAX_MARKS } from "./layout.ts";
import { measured, pngOf } from "./png.ts";
import { type Drawable, hasNumbers } from "./values.ts";

const WIDTH = 900;
const HEIGHT = 500;
const MAX_SERIES = 10;
/** Longer text does not fit anywhere. */
const MAX_TEXT = 200;

/**
 * Draws columns of a result as the rows view does, in a picture.
 *
 * @param table values as encoded for an answer
 * @returns a PNG
 * @throws ToolError `invalid` for columns that are missing or have no numbers, `too_large` for too many points
 */
export function drawChart(chart: Chart, table: Drawable): Uint8Array {
  return pngOf(chartLayout(chart, table));
}

/** What the picture shows. */
export function chartLayout(chart: Chart, table: Drawable): Layout {
  const { columns, rows } = table;
  if (rows.length === 0) throw new ToolError("invalid", "The result has no rows to draw.");
  const allNames = columns.map(({ name }) => name).join(", ");
  const at = (name: string) => {
    const index = columns.findIndex((column) => column.name === name);
    if (index >= 0) return index;
    throw new ToolError(
      "invalid",
      `The result has no column ${JSON.stringify(name.slice(0, 60))} to draw.`,
      {
        hint: `Its columns are ${allNames.slice(0, 500)}.`,
      },
    );
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
  if (rows.length * drawn.length > MAX_MARKS)
    throw new ToolError(
      "too_large",
      `A chart can have at most ${MAX_MARKS} points; this one would have ${rows.length * drawn.length}.`,
      {
        hint: "Aggregate with GROUP BY, or draw fewer rows or columns.",
      },
    );
  return layoutOf(table, {
    kind: chart.type,
    x,
    ys: drawn.map((index, color) => ({ index, color })),
    width: WIDTH,
    height: HEIGHT,
    title: chart.title,
    hasLegend: true,
    locale: "en",
    measure: measured,
    text: written,
  });
}

/** A value in one line, without characters that hide or turn text. */
function written(value: unknown): string {
  const text =
    typeof value === "string" ? value : value === null ? "NULL" : (JSON.stringify(value) ?? "NULL");
  return oneLine(text.slice(0, MAX_TEXT));
}
