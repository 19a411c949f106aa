// Fills outlines with smooth edges in a picture.

/** Coordinates of an outline: x and y of each corner. It is closed. */
export type Outline = readonly number[];
export type Color = readonly [number, number, number];

/** A picture on a white ground. */
export class Raster {
  /** RGBA. */
  readonly data: Buffer;
  readonly width: number;
  readonly height: number;

  constructor(width: number, height: number) {
    this.width = width;
    this.height = height;
    this.data = Buffer.alloc(width * height * 4, 255);
  }

  /**
   * Fills outlines. Each pixel gets the color by the exact share that is covered: the edges add the area to their right
   * to a table, whose running sum is the share (as in font-rs and stb_truetype).
   */
  fill(outlines: readonly Outline[], color: Color, opacity = 1): void {
    const xs = outlines.flatMap((outline) => outline.filter((_, index) => index % 2 === 0));
    const ys = outlines.flatMap((outline) => outline.filter((_, index) => index % 2 === 1));
    const [left, right] = within(xs, this.width);
    const [top, bottom] = within(ys, this.height);
    const [width, height] = [right - left, bottom - top];
    if (width <= 0 || height <= 0) return;
    const stride = width + 2;
    const areas = new Float32Array(stride * height + 2);
    const edges = { areas, stride, width, height };
    for (const outline of outlines)
      for (let at = 0; at < outline.length; at += 2) {
        const next = (at + 2) % outline.length;
        edge(
          edges,
          [(outline[at] ?? 0) - left, (outline[at + 1] ?? 0) - top],
          [(outline[next] ?? 0) - left, (outline[next + 1] ?? 0) - top],
        );
      }
    for (let y = 0; y < height; y++) {
      let sum = 0;
      for (let x = 0; x < width; x++) {
        sum += areas[y * stride + x] ?? 0;
        const share = Math.min(Math.abs(sum), 1) * opacity;
        if (share < 1 / 512) continue;
        const at = ((top + y) * this.width + left + x) * 4;
        for (const part of [0, 1, 2] as const) {
          const below = this.data[at + part] ?? 255;
          this.data[at + part] = Math.round(below + (color[part] - below) * share);
        }
      }
    }
  }
}

/** The whole pixels that values cover, inside the picture. */
function within(values: readonly number[], size: number): [number, number] {
  let [min, max] = [size, 0];
  for (const value of values) [min, max] = [Math.min(min, value), Math.max(max, value)];
  return [Math.max(Math.floor(min), 0), Math.min(Math.ceil(max), size)];
}

interface Edges {
  readonly areas: Float32Array;
  readonly stride: number;
  readonly width: number;
  readonly height: number;
}

type Place = readonly [number, number];

/** Adds an edge: in each line of pixels its height, and the part of it that is left of the edge. */
function edge({ areas, stride, width, height }: Edges, from: Place, to: Place): void {
  if (from[1] === to[1]) return;
  const sign = from[1] < to[1] ? 1 : -1;
  const [[startX, startY], [endX, endY]] = sign === 1 ? [from, to] : [to, from];
  const slope = (endX - startX) / (endY - startY);
  for (let y = Math.max(Math.floor(startY), 0); y < Math.min(Math.ceil(endY), height); y++) {
    const [upper, lower] = [Math.max(y, startY), Math.min(y + 1, endY)];
    const clipped = [upper, lower].map((at) => clamp(startX + (at - startY) * slope, width));
    const [left, right] = [Math.min(...clipped), Math.max(...clipped)];
    const rise = (lower - upper) * sign;
    const add = (x: number, value: number) => {
      const at = y * stride + x;
      areas[at] = (areas[at] ?? 0) + value;
    };
    // The share of the rise that is right of the edge up to a place, from the left end of the edge.
    let before = 0;
    for (let x = Math.floor(left); x <= Math.floor(right); x++) {
      const covered = coverage(left, right, x) * rise;
      add(x, covered - before);
      before = covered;
    }
    add(Math.floor(right) + 1, rise - before);
  }
}

/** The area of a pixel to the right of an edge that crosses a line of pixels from one x to another. */
function coverage(left: number, right: number, x: number): number {
  if (right - left < 1e-6) return Math.min(Math.max(x + 1 - left, 0), 1);
  const area = (at: number) => {
    const inside = Math.min(Math.max(at, left), right);
    return (inside - left) ** 2 / (2 * (right - left)) + Math.max(at - right, 0);
  };
  return area(x + 1) - area(x);
}

const clamp = (x: number, width: number) => Math.min(Math.max(x, 0), width);
