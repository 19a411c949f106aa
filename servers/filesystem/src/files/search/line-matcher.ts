import type { Block } from "./text-blocks.ts";
import type { TextPattern } from "./text-pattern.ts";

/** Finds the lines that match. */
export interface LineMatcher {
  /** Where in the block's text the lines begin that match, in order. */
  lines(block: Block): number[];
  /** Where the pattern first matches in a line (without its line feed), in UTF-16 code units. */
  find(line: string): { start: number; end: number } | undefined;
}

/** The matcher of a pattern, by V8's engine: run it if it can be ended, since some patterns never finish. */
export function lineMatcher({ source, flags, manyLines, literal }: TextPattern): LineMatcher {
  const within = new RegExp(source, flags);
  const anywhere = manyLines === undefined ? undefined : new RegExp(manyLines, `${flags}g`);
  const needle = literal === undefined || literal === "" ? undefined : Buffer.from(literal);
  return {
    lines(block) {
      if (needle !== undefined && literal !== undefined) {
        // Most texts do not hold it, and those need not be decoded.
        if (block.isUtf8 && !block.bytes.includes(needle)) return [];
        return linesWith(block.text, (text, from) => text.indexOf(literal, from));
      }
      if (anywhere === undefined) return lineByLine(block.text, within);
      return linesWith(block.text, (text, from) => {
        anywhere.lastIndex = from;
        return anywhere.exec(text)?.index ?? -1;
      });
    },
    find(line) {
      const match = within.exec(line);
      return match === null ? undefined : { start: match.index, end: match.index + match[0].length };
    },
  };
}

/** @param next where the next match begins, from an index on; -1 for none. */
function linesWith(text: string, next: (text: string, from: number) => number): number[] {
  const found: number[] = [];
  for (let from = 0; from < text.length; ) {
    const at = next(text, from);
    // An empty match behind the last line feed is in no line.
    if (at < 0 || (at === text.length && text.endsWith("\n"))) break;
    found.push(at === 0 ? 0 : text.lastIndexOf("\n", at - 1) + 1);
    const end = text.indexOf("\n", at);
    if (end < 0) break;
    from = end + 1;
  }
  return found;
}

function lineByLine(text: string, within: RegExp): number[] {
  const found: number[] = [];
  for (let at = 0; at < text.length; ) {
    const feed = text.indexOf("\n", at);
    const end = feed < 0 ? text.length : feed;
    if (within.test(text.slice(at, end))) found.push(at);
    at = end + 1;
  }
  return found;
}
