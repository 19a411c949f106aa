import { readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { oneLine } from "@refmcp/boundary/answer";
import { boxedLine } from "../library.ts";
import { CAPTURE, CAPTURE_PICTURE, type RunStore } from "../store/runs.ts";
import { aligned } from "./aligned.ts";
import type { Capture, Place } from "./capture.ts";
import { type Box, type PictureDifference, pictureDifference, type Region } from "./picture.ts";

/** A captured page: what it contained, and its picture. */
export interface Loaded {
  readonly capture: Capture;
  readonly png: Buffer;
}

/** What differs between two versions of a page. Each list has one line for each difference. */
export interface PageDifference {
  /** Status, title and URL. */
  readonly facts: string[];
  /** The accessibility tree: `-` for lines that are gone, `+` for new ones, and the line before them. */
  readonly tree: string[];
  readonly regions: string[];
  readonly moved: string[];
  readonly added: string[];
  readonly gone: string[];
  readonly measured: string[];
  /** What was not compared because it differs between two loads of one version. */
  readonly ignored: string[];
}

/** The captures of one page: paths without `.capture.json` and `.capture.png`. */
export interface DifferenceRequest {
  readonly run: string;
  readonly stem: string;
  readonly before: readonly string[];
  readonly after: readonly string[];
}

/** Reads the captures of both versions of a page, compares them, and keeps the pictures if they differ. */
export async function differenceOf(
  runs: RunStore,
  { run, stem, before, after }: DifferenceRequest,
): Promise<PageDifference> {
  const folder = runs.resume(run);
  const read = async (at: string) => {
    const capture: Capture = JSON.parse(await readFile(at + CAPTURE, "utf8"));
    return { capture, png: await readFile(at + CAPTURE_PICTURE) };
  };
  const [old, fresh] = await Promise.all([before, after].map((all) => Promise.all(all.map(read))));
  const { difference, picture } = await pageDifference(old ?? [], fresh ?? []);
  const isSeen = difference.regions.length + difference.moved.length > 0;
  const pictures = { actual: fresh?.[0]?.png, expected: old?.[0]?.png, diff: picture.diff };
  for (const [end, png] of Object.entries(pictures)) {
    const name = `${stem}.${end}.png`;
    if (isSeen && png !== undefined) await folder.write(name, png);
    else await rm(join(folder.path, name), { force: true });
  }
  return difference;
}

/**
 * Compares two versions of a page.
 *
 * @param before the loads of the first version, at least one. What differs between the loads of one version is ignored.
 */
async function pageDifference(
  before: readonly Loaded[],
  after: readonly Loaded[],
): Promise<{ difference: PageDifference; picture: PictureDifference }> {
  const [then, now] = [before[0], after[0]];
  if (then === undefined || now === undefined) throw new TypeError("a version was not loaded");
  const [old, fresh] = [then.capture, now.capture];
  const tree = await treeDifference(before, after);
  const unsteady = new Set(tree.ignored.map((line) => boxedLine(line).name));
  const places = placesDifference(before, after, unsteady);
  const noise = { before: await noiseIn(before, unsteady), after: await noiseIn(after, unsteady) };
  const picture = await pictureDifference(then.png, now.png, noise, true);
  const problems = listDifference(before, after, ({ problems }) => problems);
  const violations = listDifference(before, after, ({ violations }) => violations);
  const facts = (["status", "title", "url"] as const).flatMap((name) =>
    old[name] === fresh[name] || isUnsteady(before, name) || isUnsteady(after, name)
      ? []
      : [`${name}: ${JSON.stringify(old[name])} → ${JSON.stringify(fresh[name])}`],
  );
  const violated = (line: string) => `a11y violation: ${line}`;
  const parts = [...new Set([...noise.before, ...noise.after].map(({ name }) => name))];
  return {
    picture,
    difference: {
      facts,
      tree: tree.lines,
      regions: picture.regions.map((region) => regionLine(region, region.isRemoved ? old : fresh)),
      moved: places,
      added: [...problems.added, ...violations.added.map(violated)],
      gone: [...problems.gone, ...violations.gone.map(violated)],
      measured: measuredDifference(before, after),
      ignored: [
        ...varying(parts, "in the picture", "parts"),
        ...varying(tree.ignored.map(plain), "in the tree", "lines"),
        ...varying([...problems.ignored, ...violations.ignored], "", "problems"),
        ...(old.status === fresh.status && (old.status ?? 0) >= 400
          ? [`that it is an error page: status ${old.status} before and after`]
          : []),
        ...(old.isCut || fresh.isCut
          ? ["the end of the page, which is too high for a picture"]
          : []),
      ],
    },
  };
}

const MAX_VARYING = 3;

/** One line about what differs at each load. */
function varying(all: readonly string[], where: string, noun: string): string[] {
  const more = all.length > MAX_VARYING ? ` and ${all.length - MAX_VARYING} more ${noun}` : "";
  const names = `${all.slice(0, MAX_VARYING).join("; ")}${more}`;
  return all.length === 0
    ? []
    : [`${where === "" ? "" : `${where}, `}what differs at each load: ${names}`];
}

const isUnsteady = (loads: readonly Loaded[], name: "status" | "title" | "url") =>
  new Set(loads.map(({ capture }) => capture[name])).size > 1;

const countOf = (lines: readonly string[], line: string) =>
  lines.filter((one) => one === line).length;

/**
 * Whether a line of one version only is chance: a load of the same version has it less often, or one of the other
 * version has it, too.
 */
function isChance(
  line: string,
  own: readonly (readonly string[])[],
  other: readonly (readonly string[])[],
) {
  const [first = [], ...again] = own;
  const count = countOf(first, line);
  return (
    again.some((lines) => countOf(lines, line) < count) ||
    (countOf(other[0] ?? [], line) < count &&
      other.slice(1).some((lines) => countOf(lines, line) >= count))
  );
}

/** Lines that one version has more often than the other. */
function listDifference(
  before: readonly Loaded[],
  after: readonly Loaded[],
  listOf: (capture: Capture) => readonly string[],
) {
  const [old, fresh] = [before, after].map((loads) => loads.map(({ capture }) => listOf(capture)));
  const ignored: string[] = [];
  const only = (
    own: readonly (readonly string[])[] = [],
    other: readonly (readonly string[])[] = [],
  ) =>
    [...new Set(own[0])].filter((line) => {
      if (countOf(own[0] ?? [], line) <= countOf(other[0] ?? [], line)) return false;
      if (isChance(line, own, other)) ignored.push(line);
      return !ignored.includes(line);
    });
  return { added: only(fresh, old), gone: only(old, fresh), ignored };
}

const treeOf = ({ capture }: Loaded) => capture.tree.map((line) => line.trim());

const kindOf = (line: string) => /^- '?([a-z]+)/.exec(line)?.[1] ?? line;

/** Lines that differ, each run of them after the line before it; the indentation alone does not count. */
async function treeDifference(before: readonly Loaded[], after: readonly Loaded[]) {
  const [old, fresh] = [before.map(treeOf), after.map(treeOf)];
  const isMoving = new Set<string>();
  /** Kinds of lines whose order differs at each load. */
  const shuffled = new Set<string>();
  for (const [first = [], ...again] of [old, fresh])
    for (const other of again)
      for (const { before: y, after: z } of await aligned(first, other)) {
        if (y !== undefined && z !== undefined) continue;
        const line = (y === undefined ? other[z ?? 0] : first[y]) ?? "";
        isMoving.add(line);
        if (countOf(first, line) === countOf(other, line)) shuffled.add(kindOf(line));
      }
  const isShuffled = (line: string) =>
    shuffled.has(kindOf(line)) && countOf(old[0] ?? [], line) === countOf(fresh[0] ?? [], line);
  const lines: string[] = [];
  const ignored: string[] = [];
  const [then, now] = [before[0]?.capture.tree ?? [], after[0]?.capture.tree ?? []];
  let last = -1;
  let shown = -1;
  for (const { before: y, after: z } of await aligned(old[0] ?? [], fresh[0] ?? [])) {
    last = z ?? last;
    if (y !== undefined && z !== undefined) continue;
    const text = (y === undefined ? now[last] : then[y]) ?? "";
    const line = text.trim();
    const [own, other] = z === undefined ? [old, fresh] : [fresh, old];
    if (isMoving.has(line) || isShuffled(line) || isChance(line, own, other)) ignored.push(line);
    else {
      const at = z === undefined ? last : last - 1;
      const context = now[at];
      if (context !== undefined && shown < at) lines.push(`  ${plain(context)}`);
      lines.push(`${z === undefined ? "-" : "+"} ${plain(text)}`);
      shown = last;
    }
  }
  return { lines, ignored: [...new Set(ignored)] };
}

/** A line of the tree without the mark of a list. */
const plain = (line: string) => line.replace(/^(\s*)- /, "$1");

type Named = Box & { readonly name: string };

/**
 * The parts of the first picture that differ between loads, each as large as the element that contains it.
 *
 * @param unsteady names of elements that differ in the tree.
 */
async function noiseIn(loads: readonly Loaded[], unsteady: ReadonlySet<string>): Promise<Named[]> {
  const [first, ...again] = loads;
  if (first === undefined) return [];
  const { capture, png } = first;
  const boxes = [...loads.flatMap((load) => load.capture.moving)];
  for (const other of again) {
    const { regions } = await pictureDifference(other.png, png);
    boxes.push(...regions.flatMap(({ box, isRemoved }) => (isRemoved ? [] : [box])));
  }
  const known = capture.places.filter(({ name, isLeaf }) => isLeaf && unsteady.has(name));
  const found = boxes.map((box) => {
    const around = containerOf(box, capture.places);
    return {
      ...(around?.isLeaf === true ? grown(joined(box, around.box), MARKER) : grown(box, MARKER)),
      name: nameAt(box, capture),
    };
  });
  return [...found, ...known.map(({ name, box }) => ({ ...grown(box, MARKER), name }))];
}

/** How far outside its box an element may be drawn: the marker of a list item, an outline, a shadow. */
const MARKER = 20;

const grown = ({ x, y, width, height }: Box, by: number): Box => ({
  ...{ x: x - by, y: y - by, width: width + 2 * by, height: height + 2 * by },
});

function joined(a: Box, b: Box): Box {
  const [x, y] = [Math.min(a.x, b.x), Math.min(a.y, b.y)];
  const right = Math.max(a.x + a.width, b.x + b.width);
  const bottom = Math.max(a.y + a.height, b.y + b.height);
  return { x, y, width: right - x, height: bottom - y };
}

const areaOf = ({ width, height }: Box) => width * height;

function overlap(a: Box, b: Box): number {
  const width = Math.min(a.x + a.width, b.x + b.width) - Math.max(a.x, b.x);
  const height = Math.min(a.y + a.height, b.y + b.height) - Math.max(a.y, b.y);
  return width > 0 && height > 0 ? width * height : 0;
}

/** The smallest element that contains at least most of a box. */
function containerOf(box: Box, places: readonly Place[]): Place | undefined {
  const around = places.filter((place) => overlap(place.box, box) >= 0.8 * areaOf(box));
  return around.sort((a, b) => areaOf(a.box) - areaOf(b.box))[0];
}

const isNamed = ({ name }: Place) => name.includes("'");

/** The element that a region shows best; for a small part of a large one without a name, what is next to it. */
function nameAt(box: Box, { places }: Capture): string {
  const fit = (place: Place) => {
    const both = overlap(place.box, box);
    return both / (areaOf(place.box) + areaOf(box) - both);
  };
  const [best] = places.filter((place) => fit(place) > 0).sort((a, b) => fit(b) - fit(a));
  if (best !== undefined && (isNamed(best) || fit(best) > 0.5)) {
    const inside = places.find(
      (one) => isNamed(one) && one.isLeaf && overlap(one.box, best.box) > 0,
    );
    return isNamed(best) || inside === undefined ? best.name : `${best.name} with ${inside.name}`;
  }
  const [near] = places.filter(isNamed).sort((a, b) => distance(a.box, box) - distance(b.box, box));
  if (near === undefined) return best?.name ?? "the page";
  const isInside = overlap(near.box, box) > 0;
  return isInside ? near.name : `${best === undefined ? "" : `${best.name}, `}near ${near.name}`;
}

function distance(a: Box, b: Box): number {
  const across = Math.max(0, a.x - (b.x + b.width), b.x - (a.x + a.width));
  const down = Math.max(0, a.y - (b.y + b.height), b.y - (a.y + a.height));
  return across + down;
}

const rounded = ({ x, y, width, height }: Box) => `${x},${y} ${width}x${height}`;

function regionLine({ box, pixels, isRemoved }: Region, capture: Capture): string {
  return `${nameAt(box, capture)}${isRemoved ? ", gone" : ""} (${rounded(box)}, ${pixels} px)`;
}

/** Positions may differ by this much: browsers round. */
const ROUNDING = 2;

/** Elements that are elsewhere or have another size, those with the same movement in one line. */
function placesDifference(
  before: readonly Loaded[],
  after: readonly Loaded[],
  unsteady: ReadonlySet<string>,
): string[] {
  const [old, ...oldAgain] = before.map(boxesOf);
  const [fresh, ...freshAgain] = after.map(boxesOf);
  if (old === undefined || fresh === undefined) return [];
  const isSteady = (key: string, box: Box, again: readonly Map<string, Box>[]) =>
    again.every((boxes) => {
      const other = boxes.get(key);
      return (
        other !== undefined && Math.abs(other.x - box.x) + Math.abs(other.y - box.y) <= ROUNDING
      );
    });
  const groups = new Map<string, { names: string[]; how: string; boxes: string }>();
  for (const [key, a] of old) {
    const b = fresh.get(key);
    if (
      b === undefined ||
      unsteady.has(key) ||
      !isSteady(key, a, oldAgain) ||
      !isSteady(key, b, freshAgain)
    )
      continue;
    const moves = [b.x - a.x, b.y - a.y, b.width - a.width, b.height - a.height];
    if (moves.every((one) => Math.abs(one) <= ROUNDING)) continue;
    const [dx = 0, dy = 0, dw = 0, dh = 0] = moves;
    const isMoved = Math.abs(dx) + Math.abs(dy) > ROUNDING;
    const how = isMoved
      ? `moved by ${signed(dx)},${signed(dy)}`
      : `resized by ${signed(dw)},${signed(dh)}`;
    const group = groups.get(how) ?? { names: [], how, boxes: `${rounded(a)} → ${rounded(b)}` };
    group.names.push(key);
    groups.set(how, group);
  }
  return [...groups.values()]
    .sort((a, b) => a.names.length - b.names.length)
    .map(({ names, how, boxes }) => {
      const more = names.length > 2 ? ` and ${names.length - 2} more` : "";
      return oneLine(
        `${names.slice(0, 2).join(", ")}${more} ${how}${names.length > 1 ? "" : ` (${boxes})`}`,
      );
    });
}

const signed = (by: number) => (by > 0 ? `+${by}` : `${by}`);

/** The boxes of the elements without others inside whose name occurs once. */
function boxesOf({ capture: { places } }: Loaded): Map<string, Box> {
  const boxes = new Map<string, Box | undefined>();
  for (const { name, box, isLeaf } of places)
    if (isLeaf && name.includes("'")) boxes.set(name, boxes.has(name) ? undefined : box);
  return new Map(
    [...boxes].flatMap(([name, box]) => (box === undefined ? [] : [[name, box] as const])),
  );
}

/** How much each measurement must differ to be shown: at least this much, and this share of the smaller value. */
const NOTABLE: Readonly<Record<string, { readonly least: number; readonly share: number }>> = {
  ttfb: { least: 100, share: 0.5 },
  fcp: { least: 100, share: 0.5 },
  lcp: { least: 100, share: 0.5 },
  "load time": { least: 100, share: 0.5 },
  tbt: { least: 100, share: 0.5 },
  inp: { least: 100, share: 0.5 },
  cls: { least: 0.02, share: 0.2 },
  weight: { least: 1_000, share: 0.02 },
  requests: { least: 1, share: 0 },
};

/** Measurements whose ranges over all loads are notably apart, each with its ranges. */
function measuredDifference(before: readonly Loaded[], after: readonly Loaded[]): string[] {
  return Object.entries(NOTABLE).flatMap(([name, { least, share }]) => {
    const [old = [], fresh = []] = [before, after].map((loads) =>
      loads.flatMap(({ capture }) => capture.measured[name] ?? []),
    );
    if (old.length === 0 || fresh.length === 0) return [];
    const apart = Math.max(
      Math.min(...fresh) - Math.max(...old),
      Math.min(...old) - Math.max(...fresh),
    );
    const base = Math.min(...old, ...fresh);
    if (apart < least || apart < share * base) return [];
    return [`${name}: ${range(old, name)} → ${range(fresh, name)}`];
  });
}

function range(values: readonly number[], name: string): string {
  const [low, high] = [Math.min(...values), Math.max(...values)];
  const unit = name === "weight" ? " bytes" : name === "cls" || name === "requests" ? "" : " ms";
  return `${low === high ? low : `${low}–${high}`}${unit}`;
}
