import { nearest } from "@refmcp/boundary/answer";
import { beginnings, type Compiled, ending, printAssertion, readAssertion, wordingsOf } from "./assertion.ts";
import type { Action, Assertion, Step } from "./ast.ts";
import { compile, match, type Pattern, print } from "./pattern.ts";
import { LanguageError, type Reading, Sentence, TIE } from "./reader.ts";
import { SLOTS } from "./slots.ts";
import { STEPS } from "./steps.ts";
import { TARGET_WORDS } from "./target.ts";

const STEP_EXAMPLE = "click button 'Save'";
const CHECK_EXAMPLE = "h1 contains 'Docs'";

let wordings: Compiled[] | undefined;
let canonical: ReadonlyMap<string, Pattern> | undefined;

const isAction = (value: { readonly kind: string }): value is Action => value.kind in STEPS;

/**
 * Parses one assertion.
 *
 * @throws LanguageError with the position of the problem, or both meanings of an ambiguous sentence.
 */
export function parseAssertion(text: string): Assertion {
  const sentence = new Sentence(text.trimStart());
  sentence.example = CHECK_EXAMPLE;
  if (sentence.text === "") throw new LanguageError(0, "an assertion", CHECK_EXAMPLE);
  const read = (one: Sentence) => readAssertion(one, 0);
  return chosen(sentence, read, printAssertion);
}

/**
 * Parses one step: an action on the page, or `expect` and an assertion that must hold before the next step.
 *
 * @throws LanguageError as `parseAssertion` does.
 */
export function parseStep(text: string): Step {
  const sentence = new Sentence(text.trimStart());
  sentence.example = STEP_EXAMPLE;
  if (sentence.text === "") throw new LanguageError(0, "a step", STEP_EXAMPLE);
  return { text: text.trim(), action: chosen(sentence, readSteps, printAction) };
}

function readSteps(sentence: Sentence): Reading<Action>[] {
  wordings ??= wordingsOf(STEPS, true);
  const readings: Reading<Action>[] = [];
  for (const { at, cost: from } of beginnings(sentence, 0, false))
    for (const { kind, pattern, implied, ...row } of wordings) {
      Object.assign(sentence, { example: row.example, isMain: row.isMain });
      match(pattern, sentence, SLOTS, { at, cost: from + row.cost, args: implied }, (next, cost, args) => {
        const more = ending(sentence, next, "the end of the step");
        const action = { kind, ...args };
        if (more !== undefined && isAction(action))
          readings.push({ value: action, at: next, cost: cost + more });
      });
    }
  return readings;
}

/** A step in its canonical wording. */
export function printAction(action: { readonly kind: string }): string {
  canonical ??= new Map(Object.entries(STEPS).map(([kind, { form }]) => [kind, compile(form)]));
  return print(canonical.get(action.kind) ?? [], { ...action }, SLOTS);
}

/** The meaning with the fewest words that are not the language's own. */
function chosen<Meaning>(
  sentence: Sentence,
  read: (sentence: Sentence) => readonly Reading<Meaning>[],
  printed: (meaning: Meaning) => string,
): Meaning {
  const readings = read(sentence);
  const least = Math.min(...readings.map(({ cost }) => cost));
  const best = readings.filter(({ cost }) => cost < least + TIE);
  const [first] = best;
  if (first === undefined) throw problem(sentence.problem(), read);
  const meanings = [...new Set(best.map(({ value }) => printed(value)))];
  const [one = "", other] = meanings;
  if (other === undefined) return first.value;
  throw new LanguageError(
    0,
    `one meaning; this can be "${one}" or "${other}": write the one that you mean`,
    one,
  );
}

/** What was expected where the sentence stops making sense, with a suggestion that makes it valid. */
function problem<Meaning>(
  { text, farthest, expected, example }: ReturnType<Sentence["problem"]>,
  read: (sentence: Sentence) => readonly Reading<Meaning>[],
): LanguageError {
  const sure = expected.filter(({ isSure }) => isSure);
  const shown = sure.length > 0 ? sure : expected;
  const [only] = shown;
  const words = shown.map(({ what }) => what);
  const whole = words.findLast((one) => one.endsWith("an assertion"));
  // At the beginning, almost everything is possible.
  const listed =
    whole !== undefined
      ? [whole]
      : farthest === 0 && sure.length === 0
        ? words.filter((one) => !one.includes(" "))
        : words;
  const what =
    listed.length === 1 && only?.next !== undefined
      ? `${only.what} and ${only.next}`
      : either([...new Set(listed)]);
  const isTarget = expected.some((one) => /target|element/.test(one.what));
  const near =
    sure.length > 0
      ? undefined
      : suggestion(text, farthest, [...words, ...(isTarget ? TARGET_WORDS : [])], read);
  return new LanguageError(
    farthest,
    near === undefined ? what : `${what} (did you mean ${near}?)`,
    only?.example ?? example,
  );
}

const either = (all: readonly string[]) =>
  [all.slice(0, -1).join(", "), ...all.slice(-1)].filter((one) => one !== "").join(" or ");

const MAX_TRIED = 6;

/** A word similar to the next one, with which the sentence is valid. */
function suggestion<Meaning>(
  text: string,
  at: number,
  words: readonly string[],
  read: (sentence: Sentence) => readonly Reading<Meaning>[],
): string | undefined {
  const candidates = words.flatMap((one) => one.split(", ")).filter((one) => /^[a-z][a-z0-9 -]*$/i.test(one));
  const heads = [/^[\w-]+\s+[\w-]+/, /^[\w-]+/].flatMap((head) => head.exec(text.slice(at))?.[0] ?? []);
  return heads
    .flatMap((head) => nearest(head, candidates, 3).map((word) => ({ word, end: at + head.length })))
    .slice(0, MAX_TRIED)
    .find(({ word, end }) => read(new Sentence(text.slice(0, at) + word + text.slice(end))).length > 0)?.word;
}
