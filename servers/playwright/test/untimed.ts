import { TIMES } from "../src/browser/language/ast.ts";

/** A line's end, in a text and in the JSON of a text. */
const END = String.raw`(?:\n|\\n)`;
const LINES = new RegExp(
  `${END}(?: *(?:${TIMES.join("|")}): [^\\n\\\\]*|Times are ranges [^\\n\\\\]*|\\S+ \\[\\w+\\]: measured differently)(?=${END})`,
  "g",
);
const LIST = /,(?:\s|\\n)*\\*"measured\\*":(?:\s|\\n)*\[[^\]]*\]/g;

/** An answer without the times that differ between two versions, which depend on the machine. */
export const untimed = (text: string): string =>
  text
    .replace(/; \d+ more measured differently/g, "")
    .replace(LINES, "")
    .replace(LIST, "");
