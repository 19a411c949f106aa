import { readSync } from "node:fs";
import { CHUNK_BYTES } from "../read/bytes.ts";
import type { Block } from "./blocks.ts";
import type { TextPattern } from "./text-pattern.ts";

/** Maximum length of a line's text, in UTF-16 code units. */
const WIDTH = 300;

export interface MatchedLine {
  line: number;
  /** Its text, or of a long line the part around the match, with `…` where it was cut. */
  text: string;
  /** Where the match begins in the line, from 1, in UTF-16 code units; only if the text was cut. */
  column?: number;
  /** The part of a document that contains it: `page 3`. */
  part?: string;
  /** The requested lines before and after it that are not shown with another match. */
  before?: string[];
  after?: string[];
}

export interface MatchRequest {
  /** The first line that is returned. */
  readonly from: number;
  /** How many lines are returned; all are counted. */
  readonly limit: number;
  readonly context: number;
}

export interface FileMatches {
  readonly lines: MatchedLine[];
  /** The number of matching lines. */
  readonly total: number;
  readonly isBinary: boolean;
}

/** Finds a pattern in lines, with V8's engine. Run it only where it can be terminated: some patterns never finish. */
export class LineMatcher {
  readonly #regex: RegExp;
  readonly #literal: string;
  readonly #folds: boolean;
  readonly #utf8: Buffer;
  readonly #ascii: Buffer;

  constructor({ source, flags, literal = "" }: TextPattern) {
    this.#regex = new RegExp(source, flags);
    this.#folds = flags.includes("i");
    this.#literal = this.#folds ? literal.toLowerCase() : literal;
    const bytes = this.#folds ? "" : literal;
    this.#utf8 = Buffer.from(bytes);
    // Text that is not ASCII has other bytes in other encodings.
    this.#ascii = Buffer.from(/^[ -~]*$/.test(bytes) ? bytes : "");
  }

  /**
   * Whether a file is shorter than its `head` could be and does not contain what every match contains. Most files of a
   * search end here, without being decoded.
   */
  certainlyLacks(fd: number, head: Buffer): boolean {
    // With a byte order mark it may be UTF-16; with a NUL byte it is counted as binary.
    if ((head[0] ?? 0) >= 0xfe || head.includes(0) || head.includes(this.#ascii)) return false;
    return head.length < CHUNK_BYTES && readSync(fd, Buffer.alloc(1), 0, 1, head.length) === 0;
  }

  /** The positions in the block's text at which matching lines begin, in order. */
  starts(block: Block): number[] {
    if (!block.bytes.includes(block.isUtf8 ? this.#utf8 : this.#ascii)) return [];
    const { text } = block;
    const literal = this.#literal;
    const folded = this.#folds && literal ? text.toLowerCase() : text;
    // Some letters have another length in lower case.
    if (literal && folded.length === text.length) return linesWith(folded, literal);
    const starts: number[] = [];
    for (let at = 0; at < text.length; ) {
      const feed = text.indexOf("\n", at);
      const end = feed < 0 ? text.length : feed;
      if (this.#regex.test(text.slice(at, end))) starts.push(at);
      at = end + 1;
    }
    return starts;
  }

  /** The position of the first match in a line, in UTF-16 code units. */
  find(line: string): number {
    return this.#regex.exec(line)?.index ?? 0;
  }
}

/** Where the lines that contain a word begin. */
function linesWith(text: string, word: string): number[] {
  const starts: number[] = [];
  for (let at = text.indexOf(word); at >= 0; ) {
    starts.push(at === 0 ? 0 : text.lastIndexOf("\n", at - 1) + 1);
    const end = text.indexOf("\n", at);
    at = end < 0 ? -1 : text.indexOf(word, end);
  }
  return starts;
}

/** The first matching lines of a text, and how many there are. @param blocks its lines, from `blocksOf` or `blocksIn` */
export function matchLines(
  blocks: Iterable<Block | undefined>,
  matcher: LineMatcher,
  { from, limit, context }: MatchRequest,
): FileMatches {
  const lines: MatchedLine[] = [];
  let total = 0;
  let number = 1;
  /** The last lines that were not shown, as context for the next match. */
  let recent: string[] = [];
  /** How many lines after the last match are still to be shown. */
  let behind = 0;
  for (const block of blocks) {
    if (block === undefined) return { lines: [], total: 0, isBinary: true };
    const starts = matcher.starts(block);
    total += starts.length;
    const isDone = lines.length >= limit && behind === 0;
    if (isDone || (starts.length === 0 && context === 0))
      number += isDone ? 0 : feedsIn(block.bytes);
    else takeLines(block.text, new Set(starts));
  }
  return { lines, total, isBinary: false };

  function takeLines(text: string, starts: ReadonlySet<number>): void {
    for (let at = 0; at < text.length; number += 1) {
      const feed = text.indexOf("\n", at);
      const end = feed < 0 ? text.length : feed;
      const isShown = starts.has(at) && number >= from && lines.length < limit;
      if (isShown || context > 0) take(text.slice(at, end), isShown);
      at = end + 1;
    }
    if (!text.endsWith("\n")) number -= 1;
  }

  function take(line: string, isShown: boolean): void {
    if (isShown) {
      lines.push({
        line: number,
        ...around(line, matcher),
        ...(recent.length > 0 ? { before: recent } : {}),
      });
      recent = [];
      behind = context;
      return;
    }
    const begin = line.length > WIDTH ? `${cut(line, 0, WIDTH)}…` : line;
    const last = lines.at(-1);
    if (behind > 0 && last !== undefined) {
      behind -= 1;
      last.after = [...(last.after ?? []), begin];
    } else recent = [...recent, begin].slice(-context);
  }
}

/** Cheaper than counting in the text. */
function feedsIn(bytes: Buffer): number {
  let count = 0;
  for (let at = bytes.indexOf(10); at >= 0; at = bytes.indexOf(10, at + 1)) count += 1;
  return count;
}

function around(text: string, matcher: LineMatcher) {
  if (text.length <= WIDTH) return { text };
  const start = matcher.find(text);
  // A quarter of the width before the match is enough context.
  const from = Math.max(0, Math.min(start - Math.floor(WIDTH / 4), text.length - WIDTH));
  const to = Math.min(text.length, from + WIDTH);
  const excerpt = `${from > 0 ? "…" : ""}${cut(text, from, to)}${to < text.length ? "…" : ""}`;
  return { text: excerpt, column: start + 1 };
}

/** A part of a text, without splitting a surrogate pair. */
function cut(text: string, from: number, to: number): string {
  const isLow = (at: number) => (text.charCodeAt(at) & 0xfc00) === 0xdc00;
  return text.slice(isLow(from) ? from + 1 : from, to < text.length && isLow(to) ? to - 1 : to);
}
