import { JsonText, ToolError } from "@refmcp/boundary/answer";
import * as z from "zod";
import { FORMATS, type Format } from "./formats.ts";

/** The formats of an answer: rows as text, or with a chart in addition. */
export const formatInput = z
  .enum([...FORMATS, "chart"])
  .default("rows")
  .describe("csv and markdown: one text; chart: rows and a PNG.");

export const chartInput = z
  .strictObject({
    type: z.enum(["bar", "line", "scatter"]).default("bar"),
    x: z.string().optional(),
    y: z.array(z.string()).max(100).optional(),
    title: z.string().optional(),
  })
  .optional()
  .describe("For chart; x and y are columns.");

export type Chart = NonNullable<z.output<typeof chartInput>>;
type Asked = z.output<typeof formatInput>;

/** The format of the rows themselves. */
export const writtenFormat = (format: Asked): Format => (format === "chart" ? "rows" : format);

/**
 * A query's answer, with a picture of its rows if the format is `chart`.
 *
 * @param text the JSON text of `queryOutput`
 * @throws ToolError if the rows can't be drawn
 */
export async function charted(text: string, format: Asked, chart: Chart | undefined): Promise<JsonText> {
  if (format !== "chart") {
    if (chart === undefined) return new JsonText(text);
    throw new ToolError("invalid", `chart can't be combined with format ${JSON.stringify(format)}.`, {
      hint: 'Pass format: "chart".',
    });
  }
  const { columns, rows } = drawable.parse(JSON.parse(text));
  // ECharts and resvg are large: load them with the first chart.
  const { drawChart } = await import("./chart.ts");
  return new JsonText(text, await drawChart(chart ?? { type: "bar" }, columns, rows));
}

const drawable = z.object({
  columns: z.array(z.object({ name: z.string(), type: z.string() })),
  rows: z.array(z.array(z.unknown())),
});
