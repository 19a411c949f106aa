import { type LinearRegex, linearRegex } from "../glob/linear-regex.ts";
import { type Block, matchableText } from "./text-blocks.ts";
import type { TextPattern } from "./text-pattern.ts";

const LINE_FEED = 10;
/** Blocks of text up to this many characters are matched line by line; larger ones are halved. */
const SMALL = 2_048;

/** Finds the lines that match. */
export interface LineMatcher {
  /** Where in the block the lines begin that match, in bytes and in order; `most` ends the search early. */
  lines(block: Block, most?: number): number[];
  /** Where the pattern first matches in a line's text (without its line end), in UTF-16 code units. */
  find(line: Buffer): { start: number; end: number } | undefined;
}

export async function lineMatcher(pattern: TextPattern): Promise<LineMatcher> {
  const { literal, ignoreCase } = pattern;
  // The first looks through many lines at once, the second decides about one.
  const anywhere = await linearRegex(pattern.regex.re2, { ignoreCase, multiline: true });
  const within = await linearRegex(pattern.regex.re2, { ignoreCase });
  const needle = literal === undefined || literal === "" ? undefined : Buffer.from(literal);
  return {
    lines: ({ bytes }, most = Number.POSITIVE_INFINITY) =>
      needle === undefined ? byRegex(bytes, anywhere, within, most) : byBytes(bytes, needle, most),
    find: (line) => within.find(matchableText(line)),
  };
}

function byBytes(bytes: Buffer, needle: Buffer, most: number): number[] {
  const found: number[] = [];
  let at = bytes.indexOf(needle);
  while (at >= 0 && found.length < most) {
    found.push(at === 0 ? 0 : bytes.lastIndexOf(LINE_FEED, at - 1) + 1);
    const end = bytes.indexOf(LINE_FEED, at);
    if (end < 0) break;
    at = bytes.indexOf(needle, end + 1);
  }
  return found;
}

/** Halves what matches somewhere until single lines are left, so that lines that do not match cost next to nothing. */
function byRegex(bytes: Buffer, anywhere: LinearRegex, within: LinearRegex, most: number): number[] {
  const found: number[] = [];
  const search = (begin: number, end: number): void => {
    if (begin >= end || found.length >= most) return;
    const part = bytes.subarray(begin, end);
    const middle = part.length > SMALL ? begin + (part.lastIndexOf(LINE_FEED, part.length >> 1) + 1) : begin;
    // A first half that is empty is followed by a very long line.
    const split = middle > begin ? middle : begin + (part.indexOf(LINE_FEED) + 1 || part.length);
    if (part.length <= SMALL) {
      if (anywhere.test(part.toString("utf8"))) eachLine(begin, end);
    } else if (split < end) {
      if (!anywhere.test(part.toString("utf8"))) return;
      search(begin, split);
      search(split, end);
    } else {
      eachLine(begin, end);
    }
  };
  const eachLine = (begin: number, end: number): void => {
    for (let at = begin; at < end && found.length < most; ) {
      const feed = bytes.indexOf(LINE_FEED, at);
      const lineEnd = feed < 0 || feed > end ? end : feed;
      if (within.test(matchableText(bytes.subarray(at, lineEnd)))) found.push(at);
      at = lineEnd + 1;
    }
  };
  search(0, bytes.length);
  return found;
}
