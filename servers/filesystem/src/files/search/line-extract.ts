import { feedsIn } from "../edit/line-endings.ts";
import { type Block, readBlocks } from "./text-blocks.ts";
import type { LineMatcher } from "./text-pattern.ts";

/** A matching line. */
export interface FoundLine {
  /** From 1. */
  line: number;
  /** Its text, or of a long line the part around the match, with `…` where it was cut. */
  text: string;
  /** Where the match begins in the line, from 1, in UTF-16 code units; only if the text was cut. */
  column?: number;
  /** The requested lines before and after it that are not shown with another match. */
  before?: string[];
  after?: string[];
}

export interface ExtractRequest {
  /** The first line to search. */
  readonly from: number;
  /** Maximum matching lines. */
  readonly limit: number;
  /** How many lines to show before and after. */
  readonly context: number;
  /** Maximum length of a line's text, in UTF-16 code units. */
  readonly width: number;
  /** Whether to count all matching lines, from the first line of the file. */
  readonly total: boolean;
}

export interface Extract {
  readonly lines: FoundLine[];
  /** Whether more lines match after these. */
  readonly more: boolean;
  /** The number of matching lines, if all were counted. */
  readonly total: number;
}

/** The matching lines of an open file from `from` on; none if it is binary. */
export function extractLines(
  fd: number,
  matcher: LineMatcher,
  request: ExtractRequest,
  size?: number,
): Extract {
  const extractor = new Extractor(matcher, request);
  const isText = readBlocks(fd, (block) => extractor.take(block), size);
  if (!isText) return { lines: [], more: false, total: 0 };
  return { lines: extractor.found, more: extractor.more, total: extractor.total };
}

class Extractor {
  readonly found: FoundLine[] = [];
  more = false;
  total = 0;
  readonly #matcher: LineMatcher;
  readonly #request: ExtractRequest;
  #line = 1;
  /** The last lines that were not shown, as context for the next match. */
  #recent: string[] = [];
  /** How many lines after the last match are still to be shown. */
  #behind = 0;
  /** Whether the current line began in the previous block, and whether it matched there. */
  #continued: "no" | "open" | "found" = "no";

  constructor(matcher: LineMatcher, request: ExtractRequest) {
    this.#matcher = matcher;
    this.#request = request;
  }

  /** Whether only counting is left. */
  get #isFull(): boolean {
    return this.#request.total && this.found.length >= this.#request.limit && this.#behind === 0;
  }

  take(block: Block): "stop" | undefined {
    const starts = this.#matcher.lines(block);
    const { partial } = block;
    // A very long line comes in parts; it counts once.
    const again = this.#continued === "found" && starts[0] === 0 ? 1 : 0;
    this.total += starts.length - again;
    if (this.#isFull) {
      this.more ||= starts.length > again;
      const isFound = partial && (starts[0] === 0 || this.#continued === "found");
      this.#continued = isFound ? "found" : "no";
      return undefined;
    }
    let next = 0;
    const { text } = starts.length === 0 && !this.#needsLines ? { text: "" } : block;
    if (text === "") this.#line += partial ? 0 : block.countFeeds();
    for (let at = 0; at < text.length; ) {
      const start = starts[next];
      if (!partial && !this.#needsLines && start !== at) {
        const to = start ?? text.length;
        this.#line += feedsIn(text, at, to);
        at = to;
        continue;
      }
      const feed = text.indexOf("\n", at);
      const end = feed < 0 ? text.length : feed;
      if (start === at) next += 1;
      if (this.#takeLine(text.slice(at, end), start === at) === "stop") return "stop";
      if (partial) return undefined;
      this.#continued = "no";
      this.#line += 1;
      at = end + 1;
    }
    if (!partial) this.#continued = "no";
    return undefined;
  }

  /** Whether lines that do not match are needed. */
  get #needsLines(): boolean {
    return this.#behind > 0 || this.#request.context > 0 || this.#continued !== "no";
  }

  #takeLine(line: string, matches: boolean): "stop" | undefined {
    const { from, limit, context, width, total } = this.#request;
    const again = this.#continued === "found";
    if (this.#continued === "no") this.#continued = "open";
    if (again) return undefined;
    if (!matches || this.#line < from) {
      this.#pass(line);
      return undefined;
    }
    this.#continued = "found";
    if (this.found.length >= limit) {
      this.more = true;
      return total ? undefined : "stop";
    }
    const found: FoundLine = { line: this.#line, ...around(line, this.#matcher.find(line), width) };
    if (this.#recent.length > 0) found.before = this.#recent.map((one) => begin(one, width));
    this.#recent = [];
    this.#behind = context;
    this.found.push(found);
    return undefined;
  }

  /** Handles a line without a match, which may be shown as context. */
  #pass(line: string): void {
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

function withoutReturn(line: string): string {
  return line.endsWith("\r") ? line.slice(0, -1) : line;
}

/** The beginning of a context line. */
function begin(line: string, width: number): string {
  const text = withoutReturn(line);
  return text.length > width ? `${cut(text, 0, width)}…` : text;
}

/** A line, or the part of it around a match. */
function around(
  line: string,
  match: { start: number; end: number } | undefined,
  width: number,
): { text: string; column?: number } {
  const text = withoutReturn(line);
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
  const first = isLowSurrogate(text.charCodeAt(from)) ? from + 1 : from;
  const last = to < text.length && isLowSurrogate(text.charCodeAt(to)) ? to - 1 : to;
  return text.slice(first, last);
}

function isLowSurrogate(code: number): boolean {
  return code >= 0xdc00 && code <= 0xdfff;
}
