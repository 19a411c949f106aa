import { describe, expect, it } from "vitest";
import { type Kind, type Layout, layoutOf } from "./layout.ts";
import { type Drawable, hasNumbers } from "./values.ts";

const measured = (text: string) => [...text].length * 7;
const textsOf = ({ marks }: Layout) =>
  marks.flatMap((mark) => (mark.is === "text" ? [mark.text] : []));

/** All columns with numbers against one. */
function drawn(kind: Kind, table: Drawable, x = 0, ys?: readonly number[]): Layout {
  const numbers = table.columns.flatMap((_, at) =>
    at !== x && hasNumbers(table.rows, at) ? [at] : [],
  );
  return layoutOf(table, {
    kind,
    x,
    ys: (ys ?? numbers).map((index, color) => ({ index, color })),
    width: 900,
    height: 500,
    measure: measured,
    text: String,
  });
}

it("places numbers and dates to scale, and reads decimals and large integers", () => {
  const columns = [
    { name: "day", type: "date" },
    { name: "n", type: "bigint" },
  ];
  const rows = [
    ["2026-01-01", "9007199254740993"],
    ["2026-01-11", 2],
  ];
  const { points } = drawn("line", {
    columns,
    rows: [...rows, ["2026-03-02", 4]],
  });
  const [first, second, third] = points;
  expect((second?.x ?? 0) - (first?.x ?? 0)).toBeCloseTo(
    ((third?.x ?? 0) - (first?.x ?? 0)) / 6,
    5,
  );
  expect(first?.y).toBeLessThan(second?.y ?? 0);
  const scatter = drawn("scatter", { columns, rows }, 1, [1]);
  expect(textsOf(scatter)).toContain("9000T");
  // Bars of regular dates are along the same axis, and show the days that have none.
  const days = ["2026-01-01", "2026-01-02", "2026-01-08"].map((day) => [day, 1]);
  const bars = drawn("bar", { columns, rows: days }).points.map(({ x }) => x);
  expect(((bars[2] ?? 0) - (bars[0] ?? 0)) / ((bars[1] ?? 0) - (bars[0] ?? 0))).toBeCloseTo(7, 5);
});

describe("a line", () => {
  const lines = (values: readonly (number | null)[], days: readonly number[]) => {
    const rows = days.map((day, at) => [
      new Date(Date.UTC(2025, 0, day)).toISOString().slice(0, 10),
      values[at],
    ]);
    const { marks } = drawn("line", {
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
      if (mark.is !== "text") return [];
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
    ["a day", 3_600_000, 24],
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
        const labels = labelsOf(drawn(type, { columns, rows }));
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
});
