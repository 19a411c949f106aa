import { describe, expect, it } from "vitest";
import { drawChart, optionOf, svgOf } from "./chart.ts";
import type { Chart } from "./tools.ts";

const SALES = [
  { name: "genre", type: "text" },
  { name: "tracks", type: "bigint" },
  { name: "revenue", type: "numeric" },
];
const ROWS = [
  ["Rock", 1297, "826.65"],
  ["Latin", 579, "382.14"],
  ["Alternative & Punk", 332, "241.56"],
  [null, 130, null],
];
const chart = (given: Partial<Chart> = {}): Chart => ({ type: "bar", ...given });

describe("a chart", () => {
  it.each(["bar", "line", "scatter"] as const)("is a PNG of its columns: %s", async (type) => {
    const png = await drawChart(chart({ type, title: "Genres" }), SALES, ROWS);
    expect(Buffer.from(png.subarray(0, 8)).toString("latin1")).toBe("\x89PNG\r\n\x1a\n");
    const header = new DataView(png.buffer, png.byteOffset);
    expect([header.getUint32(16), header.getUint32(20)]).toEqual([900, 500]);
    expect(png.length).toBeLessThan(200_000);
    const svg = await svgOf(chart({ type }), SALES, ROWS);
    for (const text of ["Alternative &amp; Punk", "NULL", "revenue"]) expect(svg).toContain(text);
  });

  it("places numbers and dates to scale, and reads decimals and large integers", () => {
    const columns = [
      { name: "day", type: "date" },
      { name: "n", type: "bigint" },
    ];
    const rows = [
      ["2026-01-01", "9007199254740993"],
      ["2026-01-11", 2],
    ];
    expect(optionOf(chart({ type: "line" }), columns, rows)).toMatchObject({
      xAxis: { type: "time" },
      series: [
        {
          data: [
            [Date.parse("2026-01-01"), Number("9007199254740993")],
            [Date.parse("2026-01-11"), 2],
          ],
        },
      ],
    });
    expect(optionOf(chart({ type: "scatter", x: "n", y: ["n"] }), columns, rows)).toMatchObject({
      xAxis: { type: "value" },
    });
  });

  it("names columns that can't be drawn, and the maximum number of points", () => {
    const draw =
      (given: Partial<Chart>, rows: unknown[][] = ROWS) =>
      () =>
        optionOf(chart(given), SALES, rows);
    expect(draw({ x: "nothing" })).toThrow(/no column "nothing"/);
    expect(draw({ x: "tracks", y: ["genre"] })).toThrow(/"genre" has no numbers/);
    expect(draw({}, [])).toThrow(/no rows/);
    expect(draw({}, [["a", "b", "c"]])).toThrow(/No column has numbers/);
    expect(draw({}, Array(4_000).fill(ROWS[0]))).toThrow(/at most 5000 points; this one would have 8000/);
  });
});

describe("database text in a chart", () => {
  const HOSTILE = [
    `</text><script>alert(1)</script>`,
    `"/><image href="file:///etc/passwd" width="900" height="500"/>`,
    `]]><!ENTITY x SYSTEM "file:///etc/passwd">&x;`,
    `{a|rich}{b}\u0000\u0007\uD800`,
    `&#60;script&#62;`,
    `\u202Eevil`,
    "x".repeat(100_000),
  ];

  it("can't become markup, load a file or break the drawing", async () => {
    const columns = HOSTILE.map((name, index) => ({ name: index === 0 ? "label" : name, type: "text" }));
    const rows = HOSTILE.map((label, at) => [label, ...HOSTILE.slice(1).map((_, index) => at * index)]);
    for (const type of ["bar", "line", "scatter"] as const) {
      const given = chart({ type, title: HOSTILE[0] ?? "" });
      const svg = await svgOf(given, columns, rows);
      const elements = new Set(
        [...svg.replace(/<!\[CDATA\[[^<>]*\]\]>/g, "").matchAll(/<\/?([a-z!][^\s/>]*)/gi)].map(
          ([, name]) => name,
        ),
      );
      for (const name of elements)
        expect(["svg", "rect", "path", "g", "text", "style", "defs", "clipPath", "tspan"]).toContain(name);
      expect(svg).not.toMatch(/\s(href|on\w+)=["']/i);
      expect(svg.length).toBeLessThan(100_000);
      expect((await drawChart(given, columns, rows)).length).toBeGreaterThan(1_000);
    }
  });
});
