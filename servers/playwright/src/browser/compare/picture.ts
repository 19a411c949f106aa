import { createHash } from "node:crypto";
import type { PNGWithMetadata } from "pngjs";
import { aligned, type Pair } from "./aligned.ts";

export interface Box {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

/** A part of a picture that differs. */
export interface Region {
  readonly box: Box;
  readonly pixels: number;
  /** The part is only in the first picture, and `box` is where it was. */
  readonly isRemoved: boolean;
}

export interface PictureDifference {
  readonly regions: readonly Region[];
  /** The second picture with what differs in red. */
  readonly diff: Buffer | undefined;
}

/** Parts of each picture that are not compared. */
export interface Ignored {
  readonly before: readonly Box[];
  readonly after: readonly Box[];
}

/** Rows that were inserted or deleted; beyond that, pictures are compared without moving rows. */
const MAX_EDITS = 1_000;
/** Differing pixels that are less than two cells apart belong to one region. */
const CELL = 12;
/** Fewer pixels are shades that browsers draw differently now and then. */
const MIN_PIXELS = 4;
const RED = [220, 0, 30, 255];
const NOTHING: Ignored = { before: [], after: [] };

/**
 * Compares two pictures of a page. Rows that moved up or down as a whole are aligned first, so that a new banner at the
 * top is one region and not the whole page.
 *
 * @param isPainted asks for `diff`.
 */
export async function pictureDifference(
  before: Buffer,
  after: Buffer,
  ignored: Ignored = NOTHING,
  isPainted = false,
): Promise<PictureDifference> {
  if (before.equals(after)) return { regions: [], diff: undefined };
  const { PNG } = (await import("pngjs")).default;
  const pixelmatch = (await import("pixelmatch")).default;
  const [then, now] = [PNG.sync.read(before), PNG.sync.read(after)];
  const rows = await unequalRows(then, now);
  const width = Math.max(then.width, now.width);
  const bytes = () => new Uint8Array(width * rows.length * 4);
  const [left, right, out] = [bytes(), bytes(), bytes()];
  for (const [at, row] of rows.entries()) {
    if (row.before !== undefined) copyRow(then, row.before, left, at * width * 4);
    if (row.after !== undefined) copyRow(now, row.after, right, at * width * 4);
    // A row of one picture only is compared with its own background, so that new space is not a difference.
    if (row.before === undefined) fillRow(right, left, at, width);
    if (row.after === undefined) fillRow(left, right, at, width);
  }
  if (rows.length > 0)
    pixelmatch(left, right, out, width, rows.length, { threshold: 0.1, diffMask: true });
  const shown = { after: new Cells(), removed: new Cells() };
  const picture = isPainted ? pale(now, PNG) : undefined;
  for (const [at, row] of rows.entries()) {
    for (let x = 0; x < width; x++) {
      if (out[(at * width + x) * 4 + 3] === 0) continue;
      if (row.before !== undefined && isIn(ignored.before, x, row.before)) continue;
      if (row.after !== undefined && isIn(ignored.after, x, row.after)) continue;
      if (row.after === undefined) shown.removed.add(x, row.before ?? 0);
      else {
        shown.after.add(x, row.after);
        if (x < now.width) picture?.data.set(RED, (row.after * now.width + x) * 4);
      }
    }
  }
  const regions = [...shown.after.regions(false), ...shown.removed.regions(true)];
  const pixels = regions.reduce((sum, region) => sum + region.pixels, 0);
  if (pixels === 0 || picture === undefined) return { regions, diff: undefined };
  return { regions, diff: PNG.sync.write(picture) };
}

/** The rows that are not equal, after those that only moved were paired. */
async function unequalRows(then: PNGWithMetadata, now: PNGWithMetadata): Promise<Pair[]> {
  const [old, fresh] = [hashes(then), hashes(now)];
  const rows: Pair[] = [];
  const [removed, added]: [number[], number[]] = [[], []];
  const flush = () => {
    const count = Math.max(removed.length, added.length);
    for (let n = 0; n < count; n++) {
      const [before, after] = [removed[n], added[n]];
      if (before !== undefined && after !== undefined && old[before] === fresh[after]) continue;
      rows.push({ before, after });
    }
    removed.length = 0;
    added.length = 0;
  };
  for (const { before, after } of await aligned(old, fresh, MAX_EDITS)) {
    if (before !== undefined && after !== undefined) flush();
    else if (before !== undefined) removed.push(before);
    else if (after !== undefined) added.push(after);
  }
  flush();
  return rows;
}

const hashes = ({ width, height, data }: PNGWithMetadata): string[] =>
  Array.from({ length: height }, (_, y) =>
    createHash("sha1")
      .update(data.subarray(y * width * 4, (y + 1) * width * 4))
      .digest("base64"),
  );

function copyRow({ width, data }: PNGWithMetadata, y: number, into: Uint8Array, at: number): void {
  into.set(data.subarray(y * width * 4, (y + 1) * width * 4), at);
}

/** Fills a row with the first pixel of the other picture's row. */
function fillRow(from: Uint8Array, into: Uint8Array, row: number, width: number): void {
  const at = row * width * 4;
  const first = from.slice(at, at + 4);
  for (let x = 0; x < width; x++) into.set(first, at + x * 4);
}

const isIn = (boxes: readonly Box[], x: number, y: number) =>
  boxes.some((box) => x >= box.x && y >= box.y && x < box.x + box.width && y < box.y + box.height);

/** Differing pixels by cell of a grid. */
class Cells {
  readonly #cells = new Map<
    string,
    { x: number; y: number; right: number; bottom: number; pixels: number }
  >();

  add(x: number, y: number): void {
    const key = `${Math.floor(x / CELL)},${Math.floor(y / CELL)}`;
    const cell = this.#cells.get(key);
    if (cell === undefined) {
      this.#cells.set(key, { x, y, right: x, bottom: y, pixels: 1 });
      return;
    }
    cell.x = Math.min(cell.x, x);
    cell.right = Math.max(cell.right, x);
    cell.bottom = Math.max(cell.bottom, y);
    cell.pixels += 1;
  }

  /** Joins neighboring cells; the largest region is the first. */
  regions(isRemoved: boolean): Region[] {
    const left = new Map(this.#cells);
    const found: Region[] = [];
    for (const start of this.#cells.keys()) {
      if (!left.has(start)) continue;
      const region = {
        x: Number.POSITIVE_INFINITY,
        y: Number.POSITIVE_INFINITY,
        right: 0,
        bottom: 0,
        pixels: 0,
      };
      const next = [start];
      for (let key = next.pop(); key !== undefined; key = next.pop()) {
        const cell = left.get(key);
        if (cell === undefined) continue;
        left.delete(key);
        region.x = Math.min(region.x, cell.x);
        region.y = Math.min(region.y, cell.y);
        region.right = Math.max(region.right, cell.right);
        region.bottom = Math.max(region.bottom, cell.bottom);
        region.pixels += cell.pixels;
        const [column = 0, row = 0] = key.split(",").map(Number);
        for (let dx = -2; dx <= 2; dx++)
          for (let dy = -1; dy <= 1; dy++) next.push(`${column + dx},${row + dy}`);
      }
      const { x, y, right, bottom, pixels } = region;
      if (pixels >= MIN_PIXELS)
        found.push({
          box: { x, y, width: right - x + 1, height: bottom - y + 1 },
          pixels,
          isRemoved,
        });
    }
    return found.sort((a, b) => b.pixels - a.pixels);
  }
}

/** A pale gray copy of a picture. */
function pale({ width, height, data }: PNGWithMetadata, PNG: typeof import("pngjs").PNG) {
  const picture = new PNG({ width, height });
  for (let at = 0; at < data.length; at += 4) {
    const gray = 0.3 * (data[at] ?? 0) + 0.59 * (data[at + 1] ?? 0) + 0.11 * (data[at + 2] ?? 0);
    picture.data.fill(Math.round(255 - (255 - gray) * 0.25), at, at + 3);
    picture.data[at + 3] = 255;
  }
  return picture;
}
