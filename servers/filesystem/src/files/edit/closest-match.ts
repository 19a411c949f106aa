import { clip, oneLine } from "@refmcp/boundary/answer";

const MAX_CHARS = 8_000_000;
const MAX_LINE_CHARS = 300;
/** Below this similarity (0 to 1) a line is not worth showing. */
const WORTH_SHOWING = 0.45;
const EXCERPT_LINES = 6;

export interface Closest {
  readonly line: number;
  readonly whiteSpaceOnly: boolean;
  readonly excerpt: string;
}

/**
 * The place in `text` most similar to `wanted`: where most of its lines occur in order, ignoring indentation
 * and line endings; otherwise, the line most similar to its most distinctive line.
 */
export function closest(text: string, wanted: string): Closest | undefined {
  const lines = text.slice(0, MAX_CHARS).split("\n");
  const wantedLines = wanted.split("\n");
  const at = byEqualLines(lines, wantedLines) ?? bySimilarLine(lines, wantedLines);
  if (at === undefined) return undefined;
  const start = Math.max(0, at);
  const there = lines.slice(start, start + wantedLines.length);
  const shown = there.slice(0, EXCERPT_LINES).map((line) => oneLine(clip(line, MAX_LINE_CHARS)));
  return {
    line: start + 1,
    whiteSpaceOnly: squeezed(there.join("\n")) === squeezed(wanted),
    excerpt: shown.join("\n"),
  };
}

function squeezed(text: string): string {
  return text.replace(/\s+/g, "");
}

/** Each line of the text that equals a wanted one is a vote for a start of the whole. */
function byEqualLines(lines: readonly string[], wanted: readonly string[]): number | undefined {
  const places = new Map<string, number[]>();
  for (const [index, line] of wanted.entries()) {
    const key = squeezed(line);
    if (key.length > 2) places.set(key, [...(places.get(key) ?? []), index].slice(0, 10));
  }
  if (places.size === 0) return undefined;
  const votes = new Map<number, number>();
  for (const [index, line] of lines.entries()) {
    if (line.length > 10_000) continue;
    for (const offset of places.get(squeezed(line)) ?? []) {
      votes.set(index - offset, (votes.get(index - offset) ?? 0) + 1);
    }
  }
  let best: number | undefined;
  for (const [start, count] of votes) {
    if (best === undefined || count > (votes.get(best) ?? 0)) best = start;
  }
  return best;
}

function bySimilarLine(lines: readonly string[], wanted: readonly string[]): number | undefined {
  const telling = wanted.reduce(
    (longest, line) => (line.trim().length > longest.trim().length ? line : longest),
    "",
  );
  const pairs = pairsOf(telling);
  if (pairs.size < 3) return undefined;
  let best: { index: number; likeness: number } | undefined;
  for (const [index, line] of lines.entries()) {
    const likeness = similarity(pairs, line);
    if (likeness > (best?.likeness ?? WORTH_SHOWING)) best = { index, likeness };
  }
  return best === undefined ? undefined : best.index - wanted.indexOf(telling);
}

function pairsOf(line: string): Set<string> {
  const text = squeezed(line.slice(0, MAX_LINE_CHARS)).toLowerCase();
  const pairs = new Set<string>();
  for (let at = 0; at + 1 < text.length; at++) pairs.add(text.slice(at, at + 2));
  return pairs;
}

/** The Sørensen–Dice coefficient of the pairs: 0 nothing in common, 1 the same. */
function similarity(pairs: ReadonlySet<string>, line: string): number {
  // Lengths that differ this much cannot be similar enough.
  if (line.length * 4 < pairs.size) return 0;
  const other = pairsOf(line);
  let common = 0;
  for (const pair of other) if (pairs.has(pair)) common += 1;
  return (2 * common) / (pairs.size + other.size);
}
