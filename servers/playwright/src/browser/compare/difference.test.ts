import { PNG } from "pngjs";
import { describe, expect, it } from "vitest";
import { differenceOf } from "./difference.ts";

const WIDTH = 120;
const BAR = 40;
const COLORS = { red: [255, 0, 0, 255], blue: [0, 0, 255, 255], none: [255, 255, 255, 255] };
type Color = keyof typeof COLORS;

/** A page with these lines, and a picture with a bar of each color. */
function loaded(lines: readonly string[], bars: readonly Color[] = ["none"]) {
  const png = new PNG({ width: WIDTH, height: bars.length * BAR });
  for (let at = 0; at < WIDTH * bars.length * BAR; at++)
    png.data.set(COLORS[bars[Math.floor(at / WIDTH / BAR)] ?? "none"], at * 4);
  return { lines, png: PNG.sync.write(png) };
}

const OLD = ["status: 200", "- main:", '  - heading "Lamps"', "  - paragraph: 49 euros"];

describe("two versions of a page", () => {
  it("do not differ in what changes at each load, which is listed", async () => {
    const visits = (n: number) => [...OLD, `- text: visit ${n}`];
    const { lines, regions, ignored } = await differenceOf(
      [
        loaded(visits(1), ["red", "none", "none", "none"]),
        loaded(visits(2), ["blue", "none", "none", "none"]),
      ],
      [
        loaded(visits(3), ["blue", "none", "none", "red"]),
        loaded(visits(4), ["red", "none", "none", "red"]),
      ],
    );
    expect(lines).toEqual([]);
    expect(regions).toEqual(["4800 px differ, from row 120 to 160 of 160"]);
    expect(ignored).toEqual([
      "parts of the picture that differ at each load",
      "what differs at each load: text: visit 1; text: visit 3",
    ]);
  });
});
