// Letters of DejaVu Sans as outlines, for pictures on machines without fonts.
import shapes from "./letters.json" with { type: "json" };
import type { Outline } from "./raster.ts";

/** The size of the letters in the file: at 12 pixels, one unit is a twentieth of a pixel. */
const EM = 256;
/** What is drawn for a letter that the file lacks. */
const UNKNOWN = "\u{fffd}";
/** Straight steps for a curve: enough at the sizes of a chart. */
const STEPS = 4;

const SHAPES: Readonly<Record<string, string>> = shapes;

/** Letters with their accents as one character, as the file has them. */
const lettersOf = (text: string): string[] =>
  Array.from(text.normalize("NFC"), (letter) => SHAPES[letter] ?? SHAPES[UNKNOWN] ?? "0");

/** The width of a text in pixels. */
export function widthOf(text: string, size: number): number {
  return lettersOf(text).reduce((sum, shape) => sum + (Number.parseInt(shape, 10) * size) / EM, 0);
}

/** The outlines of a text that begins at 0, with its baseline at 0. */
export function outlinesOf(text: string, size: number): Outline[] {
  let left = 0;
  return lettersOf(text).flatMap((shape) => {
    const outlines = outlinesOfLetter(shape).map((outline) =>
      outline.map((value, index) =>
        index % 2 === 0 ? left + (value * size) / EM : -(value * size) / EM,
      ),
    );
    left += (Number.parseInt(shape, 10) * size) / EM;
    return outlines;
  });
}

/** Outlines in the units of the file. */
function outlinesOfLetter(shape: string): number[][] {
  const outlines: number[][] = [];
  let [x, y] = [0, 0];
  let outline: number[] = [];
  for (const [, kind, steps = ""] of shape.matchAll(/([mlq])([^mlq]*)/g)) {
    const [a = 0, b = 0, c = 0, d = 0] = (steps.match(/-?\d+/g) ?? []).map(Number);
    if (kind === "m") {
      // Every outline is closed, so that the next one begins from where this one did.
      const [startX = 0, startY = 0] = outline;
      [x, y] = [startX + a, startY + b];
      outline = [x, y];
      outlines.push(outline);
    } else if (kind === "l") {
      [x, y] = [x + a, y + b];
      outline.push(x, y);
    } else {
      for (let step = 1; step <= STEPS; step++) {
        const share = step / STEPS;
        const [bend, end] = [2 * share * (1 - share), share * share];
        outline.push(x + bend * a + end * c, y + bend * b + end * d);
      }
      [x, y] = [x + c, y + d];
    }
  }
  return outlines;
}
