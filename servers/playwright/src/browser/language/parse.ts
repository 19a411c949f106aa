import { nearest } from "@refmcp/boundary/answer";
import type { Action, Assertion, Check, Step } from "./ast.ts";
import { CHECKS } from "./checks.ts";
import { match, print } from "./pattern.ts";
import { LanguageError, type Reading, remembered, Sentence } from "./reader.ts";
import { refusal } from "./refused.ts";
import type { Row } from "./rows.ts";
import { SLOTS } from "./slots.ts";
import { STEPS } from "./steps.ts";
import { readTarget, TARGET_WORDS } from "./target.ts";

const STEP_EXAMPLE = "click button 'Save'";
const CHECK_EXAMPLE = "h1 contains 'Docs'";

/**
 * Parses one assertion.
 *
 * @throws LanguageError with the position of the problem.
 */
export const parseAssertion = (text: string): Assertion =>
  chosen(text, "an assertion", CHECK_EXAMPLE, (one) =>
    readAssertion(one, one.end(0, /expect(?![\w-])/iy) ?? 0),
  );

/**
 * Parses one step: an action on the page, or `expect` and an assertion that must hold before the next step.
 *
 * @throws LanguageError as `parseAssertion` does.
 */
export const parseStep = (text: string): Step => ({
  text: text.trim(),
  action: chosen(text, "a step", STEP_EXAMPLE, readSteps),
});

/** Every way to read a row's form at a position: its values, and where it ends. */
function readRows(
  sentence: Sentence,
  rows: Readonly<Record<string, Row>>,
  from: number,
  found: (value: { readonly kind: string }, at: number) => void,
): void {
  const { example } = sentence;
  for (const [kind, { form, examples }] of Object.entries(rows)) {
    sentence.example = examples[0];
    match(form, sentence, SLOTS, from, (at, args) => found({ kind, ...args }, at));
  }
  sentence.example = example;
}

const isAction = (value: { readonly kind: string }): value is Action => value.kind in STEPS;
const isCheck = (value: { readonly kind: string }): value is Check => value.kind in CHECKS;

function readSteps(sentence: Sentence): Reading<Action>[] {
  const readings: Reading<Action>[] = [];
  readRows(sentence, STEPS, 0, (value, at) => {
    if (isEnd(sentence, at, "the end of the step") && isAction(value)) readings.push({ value, at });
  });
  return readings;
}

/** Reads `["not"] check ["within" DURATION]`, up to the end of the sentence. */
export const readAssertion = remembered(
  (sentence: Sentence, from: number): readonly Reading<Assertion>[] => {
    const readings: Reading<Assertion>[] = [];
    const text = sentence.text.slice(from).trim();
    const not = sentence.end(from, /not(?![\w-])/iy);
    readRows(sentence, CHECKS, not ?? from, (check, next) => {
      const add = (at: number, within: number | undefined) => {
        if (isEnd(sentence, at, "the end, or within and a time") && isCheck(check))
          readings.push({ value: { text, negated: not !== undefined, check, within }, at });
      };
      add(next, undefined);
      const suffix = sentence.end(next, /within(?![\w-])/iy);
      sentence.example = "h1 contains 'Docs' within 10s";
      for (const one of suffix === undefined ? [] : SLOTS.duration.read(sentence, suffix))
        add(one.at, one.value);
    });
    if (readings.length === 0) sentence.fail(from, "an assertion");
    return readings;
  },
);

/** An assertion, or a target alone, which becomes visible. */
export function awaited(sentence: Sentence, at: number): readonly Reading<Assertion>[] {
  const alone = readTarget(sentence, at, "step").flatMap(({ value: target, at: next }) => {
    if (!isEnd(sentence, next, "the end, or within and a time")) return [];
    const check = { kind: "state", target, state: "visible", negated: false } as const;
    const text = `${sentence.rest(at).trim()} is visible`;
    return [{ value: { text, negated: false, check, within: undefined }, at: next }];
  });
  const all = [...alone, ...readAssertion(sentence, at)];
  if (all.length === 0) sentence.fail(at, "a time, a target, or an assertion");
  return all;
}

/** Whether a sentence ends here. */
function isEnd(sentence: Sentence, at: number, expected: string): boolean {
  if (at >= sentence.text.length) return true;
  sentence.fail(at, expected);
  return false;
}

/** A step as a sentence. */
export const printAction = (action: Readonly<{ kind: string }>): string => printed(STEPS, action);

/** An assertion as a sentence. */
export const printAssertion = ({ negated, check, within }: Assertion): string =>
  `${negated ? "not " : ""}${printed(CHECKS, check)}${within === undefined ? "" : ` within ${SLOTS.duration.print(within)}`}`;

const printed = (rows: Readonly<Record<string, Row>>, value: { readonly kind: string }): string =>
  print(rows[value.kind]?.form ?? "", { ...value }, SLOTS);

function chosen<Meaning>(
  text: string,
  what: string,
  example: string,
  read: (sentence: Sentence) => readonly Reading<Meaning>[],
): Meaning {
  const sentence = new Sentence(text.trimStart());
  sentence.example = example;
  if (sentence.text === "") throw new LanguageError(0, what, example);
  const [first] = read(sentence);
  const isValid = (one: string) => read(new Sentence(one)).length > 0;
  const refused = refusal(sentence.text, first !== undefined, isValid);
  if (refused !== undefined) throw new LanguageError(refused.at, refused.expected, refused.example);
  if (first === undefined) throw problem(sentence.problem(), isValid);
  return first.value;
}

/** What was expected where the sentence stops making sense, with a suggestion that makes it valid. */
function problem(
  { text, farthest, expected }: ReturnType<Sentence["problem"]>,
  isValid: (text: string) => boolean,
): LanguageError {
  const isSure = expected.some((one) => one.isSure);
  const [only] = expected;
  const words = expected.map(({ what }) => what);
  const whole = words.findLast((one) => one.endsWith("an assertion"));
  // At the beginning, almost everything is possible.
  const isStart = farthest === 0 && !isSure;
  const listed =
    whole !== undefined ? [whole] : words.filter((one) => !isStart || !one.includes(" "));
  const what =
    listed.length === 1 && only?.next !== undefined
      ? `${only.what} and ${only.next}`
      : either([...new Set(listed)]);
  const isTarget = words.some((one) => /target|element/.test(one));
  const near = isSure
    ? undefined
    : suggestion(text, farthest, [...words, ...(isTarget ? TARGET_WORDS : [])], isValid);
  const said = near === undefined ? what : `${what} (did you mean ${near}?)`;
  const head = text.slice(0, farthest).trim();
  const isHead = farthest < text.length && head !== "" && isValid(head);
  return new LanguageError(farthest, said, isHead ? head : (only?.example ?? ""));
}

const either = (all: readonly string[]) =>
  [all.slice(0, -1).join(", "), ...all.slice(-1)].filter((one) => one !== "").join(" or ");

const MAX_TRIED = 6;

/** A word similar to the next one, with which the sentence is valid. */
function suggestion(
  text: string,
  at: number,
  words: readonly string[],
  isValid: (text: string) => boolean,
): string | undefined {
  const candidates = words
    .flatMap((one) => one.split(", "))
    .filter((one) => /^[a-z][a-z0-9 -]*$/i.test(one));
  const heads = [/^[\w-]+\s+[\w-]+/, /^[\w-]+/].flatMap(
    (head) => head.exec(text.slice(at))?.[0] ?? [],
  );
  return heads
    .flatMap((head) =>
      nearest(head, candidates, 3).map((word) => ({ word, end: at + head.length })),
    )
    .slice(0, MAX_TRIED)
    .find(({ word, end }) => isValid(text.slice(0, at) + word + text.slice(end)))?.word;
}
