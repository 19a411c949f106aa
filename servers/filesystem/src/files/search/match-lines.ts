import { readSync } from "node:fs";
import { CHUNK_BYTES } from "../read/bytes.ts";
import type { Block } from "./blocks.ts";
import type { TextPattern } from "./text-pattern.ts";

export interface MatchedLine {
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

export interface MatchRequest {
  /** The first line that is returned. */
  readonly from: number;
  /** How many lines are returned; all are counted. */
  readonly limit: number;
  readonly context: number;
  /** Maximum length of a line's text, in UTF-16 code units. */
  readonly width: number;
  /** Whether only the matched texts are wanted, not their lines. */
  readonly matchesOnly: boolean;
}

export interface FileMatches {
  readonly lines: MatchedLine[];
  /** The number of matching lines. */
  readonly total: number;
  readonly isBinary: boolean;
}

/** Finds a pattern in lines, with V8's engine. Run it only where it can be terminated: some patterns never finish. */
export class LineMatcher {
  readonly #within: RegExp;
  readonly #every: RegExp;
  readonly #literal: string | undefined;
  readonly #folds: boolean;
  /** Many lines are matched at once, unless a match could begin in one and end in another. */
  readonly #isLineByLine: boolean;
  readonly #utf8: Buffer;
  readonly #ascii: Buffer;

  constructor({ source, flags, literal, needle }: TextPattern) {
    this.#within = new RegExp(source, `m${flags}`);
    this.#every = new RegExp(source, `gm${flags}`);
    this.#folds = flags.includes("i");
    this.#literal = this.#folds ? literal?.toLowerCase() : literal;
    this.#isLineByLine = /\\[sWDPpuxc0]|\[\^|\[[^\]]*\\|\(\?<?[=!]/.test(source);
    const bytes = this.#folds ? "" : (literal ?? needle);
    this.#utf8 = Buffer.from(bytes);
    // Text that is not ASCII has other bytes in other encodings.
    this.#ascii = Buffer.from(/^[ -~]*$/.test(bytes) ? bytes : "");
  }

  /**
   * Whether a file is shorter than its `head` could be and does not contain what every match contains. Most files of a
   * search end here, without being decoded.
   */
  certainlyLacks(fd: number, head: Buffer): boolean {
    // With a byte order mark it may be UTF-16.
    if ((head[0] ?? 0) >= 0xfe || head.includes(this.#ascii)) return false;
    return head.length < CHUNK_BYTES && readSync(fd, END, 0, 1, head.length) === 0;
  }

  /** The positions in the block's text at which matching lines begin, in order. */
  starts(block: Block): number[] {
    if (!block.bytes.includes(block.isUtf8 ? this.#utf8 : this.#ascii)) return [];
    const { text } = block;
    const literal = this.#literal;
    const folded = this.#folds && literal ? text.toLowerCase() : text;
    // Some letters have another length in lower case.
    if (literal && folded.length === text.length)
      return linesWith(text, (from) => folded.indexOf(literal, from));
    if (this.#isLineByLine) return this.#lineByLine(text);
    const every = this.#every;
    return linesWith(text, (from) => {
      every.lastIndex = from;
      return every.exec(text)?.index ?? -1;
    });
  }

  #lineByLine(text: string): number[] {
    const found: number[] = [];
    for (let at = 0; at < text.length; ) {
      const feed = text.indexOf("\n", at);
      const end = feed < 0 ? text.length : feed;
      if (this.#within.test(text.slice(at, end))) found.push(at);
      at = end + 1;
    }
    return found;
  }

  /** The position of the first match in a line, in UTF-16 code units. */
  find(line: string): number {
    return this.#within.exec(line)?.index ?? 0;
  }

  /** The texts of all matches in a line, without empty ones. */
  *all(line: string): Generator<string> {
    for (const [text] of line.matchAll(this.#every)) if (text !== "") yield text;
  }
}

const END = Buffer.alloc(1);

/** @param next returns where the next match begins from an index on, or -1 */
function linesWith(text: string, next: (from: number) => number): number[] {
  const found: number[] = [];
  for (let from = 0; from < text.length; ) {
    const at = next(from);
    // An empty match after the last line feed is in no line.
    if (at < 0 || (at === text.length && text.endsWith("\n"))) break;
    found.push(at === 0 ? 0 : text.lastIndexOf("\n", at - 1) + 1);
    const end = text.indexOf("\n", at);
    if (end < 0) break;
    from = end + 1;
  }
  return found;
}

/** The first matching lines of a text, and how many there are. @param blocks its lines, from `blocksOf` or `blocksIn` */
export function matchLines(
  blocks: Iterable<Block | undefined>,
  matcher: LineMatcher,
  request: MatchRequest,
): FileMatches {
  const { from, limit, context, width, matchesOnly } = request;
  const lines: MatchedLine[] = [];
  let total = 0;
  let number = 1;
  /** The last lines that were not shown, as context for the next match. */
  let recent: string[] = [];
  /** How many lines after the last match are still to be shown. */
  let behind = 0;
  /** The number of a very long line that has matched and comes in parts; it counts once. */
  let open = 0;
  for (const block of blocks) {
    if (block === undefined) return { lines: [], total: 0, isBinary: true };
    const starts = matcher.starts(block);
    const isAgain = open === number && starts[0] === 0;
    total += starts.length - (isAgain ? 1 : 0);
    const isDone = lines.length >= limit && behind === 0;
    if (isDone || (starts.length === 0 && context === 0)) {
      number += isDone || block.partial ? 0 : feedsIn(block.bytes);
    } else takeLines(block.text, new Set(starts), isAgain);
    open = block.partial && (isAgain || starts.length > 0) ? number : 0;
  }
  return { lines, total, isBinary: false };

  function takeLines(text: string, starts: ReadonlySet<number>, isAgain: boolean): void {
    for (let at = 0; at < text.length; ) {
      const feed = text.indexOf("\n", at);
      const end = feed < 0 ? text.length : feed;
      if (!starts.has(at)) {
        if (context > 0) pass(text.slice(at, end));
      } else if (at > 0 || !isAgain) take(text.slice(at, end));
      else if (matchesOnly) addMatches(lines.at(-1), text.slice(at, end));
      if (feed >= 0) number += 1;
      at = end + 1;
    }
  }

  function take(line: string): void {
    if (number < from || lines.length >= limit) {
      pass(line);
      return;
    }
    const match: MatchedLine = { line: number, text: "" };
    if (matchesOnly) addMatches(match, line);
    else Object.assign(match, around(line, matcher, width));
    if (recent.length > 0) match.before = recent;
    recent = [];
    behind = context;
    lines.push(match);
  }

  /** Handles a line that is not a result, which may be shown as context. */
  function pass(line: string): void {
    const last = lines.at(-1);
    if (behind > 0 && last !== undefined) {
      behind -= 1;
      last.after = [...(last.after ?? []), begin(line, width)];
    } else if (context > 0) recent = [...recent, begin(line, width)].slice(-context);
  }

  /** Adds the matches of a line, or of the next part of a long one, as far as they fit. */
  function addMatches(match: MatchedLine | undefined, line: string): void {
    if (match === undefined) return;
    const texts = match.text === "" ? [] : match.text.split("\n");
    let count = match.found ?? texts.length;
    let chars = match.text.length;
    for (const one of matcher.all(line)) {
      const text = begin(one, width);
      chars += text.length + 1;
      if (count === texts.length && (chars <= width || count === 0)) texts.push(text);
      count += 1;
    }
    match.text = texts.join("\n");
    if (count > texts.length) match.found = count;
  }
}

/** Cheaper than counting in the text. */
function feedsIn(bytes: Buffer): number {
  let count = 0;
  for (let at = bytes.indexOf(10); at >= 0; at = bytes.indexOf(10, at + 1)) count += 1;
  return count;
}

function begin(line: string, width: number): string {
  return line.length > width ? `${cut(line, 0, width)}…` : line;
}

function around(text: string, matcher: LineMatcher, width: number) {
  if (text.length <= width) return { text };
  const start = matcher.find(text);
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
