import type { NumberComparison, TextComparison } from "./ast.ts";
import { compiled, escaped } from "./matching.ts";
import { made, quoted, type Reading, type Sentence, type Slot } from "./reader.ts";
import { isKnown } from "./slot-kinds.ts";
import { BEING, COMPARING, COUNTING, MODAL, NEGATION, NUMBERS } from "./words.ts";

/** A pattern between slashes, in RE2's syntax; or as a text that is not plain. */
export function regex(sentence: Sentence, at: number, isText = false): Reading<TextComparison>[] {
  const example = "title matches /^Docs/i";
  const taken = sentence.take(
    at,
    /\/((?:[^/\\[\n\r\u2028\u2029]|\\.|\[(?:[^\]\\\n\r\u2028\u2029]|\\.)*\])+)\/([a-z]*)/y,
  );
  const text = /(?:"([^"]*[\\+*?^$|][^"]*)"|([^"'/\s][^"'/]*[\\+*?^$|][^"']*))/y;
  const bare = isText ? sentence.take(at, text) : undefined;
  const whole = taken ?? bare;
  if (whole === undefined) return sentence.fail(at, "a pattern between slashes", { example });
  const [, first, second = ""] = whole.found;
  const flags = taken === undefined ? "" : second;
  const value =
    taken === undefined ? (first ?? second).replace(/(?<!\\)\//g, "\\/") : (first ?? "");
  if (/[^imsu]/.test(flags))
    return sentence.fail(at, "only the flags i, m, s and u", { example, isSure: true });
  // An exported pattern runs in JavaScript, which does not know RE2's (?i).
  if (isKnown(() => compiled(value, flags)) && isKnown(() => new RegExp(value, flags)))
    return [{ value: { how: "matches", value, flags, negated: false }, at: whole.at, cost: 0 }];
  const expected =
    "a pattern that both JavaScript and RE2 support (no look-around and no back-references)";
  return sentence.fail(at, expected, { example, isSure: true });
}

export const spacedPattern = (text: string) => text.trim().split(/\s+/).map(escaped).join("\\s+");

export const is = (value: string): TextComparison => ({
  how: "is",
  value,
  flags: "",
  negated: false,
});

/** Whether a page's name is more like a part of its URL than like a title. */
export const isSlug = (name: string) => /^[a-z][a-z-]*$/.test(name);

/** The name in `the 'Sign in' page`. */
export function pageNames(sentence: Sentence, at: number): Reading<string>[] {
  const start = sentence.end(at, /(?:the|a|an|my|your)\s+/iy) ?? at;
  const isQuoted = sentence.isString(start) || sentence.text.charAt(start) === "`";
  const names = isQuoted ? sentence.words(start) : sentence.unquoted(start, 4);
  return names.flatMap(({ value, at: next, cost }) => {
    const end = sentence.end(next, /(?:web\s?)?(?:page|screen|site|view)(?![\w-])/iy);
    return end === undefined ? [] : [{ value, at: end, cost: Math.max(0, cost - 3) }];
  });
}

/** `contains 'x'`, `does not match /x/`, `should be 'x'`, `starts with 'x'`. */
export function comparisons(
  sentence: Sentence,
  at: number,
  takesWords: boolean,
): Reading<TextComparison>[] {
  const found: Reading<TextComparison>[] = [];
  const add = (
    from: number,
    how: (typeof COMPARING)[number][1],
    isNegated: boolean,
    isBare: boolean,
  ) => {
    if (how === "matches") {
      found.push(
        ...made(regex(sentence, from, sentence.isString(from)), (one) => ({
          ...one,
          negated: isNegated,
        })),
      );
      return;
    }
    const texts =
      isBare && !sentence.isString(from)
        ? sentence.fail(from, "a text in quotes", { example: "h1 contains 'Docs'" })
        : sentence.words(from);
    const pattern = {
      starts: (text: string) => `^\\s*${text}`,
      ends: (text: string) => `${text}\\s*$`,
    };
    found.push(
      ...made(texts, (value): TextComparison => {
        const shared = { flags: "", negated: isNegated };
        return how === "starts" || how === "ends"
          ? { ...shared, how: "matches", value: pattern[how](spacedPattern(value)) }
          : { ...shared, how, value };
      }),
    );
  };
  const verbs = (from: number, isNegated: boolean) => {
    for (const [pattern, how] of COMPARING) {
      const end = sentence.end(from, pattern);
      if (end === undefined) continue;
      add(end, how, isNegated, false);
      break;
    }
  };
  verbs(at, false);
  const not = sentence.end(at, NEGATION);
  if (not !== undefined) verbs(not, true);
  const should = sentence.end(at, MODAL);
  if (should !== undefined) verbs(should, false);
  for (const [pattern, isNegated] of BEING) {
    const end = sentence.end(at, pattern);
    if (end === undefined) continue;
    const again = isNegated ? undefined : sentence.end(end, /not(?!\w)\s*/iy);
    if (takesWords || sentence.isString(again ?? end))
      add(again ?? end, "is", isNegated !== (again !== undefined), !takesWords);
    verbs(end, isNegated);
    break;
  }
  if (found.length === 0) for (const word of ["contains", "is", "matches"]) sentence.fail(at, word);
  return found;
}

export function printComparison({ how, value, flags, negated }: TextComparison): string {
  if (how === "is") return `${negated ? "is not" : "is"} ${quoted(value)}`;
  const text = how === "matches" ? `/${value}/${flags}` : quoted(value);
  return negated ? `does not ${how === "matches" ? "match" : "contain"} ${text}` : `${how} ${text}`;
}

const SIGNS = {
  "=": "is",
  "<": "less than",
  "<=": "at most",
  ">": "more than",
  ">=": "at least",
} as const;
export const count: Slot<NumberComparison> = {
  read(sentence, at) {
    const be = BEING.find(
      ([pattern, isNegated]) => !isNegated && sentence.end(at, pattern) !== undefined,
    );
    const start = be === undefined ? at : (sentence.end(at, be[0]) ?? at);
    const how = COUNTING.find(([pattern]) => sentence.end(start, pattern) !== undefined);
    const after = how === undefined ? start : (sentence.end(start, how[0]) ?? start);
    const digits = sentence.take(after, /["'“]?(\d{1,9})(?![\w.])["'”]?/y);
    const word = NUMBERS.find(([pattern]) => sentence.end(after, pattern) !== undefined);
    const end = digits?.at ?? (word === undefined ? undefined : sentence.end(after, word[0]));
    if (end === undefined)
      return sentence.fail(after, "a whole number, or at least, at most and a number");
    const value = {
      how: how?.[1] ?? ("=" as const),
      value: digits === undefined ? (word?.[1] ?? 0) : Number(digits.found[1]),
    };
    const more = sentence.end(end, /or\s+(?:more|greater)(?!\w)/iy);
    return [
      more === undefined
        ? { value, at: end, cost: 0 }
        : { value: { ...value, how: ">=" }, at: more, cost: 0 },
    ];
  },
  print: ({ how, value }) => `${SIGNS[how]} ${value}`,
};
