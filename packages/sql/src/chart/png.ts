// Paints a layout as a PNG.
import { PNG } from "pngjs";
import { type Ink, type Layout, type Mark, TEXT_SIZE } from "./layout.ts";
import { outlinesOf, widthOf } from "./letters.ts";
import { type Color, type Outline, Raster } from "./raster.ts";

/** Colors that people with color blindness can tell apart (Okabe and Ito). */
const COLORS = "0072b2 e69f00 009e73 d55e00 cc79a7 56b4e9 8c6d31 f0e442 444444 999999"
  .split(" ")
  .map(rgb);
const PAGE: Readonly<Record<string, Color>> = {
  rule: rgb("d8d8d8"),
  muted: rgb("555555"),
  text: rgb("1c1c1c"),
};
const LINE_WIDTH = 2;
const RULE_WIDTH = 1;
/** Corners of a dot. */
const CORNERS = 20;

function rgb(hex: string): Color {
  const value = Number.parseInt(hex, 16);
  return [value >> 16, (value >> 8) & 255, value & 255];
}

const colorOf = (ink: Ink): Color =>
  (typeof ink === "number" ? COLORS[ink % COLORS.length] : PAGE[ink]) ?? [0, 0, 0];

/** The width of a label's text. */
export const measured = (text: string): number => widthOf(text, TEXT_SIZE);

/** The bytes of a PNG. */
export function pngOf({ width, height, marks }: Layout): Uint8Array {
  const raster = new Raster(width, height);
  for (const mark of marks)
    raster.fill(shapeOf(mark), colorOf(mark.ink), mark.is === "dot" ? 0.85 : 1);
  return PNG.sync.write(Object.assign(new PNG({ width, height }), { data: raster.data }), {
    colorType: 2,
  });
}

function shapeOf(mark: Mark): readonly Outline[] {
  if (mark.is === "bar") {
    const [right, bottom] = [mark.x + mark.width, mark.y + mark.height];
    return [[mark.x, mark.y, right, mark.y, right, bottom, mark.x, bottom]];
  }
  if (mark.is === "dot") return [disc(mark.x, mark.y, mark.radius)];
  if (mark.is === "line")
    return strokeOf(mark.points, mark.ink === "rule" ? RULE_WIDTH : LINE_WIDTH);
  const width = widthOf(mark.text, mark.size);
  const before = mark.anchor === "start" ? 0 : mark.anchor === "middle" ? width / 2 : width;
  const angle = (mark.turn * Math.PI) / 180;
  const [cos, sin] = [Math.cos(angle), Math.sin(angle)];
  return outlinesOf(mark.text, mark.size).map((outline) => {
    const placed: number[] = [];
    for (let at = 0; at < outline.length; at += 2) {
      const [x, y] = [(outline[at] ?? 0) - before, outline[at + 1] ?? 0];
      placed.push(mark.x + x * cos - y * sin, mark.y + x * sin + y * cos);
    }
    return placed;
  });
}

function disc(x: number, y: number, radius: number): Outline {
  return Array.from({ length: CORNERS }, (_, corner) => (corner * 2 * Math.PI) / CORNERS).flatMap(
    (angle) => [x + radius * Math.cos(angle), y + radius * Math.sin(angle)],
  );
}

/** A line as outlines of the same direction, which together cover it: a bar for each step, and round corners. */
function strokeOf(points: readonly (readonly [number, number])[], width: number): Outline[] {
  return points.flatMap(([x, y], index): Outline[] => {
    const [nextX, nextY] = points[index + 1] ?? [x, y];
    const length = Math.hypot(nextX - x, nextY - y);
    const corner = width > RULE_WIDTH ? [disc(x, y, width / 2)] : [];
    if (length === 0) return corner;
    const [across, down] = [
      ((nextY - y) / length) * (width / 2),
      ((nextX - x) / length) * (width / 2),
    ];
    return [
      ...corner,
      [
        x + across,
        y - down,
        nextX + across,
        nextY - down,
        nextX - across,
        nextY + down,
        x - across,
        y + down,
      ],
    ];
  });
}
