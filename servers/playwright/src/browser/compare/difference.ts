import type { Capture } from "./capture.ts";

/** What differs between two versions of a page. Each list has one line for each difference. */
interface PageDifference {
  /** Lines that are gone (`-`) and new ones (`+`), each run of them after the line before it. */
  readonly lines: string[];
  /** Parts of the picture. */
  readonly regions: string[];
  /** What was not compared, because it differs between two loads of one version. */
  readonly ignored: string[];
  /** The second picture with what differs in red. */
  readonly diff?: Buffer | undefined;
}

/** Compares two versions of a page, of each the first load; what differs between loads of one version does not count. */
export async function differenceOf(
  before: readonly Capture[],
  after: readonly Capture[],
): Promise<PageDifference> {
  const { lines, chance } = await lineDifference(before, after);
  const pictures = (loads: readonly Capture[]) => loads.map(({ png }) => png);
  const picture = await pictureDifference(pictures(before), pictures(after));
  const list = [...chance].slice(0, MAX_SHOWN).map(plain);
  const more = chance.size > MAX_SHOWN ? ` and ${chance.size - MAX_SHOWN} more` : "";
  return {
    lines,
    regions: picture.regions,
    diff: picture.diff,
    ignored: [
      ...(picture.isVarying ? ["parts of the picture that differ at each load"] : []),
      ...(list.length === 0 ? [] : [`what differs at each load: ${list.join("; ")}${more}`]),
    ],
  };
}

const MAX_SHOWN = 3;

/** A line without the mark of a list. */
const plain = (line: string) => line.replace(/^(\s*)- /, "$1");

/** Lines that differ but not by chance; the indentation alone does not count. */
async function lineDifference(before: readonly Capture[], after: readonly Capture[]) {
  const { diffArrays } = await import("diff");
  const trimmed = ({ lines }: Capture) => lines.map((line) => line.trim());
  const [old, fresh] = [before.map(trimmed), after.map(trimmed)];
  const unsteady = [old, fresh].flatMap((loads) =>
    loads.flat().filter((line) => !loads.every((load) => load.includes(line))),
  );
  const varying = new Set(unsteady);
  const chance = new Set<string>();
  const [then, now] = [before[0]?.lines ?? [], after[0]?.lines ?? []];
  const lines: string[] = [];
  let [y, z, end] = [0, 0, 0];
  for (const { removed, added, count } of diffArrays(old[0] ?? [], fresh[0] ?? [])) {
    const part = removed ? then.slice(y, y + count) : now.slice(z, z + count);
    if (removed || added)
      for (const line of part) {
        if (varying.has(line.trim())) {
          chance.add(line.trim());
          continue;
        }
        const context = now[z - 1];
        if (context !== undefined && end < z) lines.push(`  ${plain(context)}`);
        lines.push(`${removed ? "-" : "+"} ${plain(line)}`);
        end = z;
      }
    if (!added) y += count;
    if (!removed) z += count;
    if (added) end = z;
  }
  return { lines, chance };
}

/** The side of a cell of the picture: where one differs at each load, so may those next to it. */
const CELL = 20;
/** Fewer pixels are shades that browsers draw differently now and then. */
const MIN_PIXELS = 4;

/**
 * Compares the first pictures of two versions.
 *
 * @returns how much differs and where, and the second picture with it in red.
 */
async function pictureDifference(
  before: readonly Buffer[],
  after: readonly Buffer[],
): Promise<{ regions: string[]; isVarying: boolean; diff?: Buffer }> {
  const none = { regions: [], isVarying: false };
  if (before[0] === undefined || after[0] === undefined || before[0].equals(after[0])) return none;
  const { PNG } = (await import("pngjs")).default;
  const pixelmatch = (await import("pixelmatch")).default;
  const pictures = [...before, ...after].map((png) => PNG.sync.read(png));
  const width = Math.max(...pictures.map((picture) => picture.width));
  const height = Math.max(...pictures.map((picture) => picture.height));
  const columns = Math.ceil(width / CELL) + 2;
  const canvases = pictures.map((picture) => {
    const canvas = new PNG({ width, height });
    PNG.bitblt(picture, canvas, 0, 0, picture.width, picture.height, 0, 0);
    return canvas.data;
  });
  /** How many pixels of each cell differ between two pictures. */
  const cellsOf = (a: number, b: number, out: Buffer) => {
    const [left = out, right = out] = [canvases[a], canvases[b]];
    pixelmatch(left, right, out, width, height, { threshold: 0.1, diffMask: true });
    const cells = new Map<number, number>();
    for (let at = 0; at < width * height; at++) {
      if (out[at * 4 + 3] === 0) continue;
      const cell = Math.floor(at / width / CELL) * columns + Math.floor((at % width) / CELL);
      cells.set(cell, (cells.get(cell) ?? 0) + 1);
    }
    return cells;
  };
  const noise = new Set<number>();
  for (const [first, last] of [
    [0, before.length - 1],
    [before.length, pictures.length - 1],
  ] as const)
    for (const cell of cellsOf(first, last, Buffer.alloc(width * height * 4)).keys())
      for (const dy of [-columns, 0, columns])
        for (const dx of [-1, 0, 1]) noise.add(cell + dy + dx);
  const diff = new PNG({ width, height });
  const all = cellsOf(0, before.length, diff.data);
  const cells = [...all].filter(([cell]) => !noise.has(cell));
  const pixels = cells.reduce((sum, [, count]) => sum + count, 0);
  const isVarying = cells.length < all.size;
  if (pixels < MIN_PIXELS) return { regions: [], isVarying };
  const rows = cells.map(([cell]) => Math.floor(cell / columns) * CELL);
  const bottom = Math.min(height, Math.max(...rows) + CELL);
  const region = `${pixels} px differ, from row ${Math.min(...rows)} to ${bottom} of ${height}`;
  return { regions: [region], isVarying, diff: PNG.sync.write(diff) };
}
