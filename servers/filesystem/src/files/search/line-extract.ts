import { feedsIn } from "../edit/changed-ranges.ts";
import { type Block, readBlocks } from "./text-blocks.ts";
import type { LineMatcher } from "./text-pattern.ts";

export interface FoundLine {
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
  readonly from: number;
  readonly limit: number;
  readonly context: number;
  /** Maximum length of a line's text, in UTF-16 code units. */
  readonly width: number;
  /** Whether to count all matching lines, from the first line of the file. */
  readonly total: boolean;
}

export interface Extract {
  readonly lines: FoundLine[];
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
  const { lines, more, total } = extractor;
  return isText ? { lines, more, total } : { lines: [], more: false, total: 0 };
}

class Extractor {
  readonly lines: FoundLine[] = [];
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

  take(block: Block): "stop" | undefined {
    const starts = this.#matcher.lines(block);
    const { partial } = block;
    // A very long line comes in parts; it counts once.
    const again = this.#continued === "found" && starts[0] === 0 ? 1 : 0;
    this.total += starts.length - again;
    // Only counting is left.
    if (this.#request.total && this.lines.length >= this.#request.limit && this.#behind === 0) {
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
    if (this.#continued === "found") return undefined;
    this.#continued = "open";
    if (!matches || this.#line < from) {
      this.#pass(line);
      return undefined;
    }
    this.#continued = "found";
    if (this.lines.length >= limit) {
      this.more = true;
      return total ? undefined : "stop";
    }
    const found: FoundLine = { line: this.#line, ...around(line, this.#matcher.find(line), width) };
    if (this.#recent.length > 0) found.before = this.#recent.map((one) => begin(one, width));
    this.#recent = [];
    this.#behind = context;
    this.lines.push(found);
    return undefined;
  }

  /** Handles a line without a match, which may be shown as context. */
  #pass(line: string): void {
    const { context, width } = this.#request;
    const last = this.lines.at(-1);
    if (this.#behind > 0 && last !== undefined) {
      this.#behind -= 1;
      last.after = [...(last.after ?? []), begin(line, width)];
    } else if (context > 0) this.#recent = [...this.#recent, line].slice(-context);
  }
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
