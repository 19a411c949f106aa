import type { LineMatcher } from "./line-matcher.ts";
import { type Block, readableText, readBlocks } from "./text-blocks.ts";

/** A line that matches. */
export interface FoundLine {
  /** From 1. */
  line: number;
  /** Its text; of a long line the part around the match, with `…` where it was cut. */
  text: string;
  /** Where the match begins in the whole line, from 1, in UTF-16 code units; only where the text was cut. */
  column?: number;
  /** The lines before and behind it that were asked for and are not shown with another match. */
  before?: string[];
  after?: string[];
}

export interface ExtractRequest {
  /** The first line that may be found. */
  readonly from: number;
  /** How many lines are wanted. */
  readonly most: number;
  /** How many lines to show before and behind. */
  readonly context: number;
  /** The longest text of a line, in UTF-16 code units. */
  readonly width: number;
}

export interface Extract {
  readonly lines: FoundLine[];
  /** Whether more lines match behind these. */
  readonly more: boolean;
}

const LINE_FEED = 10;

/** The lines of an open file that match, from `from` on; none where it is binary. */
export function extractLines(fd: number, matcher: LineMatcher, request: ExtractRequest): Extract {
  const extractor = new Extractor(matcher, request);
  const isText = readBlocks(fd, (block) => extractor.take(block));
  return isText ? { lines: extractor.found, more: extractor.more } : { lines: [], more: false };
}

/** How many lines of an open file match; 0 where it is binary. */
export function countLines(fd: number, matcher: LineMatcher): number {
  let count = 0;
  let counted = false;
  const isText = readBlocks(fd, (block) => {
    const starts = matcher.lines(block);
    count += starts.length;
    // A very long line comes in parts; it counts once.
    if (counted && starts[0] === 0) count -= 1;
    counted = block.partial && (counted || starts[0] === 0);
    return undefined;
  });
  return isText ? count : 0;
}

class Extractor {
  readonly found: FoundLine[] = [];
  more = false;
  readonly #matcher: LineMatcher;
  readonly #request: ExtractRequest;
  #line = 1;
  /** The last lines that were not shown. */
  #recent: Buffer[] = [];
  /** How many lines behind the last match are still to be shown. */
  #behind = 0;
  /** Whether the present line began in the block before, and whether it was found there. */
  #continued: "no" | "open" | "found" = "no";

  constructor(matcher: LineMatcher, request: ExtractRequest) {
    this.#matcher = matcher;
    this.#request = request;
  }

  take(block: Block): "stop" | undefined {
    const { bytes, partial } = block;
    const starts = new Set(this.#matcher.lines(block));
    if (starts.size === 0 && this.#behind === 0 && this.#request.context === 0 && !partial) {
      this.#line += countFeeds(bytes);
      this.#continued = "no";
      return undefined;
    }
    for (let at = 0; at < bytes.length; ) {
      const feed = bytes.indexOf(LINE_FEED, at);
      const end = feed < 0 ? bytes.length : feed;
      if (this.#takeLine(bytes.subarray(at, end), starts.has(at)) === "stop") return "stop";
      if (partial) return undefined;
      this.#continued = "no";
      this.#line += 1;
      at = end + 1;
    }
    return undefined;
  }

  #takeLine(line: Buffer, matches: boolean): "stop" | undefined {
    const { from, most, context, width } = this.#request;
    const again = this.#continued === "found";
    if (this.#continued === "no") this.#continued = "open";
    if (again) return undefined;
    if (!matches || this.#line < from) {
      this.#pass(line);
      return undefined;
    }
    this.#continued = "found";
    if (this.found.length === most) {
      this.more = true;
      return "stop";
    }
    const found: FoundLine = { line: this.#line, ...around(line, this.#matcher.find(line), width) };
    if (this.#recent.length > 0) found.before = this.#recent.map((one) => begin(one, width));
    this.#recent = [];
    this.#behind = context;
    this.found.push(found);
    return undefined;
  }

  /** A line that is shown beside a match at most. */
  #pass(line: Buffer): void {
    const { context, width } = this.#request;
    const last = this.found.at(-1);
    if (this.#behind > 0 && last !== undefined) {
      this.#behind -= 1;
      last.after ??= [];
      last.after.push(begin(line, width));
    } else if (context > 0) {
      this.#recent.push(line);
      if (this.#recent.length > context) this.#recent.shift();
    }
  }
}

function countFeeds(bytes: Buffer): number {
  let count = 0;
  for (let at = bytes.indexOf(LINE_FEED); at >= 0; at = bytes.indexOf(LINE_FEED, at + 1)) count += 1;
  return count;
}

function withoutReturn(line: Buffer): Buffer {
  return line.at(-1) === 13 ? line.subarray(0, -1) : line;
}

/** The begin of a line beside a match. */
function begin(line: Buffer, width: number): string {
  // A character has at most four bytes, so this many hold enough of them.
  const text = readableText(withoutReturn(line.length > width * 4 + 4 ? line.subarray(0, width * 4) : line));
  return text.length > width ? `${cut(text, 0, width)}…` : text;
}

/** A line, or the part of it around a match. */
function around(
  line: Buffer,
  match: { start: number; end: number } | undefined,
  width: number,
): { text: string; column?: number } {
  const text = readableText(withoutReturn(line));
  if (text.length <= width) return { text };
  const start = match?.start ?? 0;
  // A quarter before the match is enough to see where one is.
  const from = Math.max(0, Math.min(start - Math.floor(width / 4), text.length - width));
  const to = Math.min(text.length, from + width);
  const shown = `${from > 0 ? "…" : ""}${cut(text, from, to)}${to < text.length ? "…" : ""}`;
  return { text: shown, column: start + 1 };
}

/** A part of a text that splits no surrogate pair. */
function cut(text: string, from: number, to: number): string {
  const first = isLowSurrogate(text.charCodeAt(from)) ? from + 1 : from;
  const last = to < text.length && isLowSurrogate(text.charCodeAt(to)) ? to - 1 : to;
  return text.slice(first, last);
}

function isLowSurrogate(code: number): boolean {
  return code >= 0xdc00 && code <= 0xdfff;
}
