import { PNG } from "pngjs";
import { expect, it } from "vitest";
import { differenceOf } from "./difference.ts";

const WIDTH = 120;
const BAR = 40;
const COLORS = { red: [255, 0, 0, 255], blue: [0, 0, 255, 255], none: [255, 255, 255, 255] };
type Color = keyof typeof COLORS;

/** A page with these lines, and a picture with a bar of each color. */
function loaded(lines: readonly string[], bars: readonly Color[]) {
  const png = new PNG({ width: WIDTH, height: bars.length * BAR });
  for (let at = 0; at < WIDTH * bars.length * BAR; at++)
    png.data.set(COLORS[bars[Math.floor(at / WIDTH / BAR)] ?? "none"], at * 4);
  return { lines, png: PNG.sync.write(png) };
}

it("what changes at each load is listed as ignored", async () => {
  const lines = (n: number) => ["status: 200", "- main:", `- text: visit ${n}`];
  const difference = await differenceOf(
    [loaded(lines(1), ["red", "none", "none"]), loaded(lines(2), ["blue", "none", "none"])],
    [loaded(lines(3), ["blue", "none", "red"]), loaded(lines(4), ["red", "none", "red"])],
  );
  expect(difference).toMatchObject({
    lines: [],
    regions: ["4800 px differ, from row 80 to 120 of 120"],
    ignored: [
      "parts of the picture that differ at each load",
      "what differs at each load: text: visit 1; text: visit 3",
    ],
  });
});
