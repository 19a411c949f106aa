import { isAscii } from "node:buffer";
import { readSync } from "node:fs";
import { CHUNK_BYTES } from "../read/bytes.ts";
import type { Block } from "./blocks.ts";
import { escaped, type TextPattern } from "./text-pattern.ts";

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
  readonly #isLiteral: boolean;
  readonly #folds: boolean;
  readonly #needle: string;
  readonly #bytes: Buffer;
  /** The needle and the rest of its line: for any letter case, to change that of the text takes thirty times as long. */
  readonly #lines: RegExp;

  constructor({ source, flags, needle, isLiteral }: TextPattern) {
    this.#regex = new RegExp(source, flags);
    this.#isLiteral = isLiteral;
    this.#folds = flags.includes("i");
    this.#needle = this.#folds ? needle.toLowerCase() : needle;
    this.#bytes = Buffer.from(this.#needle);
    this.#lines = new RegExp(`${escaped(needle)}[^\\n]*`, this.#folds ? "gi" : "g");
  }

  /**
   * Whether a file is shorter than its `head` could be and does not contain what every match contains. Most files of a
   * search end here, without being decoded.
   */
  certainlyLacks(fd: number, head: Buffer): boolean {
    // With a byte order mark it may be UTF-16; with a NUL byte it is counted as binary.
    if ((head[0] ?? 0) >= 0xfe || head.includes(0) || this.mayBeIn(head, false)) return false;
    return head.length < CHUNK_BYTES && readSync(fd, Buffer.alloc(1), 0, 1, head.length) === 0;
  }

  /** Whether lines may match. @param isUtf8 false for another encoding that contains ASCII */
  mayBeIn(bytes: Buffer, isUtf8: boolean): boolean {
    if (!this.#folds) return (!isUtf8 && !isAscii(this.#bytes)) || bytes.includes(this.#bytes);
    // The letters K and ſ are not ASCII, but match these.
    if (/[ks]/.test(this.#needle) && !isAscii(bytes)) return true;
    return bytes.toString("latin1").search(this.#lines) >= 0;
  }

  matches(line: string): boolean {
    return this.#isLiteral && !this.#folds ? line.includes(this.#needle) : this.#regex.test(line);
  }

  /** How many lines match, without looking at each if possible. */
  count(block: Block): number {
    const { bytes, isUtf8 } = block;
    if (this.#isLiteral && isUtf8 && !this.#folds) return countLines(bytes, this.#bytes, FEED);
    if (!this.mayBeIn(bytes, isUtf8)) return 0;
    if (this.#isLiteral && isAscii(bytes)) {
      const text = bytes.toString("latin1");
      let total = 0;
      while (this.#lines.test(text)) total += 1;
      return total;
    }
    const { text } = block;
    const folded = this.#folds ? text.toLowerCase().replaceAll("ſ", "s") : text;
    // Some letters have another length in lower case.
    if (this.#needle === "" || folded.length !== text.length)
      return linesOf(text).filter((line) => this.matches(line)).length;
    return countLines(folded, this.#needle, "\n", (at, end) =>
      this.matches(text.slice(text.lastIndexOf("\n", at) + 1, end)),
    );
  }

  /** The position of the first match in a line, in UTF-16 code units. */
  find(line: string): number {
    return this.#regex.exec(line)?.index ?? 0;
  }
}

const FEED = Buffer.from("\n");

/** How many lines of a text, or its bytes, contain a part and match. */
function countLines<Part>(
  text: { readonly length: number; indexOf(part: Part, from?: number): number },
  part: Part,
  feed: Part,
  isMatch: (at: number, end: number) => boolean = () => true,
): number {
  let count = 0;
  for (let at = text.indexOf(part); at >= 0; ) {
    const feedAt = text.indexOf(feed, at);
    const end = feedAt < 0 ? text.length : feedAt;
    if (isMatch(at, end)) count += 1;
    at = text.indexOf(part, end);
  }
  return count;
}

const linesOf = (text: string): string[] => text.replace(/\n$/, "").split("\n");

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
    if (lines.length >= limit && behind === 0) total += matcher.count(block);
    else if (context === 0 && !matcher.mayBeIn(block.bytes, block.isUtf8))
      number += feedsIn(block.bytes);
    else {
      for (const line of linesOf(block.text)) take(line);
      // A part of a very long line.
      if (!block.text.endsWith("\n")) number -= 1;
    }
  }
  return { lines, total, isBinary: false };

  function take(line: string): void {
    const isMatch = matcher.matches(line);
    if (isMatch) total += 1;
    number += 1;
    if (isMatch && number > from && lines.length < limit) {
      lines.push({
        line: number - 1,
        ...around(line, matcher),
        ...(recent.length > 0 ? { before: recent } : {}),
      });
      recent = [];
      behind = context;
      return;
    }
    if (context === 0) return;
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
