import { feedsIn } from "../edit/changed-ranges.ts";
import { type Block, candidatesIn } from "./text-blocks.ts";
import type { LineMatcher } from "./text-pattern.ts";

export interface FoundLine {
  line: number;
  /**
   * Its text, or of a long line the part around the match, with `…` where it was cut; in mode `matches` only the matched
   * texts, separated by line feeds.
   */
  text: string;
  /** How many matches it has, if they are not all shown. */
  found?: number;
  /** Where the match begins in the line, from 1, in UTF-16 code units; only if the text was cut. */
  column?: number;
  /** The part of a document that contains it: `page 3`. */
  part?: string;
  /** The requested lines before and after it that are not shown with another match. */
  before?: string[];
  after?: string[];
}

export interface ExtractRequest {
  readonly from: number;
  readonly limit: number;
  readonly context: number;
  /** Maximum length of a line's text, in UTF-16 code units. */
  readonly width: number;
  /** Whether to count all matching lines, from the first line of the file. */
  readonly total: boolean;
  /** Whether only the matched texts are wanted, not their lines. */
  readonly matchesOnly?: boolean;
  /** Whether to count the lines without a match too, also after the last one that is shown. */
  readonly numbered?: boolean;
}

/** Only counts the matching lines. */
export const COUNT: ExtractRequest = { from: 1, limit: 0, context: 0, width: 0, total: true };

export interface Extract {
  readonly lines: FoundLine[];
  readonly more: boolean;
  /** The number of matching lines, if all were counted. */
  readonly total: number;
  /** The number of all lines, if they were counted. */
  readonly count: number;
  readonly binary?: true;
}

const BINARY: Extract = { lines: [], more: false, total: 0, count: 0, binary: true };

/**
 * The matching lines of a text from `from` on; none if it is binary.
 *
 * @param blocks its lines, from `blocksOf` or `blocksIn`.
 */
export function extractLines(
  blocks: Iterable<Block | undefined>,
  matcher: LineMatcher,
  {
    from,
    limit,
    context,
    width,
    total: isCounting,
    matchesOnly = false,
    numbered = false,
  }: ExtractRequest,
): Extract {
  const lines: FoundLine[] = [];
  let more = false;
  let total = 0;
  let number = 1;
  /** The last lines that were not shown, as context for the next match. */
  let recent: string[] = [];
  /** How many lines after the last match are still to be shown. */
  let behind = 0;
  /** Whether the current line began in the previous block, and whether it matched there. */
  let continued: "no" | "open" | "found" = "no";
  const isOnlyCounting = () => isCounting && !numbered && lines.length >= limit && behind === 0;
  /** Whether lines that do not match are needed. */
  const needsLines = () => behind > 0 || context > 0 || continued !== "no";
  for (const block of blocks) {
    if (block === undefined) return BINARY;
    const isWhole = block.partial || needsLines();
    if ((isWhole ? take(block) : takeCandidates(block)) === "stop") break;
  }
  return { lines, more, total, count: number - 1 };

  function takeCandidates(block: Block): "stop" | undefined {
    for (const part of candidatesIn(block, matcher.needles)) {
      if (!("partial" in part)) number += isOnlyCounting() ? 0 : feedsInBytes(part);
      else if (take(part) === "stop") return "stop";
    }
    return undefined;
  }

  function take(block: Block): "stop" | undefined {
    const starts = matcher.lines(block);
    const { partial } = block;
    // A very long line comes in parts; it counts once.
    const again = continued === "found" && starts[0] === 0 ? 1 : 0;
    total += starts.length - again;
    if (isOnlyCounting()) {
      more ||= starts.length > again;
      const isFound = partial && (starts[0] === 0 || continued === "found");
      continued = isFound ? "found" : "no";
      return undefined;
    }
    let next = 0;
    const text = starts.length === 0 && !needsLines() ? "" : block.text;
    if (text === "") number += partial ? 0 : feedsInBytes(block.bytes);
    for (let at = 0; at < text.length; ) {
      const start = starts[next];
      if (!partial && !needsLines() && start !== at) {
        const to = start ?? text.length;
        number += feedsIn(text, at, to);
        at = to;
        continue;
      }
      const feed = text.indexOf("\n", at);
      const end = feed < 0 ? text.length : feed;
      if (start === at) next += 1;
      if (takeLine(text.slice(at, end), start === at) === "stop") return "stop";
      if (partial) return undefined;
      continued = "no";
      number += 1;
      at = end + 1;
    }
    if (!partial) continued = "no";
    return undefined;
  }

  function takeLine(line: string, matches: boolean): "stop" | undefined {
    if (continued === "found") {
      const last = lines.at(-1);
      if (matchesOnly && matches && last?.line === number) addMatches(last, line);
      return undefined;
    }
    continued = "open";
    if (!matches || number < from) {
      pass(line);
      return undefined;
    }
    continued = "found";
    if (lines.length >= limit) {
      more = true;
      return isCounting ? undefined : "stop";
    }
    const found: FoundLine = matchesOnly
      ? addMatches({ line: number, text: "" }, line)
      : { line: number, ...around(line, matcher.find(line), width) };
    if (recent.length > 0) found.before = recent.map((one) => begin(one, width));
    recent = [];
    behind = context;
    lines.push(found);
    return undefined;
  }

  /** Adds the matches of a line, or of the next part of a long one, as far as they fit. */
  function addMatches(found: FoundLine, line: string): FoundLine {
    const texts = found.text === "" ? [] : found.text.split("\n");
    let count = found.found ?? texts.length;
    let chars = found.text.length;
    for (const match of matcher.all(line.replace(/\r$/, ""))) {
      const text = begin(match, width);
      chars += text.length + 1;
      if (count === texts.length && (chars <= width || count === 0)) texts.push(text);
      count += 1;
    }
    found.text = texts.join("\n");
    if (count > texts.length) found.found = count;
    return found;
  }

  /** Handles a line without a match, which may be shown as context. */
  function pass(line: string): void {
    const last = lines.at(-1);
    if (behind > 0 && last !== undefined) {
      behind -= 1;
      last.after = [...(last.after ?? []), begin(line, width)];
    } else if (context > 0) recent = [...recent, line].slice(-context);
  }
}

/** Cheaper than counting in the text. */
function feedsInBytes(bytes: Buffer): number {
  let count = 0;
  for (let at = bytes.indexOf(10); at >= 0; at = bytes.indexOf(10, at + 1)) count += 1;
  return count;
}

function begin(line: string, width: number): string {
  const text = line.replace(/\r$/, "");
  return text.length > width ? `${cut(text, 0, width)}…` : text;
}

function around(line: string, match: { start: number } | undefined, width: number) {
  const text = line.replace(/\r$/, "");
  if (text.length <= width) return { text };
  const start = match?.start ?? 0;
  // A quarter of the width before the match is enough context.
  const from = Math.max(0, Math.min(start - Math.floor(width / 4), text.length - width));
  const to = Math.min(text.length, from + width);
  const shown = `${from > 0 ? "…" : ""}${cut(text, from, to)}${to < text.length ? "…" : ""}`;
  return { text: shown, column: start + 1 };
}

/** A part of a text, without splitting a surrogate pair. */
function cut(text: string, from: number, to: number): string {
  const isLow = (at: number) => (text.charCodeAt(at) & 0xfc00) === 0xdc00;
  return text.slice(isLow(from) ? from + 1 : from, to < text.length && isLow(to) ? to - 1 : to);
}
