import { describe, expect, it } from "vitest";
import type { Chart } from "../tools.ts";
import { chartLayout, drawChart } from "./chart.ts";
import type { Layout } from "./layout.ts";
import { measured } from "./png.ts";

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
const textsOf = ({ marks }: Layout) =>
  marks.flatMap((mark) => (mark.is === "text" ? [mark.text] : []));
const chart = (given: Partial<Chart> = {}): Chart => ({ type: "bar", ...given });

describe("a chart", () => {
  it.each(["bar", "line", "scatter"] as const)("is a PNG of its columns: %s", (type) => {
    const given = chart({ type, title: "Genres" });
    const png = drawChart(given, { columns: SALES, rows: ROWS });
    expect(Buffer.from(png.subarray(0, 8)).toString("latin1")).toBe("\x89PNG\r\n\x1a\n");
    const header = new DataView(png.buffer, png.byteOffset);
    expect([header.getUint32(16), header.getUint32(20)]).toEqual([900, 500]);
    expect(png.length).toBeLessThan(200_000);
    const texts = textsOf(chartLayout(given, { columns: SALES, rows: ROWS }));
    expect(texts).toEqual(
      expect.arrayContaining([
        "Genres",
        "genre",
        "tracks",
        "revenue",
        "Alternative & Punk",
        "NULL",
      ]),
    );
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
    const { points } = chartLayout(chart({ type: "line" }), {
      columns,
      rows: [...rows, ["2026-03-02", 4]],
    });
    const [first, second, third] = points;
    expect((second?.x ?? 0) - (first?.x ?? 0)).toBeCloseTo(
      ((third?.x ?? 0) - (first?.x ?? 0)) / 6,
      5,
    );
    expect(first?.y).toBeLessThan(second?.y ?? 0);
    const scatter = chartLayout(chart({ type: "scatter", x: "n", y: ["n"] }), { columns, rows });
    expect(textsOf(scatter)).toContain("9000T");
    // Bars of regular dates are along the same axis, and show the days that have none.
    const days = ["2026-01-01", "2026-01-02", "2026-01-08"].map((day) => [day, 1]);
    const bars = chartLayout(chart(), { columns, rows: days }).points.map(({ x }) => x);
    expect(((bars[2] ?? 0) - (bars[0] ?? 0)) / ((bars[1] ?? 0) - (bars[0] ?? 0))).toBeCloseTo(7, 5);
  });

  it("names columns that can't be drawn, and the maximum number of points", () => {
    const draw =
      (given: Partial<Chart>, rows: unknown[][] = ROWS) =>
      () =>
        chartLayout(chart(given), { columns: SALES, rows });
    expect(draw({ x: "nothing" })).toThrow(/no column "nothing"/);
    expect(draw({ x: "tracks", y: ["genre"] })).toThrow(/"genre" has no numbers/);
    expect(draw({}, [])).toThrow(/no rows/);
    expect(draw({}, [["a", "b", "c"]])).toThrow(/No column has numbers/);
    expect(draw({}, Array(4_000).fill(ROWS[0]))).toThrow(
      /at most 5000 points; this one would have 8000/,
    );
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

  it("stays in one line, hides and turns nothing, and does not break the picture", () => {
    const columns = HOSTILE.map((name, index) => ({
      name: index === 0 ? "label" : name,
      type: "text",
    }));
    const rows = HOSTILE.map((label, at) => [
      label,
      ...HOSTILE.slice(1).map((_, index) => at * index),
    ]);
    for (const type of ["bar", "line", "scatter"] as const) {
      const given = chart({ type, title: HOSTILE[0] ?? "" });
      const texts = textsOf(chartLayout(given, { columns, rows }));
      expect(texts.some((text) => text.includes("\\u{202e}evil"))).toBe(true);
      for (const text of texts) {
        expect(text).not.toMatch(/[\p{Cc}\u202e\ud800]/u);
        expect(text.length).toBeLessThan(300);
      }
      expect(drawChart(given, { columns, rows }).length).toBeGreaterThan(1_000);
    }
  });
});

describe("a line", () => {
  const lines = (values: readonly (number | null)[], days: readonly number[]) => {
    const rows = days.map((day, at) => [
      new Date(Date.UTC(2025, 0, day)).toISOString().slice(0, 10),
      values[at],
    ]);
    const { marks } = chartLayout(chart({ type: "line" }), {
      columns: [{ name: "day" }, { name: "n" }],
      rows,
    });
    return marks.flatMap((mark) =>
      mark.is === "line" && mark.ink === 0 ? [mark.points.length] : [],
    );
  };

  it("ends at NULL, and where days are missing, but not over a weekend", () => {
    expect(lines([1, 2, 3, 4], [1, 2, 3, 4])).toEqual([4]);
    expect(lines([1, 2, null, 4, 5], [1, 2, 3, 4, 5])).toEqual([2, 2]);
    expect(lines([1, 2, 3, 4, 5], [1, 2, 3, 6, 7])).toEqual([5]);
    expect(lines([1, 2, 3, 4, 5], [1, 2, 3, 17, 18])).toEqual([3, 2]);
  });
});

describe("labels", () => {
  const columns = [{ name: "x" }, { name: "n" }];
  const labelsOf = ({ marks, width }: Layout) =>
    marks.flatMap((mark) => {
      if (mark.is !== "text" || mark.size !== 12) return [];
      const size = measured(mark.text);
      const before = { start: 0, middle: size / 2, end: size }[mark.anchor];
      return [
        {
          text: mark.text,
          turn: mark.turn,
          from: mark.x - before,
          to: mark.x - before + size,
          y: mark.y,
          width,
        },
      ];
    });

  it.each([
    ["an hour", 60_000, 60],
    ["a day", 3_600_000, 24],
    ["three days", 3_600_000, 72],
    ["a month", 86_400_000, 31],
    ["a year", 86_400_000, 365],
    ["thirty years", 30 * 86_400_000, 365],
  ])(
    "of times within %s have the date or the title has it, do not overlap and are not cut",
    (_, step, count) => {
      const times = Array.from({ length: count }, (_, at) =>
        new Date(Date.UTC(2025, 2, 7, 22, 15) + at * step)
          .toISOString()
          .slice(0, 19)
          .replace("T", " "),
      );
      const rows = times.map((time, at) => [time, at % 17]);
      for (const type of ["line", "bar"] as const) {
        const labels = labelsOf(chartLayout(chart({ type }), { columns, rows }));
        const title = labels.find(({ text }) => text.startsWith("x, "))?.text;
        expect(title).toContain("2025-03-07");
        const ticks = labels.filter(
          ({ text }) => /^[\d-]+[ \d:]*$/.test(text) && /[-:]|^\d{4}$/.test(text),
        );
        expect(ticks.length).toBeGreaterThan(2);
        const isOneDay = times[0]?.slice(0, 10) === times.at(-1)?.slice(0, 10);
        for (const { text } of ticks)
          expect(text).toMatch(
            isOneDay ? /^\d\d:\d\d$/ : /^(\d{4}|\d{4}-\d\d(-\d\d)?|(\d{4}-)?\d\d-\d\d \d\d:\d\d)$/,
          );
        for (const { from, to, width } of ticks.filter(({ turn }) => turn === 0)) {
          expect(from).toBeGreaterThanOrEqual(0);
          expect(to).toBeLessThanOrEqual(width);
        }
        ticks.forEach(({ from, turn }, at) => {
          if (at > 0 && turn === 0) expect(from).toBeGreaterThan(ticks[at - 1]?.to ?? 0);
        });
      }
    },
  );

  it("have accents, other scripts, and a box for what the picture lacks", () => {
    expect(measured("e\u0301")).toBe(measured("é"));
    expect(measured("Жук Ωμέγα հայ")).toBeGreaterThan(60);
    expect(measured("漢")).toBe(measured("\ufffd"));
  });
});
