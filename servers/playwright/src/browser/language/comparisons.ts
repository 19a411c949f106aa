import type { NumberComparison, TextComparison } from "./ast.ts";
import { compiled } from "./matching.ts";
import { made, quoted, type Reading, type Sentence, type Slot } from "./reader.ts";
import { isKnown } from "./slot-kinds.ts";

/** A pattern between slashes, in RE2's syntax. */
function regex(sentence: Sentence, at: number): Reading<TextComparison>[] {
  const example = "title matches /^Docs/i";
  const taken = sentence.take(
    at,
    /\/((?:[^/\\[\n\r\u2028\u2029]|\\.|\[(?:[^\]\\\n\r\u2028\u2029]|\\.)*\])+)\/([a-z]*)/y,
  );
  if (taken === undefined) return sentence.fail(at, "a pattern between slashes", { example });
  const [, value = "", flags = ""] = taken.found;
  if (/[^imsu]/.test(flags))
    return sentence.fail(at, "only the flags i, m, s and u", { example, isSure: true });
  // An exported pattern runs in JavaScript, which does not know RE2's (?i).
  if (isKnown(() => compiled(value, flags)) && isKnown(() => new RegExp(value, flags)))
    return [{ value: { how: "matches", value, flags, negated: false }, at: taken.at }];
  const expected =
    "a pattern that both JavaScript and RE2 support (no look-around and no back-references)";
  return sentence.fail(at, expected, { example, isSure: true });
}

const VERBS = [
  [/is\s+not(?![\w-])/iy, "is", true],
  [/is(?![\w-])/iy, "is", false],
  [/contains(?![\w-])/iy, "contains", false],
  [/does\s+not\s+contain(?![\w-])/iy, "contains", true],
  [/matches(?![\w-])/iy, "matches", false],
  [/does\s+not\s+match(?![\w-])/iy, "matches", true],
] as const;

/** `contains 'x'`, `does not match /x/`, `is 'x'`. */
export function comparisons(sentence: Sentence, at: number): Reading<TextComparison>[] {
  for (const [pattern, how, negated] of VERBS) {
    const end = sentence.end(at, pattern);
    if (end === undefined) continue;
    return how === "matches"
      ? made(regex(sentence, end), (one) => ({ ...one, negated }))
      : made(sentence.quoted(end), (value) => ({ how, value, flags: "", negated }));
  }
  for (const word of ["contains", "is", "matches"]) sentence.fail(at, word);
  return [];
}

export function printComparison({ how, value, flags, negated }: TextComparison): string {
  if (how === "is") return `${negated ? "is not" : "is"} ${quoted(value)}`;
  const text = how === "matches" ? `/${value}/${flags}` : quoted(value);
  return negated ? `does not ${how === "matches" ? "match" : "contain"} ${text}` : `${how} ${text}`;
}

const COUNTING = [
  [/at\s+least|>=/iy, ">="],
  [/at\s+most|<=/iy, "<="],
  [/more\s+than|>/iy, ">"],
  [/less\s+than|</iy, "<"],
  [/=/y, "="],
] as const;
const SIGNS = {
  "=": "is",
  "<": "less than",
  "<=": "at most",
  ">": "more than",
  ">=": "at least",
} as const;
export const count: Slot<NumberComparison> = {
  read(sentence, at) {
    const start = sentence.end(at, /is(?![\w-])/iy) ?? at;
    const how = COUNTING.find(([pattern]) => sentence.end(start, pattern) !== undefined);
    const after = how === undefined ? start : (sentence.end(start, how[0]) ?? start);
    const digits = sentence.take(after, /(\d{1,9})(?![\w.])/y);
    return digits === undefined
      ? sentence.fail(after, "a whole number, or at least, at most and a number")
      : [{ value: { how: how?.[1] ?? "=", value: Number(digits.found[1]) }, at: digits.at }];
  },
  print: ({ how, value }) => `${SIGNS[how]} ${value}`,
};
