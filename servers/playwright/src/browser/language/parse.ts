import { nearest } from "@refmcp/boundary/answer";
import type { Action, Assertion, Base, Check, Step } from "./ast.ts";
import { CHECKS } from "./checks.ts";
import { TARGET_WORDS } from "./nouns.ts";
import { type Args, compile, match, print } from "./pattern.ts";
import { LanguageError, quoted, type Reading, remembered, Sentence, TIE } from "./reader.ts";
import { refusal } from "./refused.ts";
import type { Row } from "./rows.ts";
import { SLOTS } from "./slots.ts";
import { STEPS } from "./steps.ts";
import { readTarget } from "./target.ts";
import { ASSURING, ENDING, LEADS } from "./words.ts";

const STEP_EXAMPLE = "click button 'Save'";
const CHECK_EXAMPLE = "h1 contains 'Docs'";

/**
 * Parses one assertion.
 *
 * @throws LanguageError with the position of the problem, or both meanings of an ambiguous sentence.
 */
export const parseAssertion = (text: string): Assertion =>
  chosen(text, "an assertion", CHECK_EXAMPLE, (one) => readAssertion(one, 0), printAssertion);

/**
 * Parses one step: an action on the page, or `expect` and an assertion that must hold before the next step.
 *
 * @throws LanguageError as `parseAssertion` does.
 */
export const parseStep = (text: string): Step => ({
  text: text.trim(),
  action: chosen(text, "a step", STEP_EXAMPLE, readSteps, printAction),
});

/** Every wording of some rows, compiled when it is first used, and their canonical wordings. */
function tableOf(rows: () => Readonly<Record<string, Row>>, isVerb: boolean) {
  const wordings = () =>
    Object.entries(rows())
      .flatMap(
        ([
          kind,
          {
            form,
            also = "",
            examples: [example],
          },
        ]) =>
          [form, ...also.split("\n")].flatMap((line, index) => {
            const [, loose, text = "", implied = ""] =
              /^\s*(~?)\s*(.*?)(?:\s=>\s(.*))?$/.exec(line) ?? [];
            if (text === "") return [];
            const args = implied.split(/,\s*/).flatMap((one) => {
              const [, name, value = ""] = /^(\w+)=(.*)$/.exec(one) ?? [];
              return name === undefined ? [] : [[name, IMPLIED[value] ?? value]];
            });
            // The language's own words come first, then people's.
            const cost = index === 0 ? 0 : loose === "" ? 0.1 : 0.6;
            const isMain = index === 0;
            return {
              kind,
              pattern: compile(text, isVerb),
              args: Object.fromEntries(args),
              isMain,
              example,
              cost,
            };
          }),
      )
      // Main wordings first: what they expected is what messages say.
      .sort((a, b) => Number(b.isMain) - Number(a.isMain));
  let all: ReturnType<typeof wordings> | undefined;
  return () => {
    all ??= wordings();
    return all;
  };
}
const IMPLIED: Readonly<Record<string, unknown>> = { true: true, false: false, 1: 1, 2: 2 };
const steps = tableOf(() => STEPS, true);
const checks = tableOf(() => CHECKS, false);

/** Every way to read a row's wording at a position: its values, and where it ends. */
function readRows(
  sentence: Sentence,
  table: typeof steps,
  from: { readonly at: number; readonly cost: number },
  found: (value: { readonly kind: string }, at: number, cost: number) => void,
): void {
  const { example, isMain } = sentence;
  for (const { kind, pattern, args: implied, ...row } of table()) {
    Object.assign(sentence, { example: row.example, isMain: row.isMain && isMain });
    const start = { at: from.at, cost: from.cost + row.cost, args: implied };
    match(pattern, sentence, SLOTS, start, (at, cost, args) =>
      found({ kind, ...nested(args) }, at, cost),
    );
  }
  Object.assign(sentence, { example, isMain });
}

/** `target.inside` as a part of `target`. */
function nested(args: Args): Args {
  const all: Record<string, unknown> = { ...args };
  for (const [path, value] of Object.entries(args)) {
    const [name = "", part] = path.split(".");
    if (part === undefined) continue;
    all[name] = Object.assign({}, all[name], { [part]: value });
    delete all[path];
  }
  return all;
}

const isAction = (value: { readonly kind: string }): value is Action => value.kind in STEPS;
const isCheck = (value: { readonly kind: string }): value is Check => value.kind in CHECKS;

function readSteps(sentence: Sentence): Reading<Action>[] {
  const readings: Reading<Action>[] = [];
  for (const begin of beginnings(sentence, 0, LEADS))
    readRows(sentence, steps, begin, (value, at, cost) => {
      const more = ending(sentence, at, "the end of the step");
      if (more !== undefined && isAction(value)) readings.push({ value, at, cost: cost + more });
    });
  return readings;
}

/** Reads `["not"] check ["within" DURATION]`, up to the end of the sentence. */
export const readAssertion = remembered(
  (sentence: Sentence, from: number): readonly Reading<Assertion>[] => {
    const readings: Reading<Assertion>[] = [];
    const end = sentence.text.length;
    for (const { at: start, cost: lead } of beginnings(sentence, from, [...LEADS, ASSURING])) {
      const text = sentence.text.slice(start).trim();
      const read = (first: number, negated: boolean) =>
        readRows(sentence, checks, { at: first, cost: lead }, (check, next, cost) => {
          const add = (last: number, within: number | undefined) => {
            const more = ending(sentence, last, "the end, or within and a time");
            if (more === undefined || !isCheck(check)) return;
            const guess = guessedAbsence(check, negated);
            if (guess === undefined)
              readings.push({
                value: { text, negated, check, within },
                at: end,
                cost: cost + more,
              });
            else if (isRegionName(guess.name))
              sentence.fail(
                last,
                `header, nav or another selector without quotes for a part of the page, or text ${quoted(guess.name)} for the text`,
                { example: "text 'Oops' in header is not visible", isSure: true },
              );
            else if (guess.name !== "")
              sentence.fail(
                start,
                `a name in quotes, testid '…', .… or #…, since this would also pass if nothing is called "${guess.name}"`,
                {
                  example: guess.isNamed
                    ? printAssertion({ text, negated, check, within: undefined })
                    : "testid 'toast' is hidden",
                  isSure: true,
                },
              );
          };
          add(next, undefined);
          const suffix = sentence.end(next, WITHIN);
          sentence.example = "h1 contains 'Docs' within 10s";
          for (const one of suffix === undefined ? [] : SLOTS.duration.read(sentence, suffix))
            add(one.at, one.value);
        });
      read(start, false);
      const not = sentence.end(start, NOT);
      if (not !== undefined) read(not, true);
    }
    if (readings.length === 0) sentence.fail(from, "an assertion");
    return readings;
  },
);

const NOT = /not(?![\w-])\s*/iy;
const WITHIN =
  /(?:within|in\s+less\s+than|in\s+under|in(?=\s+["']?\d))(?:\s+(?:the\s+next|at\s+most))?(?![\w-])\s*/iy;

/** The words without quotes that name an element, in a check that passes without such an element. */
function guessedAbsence(check: Check, negated: boolean) {
  let target = "target" in check ? check.target : undefined;
  while (target !== undefined && !("isGuess" in target.base) && !isRegion(target.base))
    target = target.inside;
  if (target === undefined) return undefined;
  const { base } = target;
  const isAbsent =
    check.kind === "state"
      ? /visible|hidden/.test(check.state) &&
        (check.state === "hidden") !== (check.negated !== negated)
      : check.kind === "existence"
        ? check.exists === negated
        : check.kind === "count"
          ? !negated && (check.compare.how.startsWith("<") || check.compare.value === 0)
          : check.kind === "no target" && !negated;
  // For a selector in quotes, what to write is already known.
  if (!isAbsent) return undefined;
  const name = base.kind === "role" ? base.name : "text" in base ? base.text : "";
  return { name: name ?? "it", isNamed: /^(?:role|field)$/.test(base.kind) && name !== undefined };
}

const isRegion = (base: Base) => base.kind === "quoted" && !base.exact && isRegionName(base.text);
/** `'Header'`: a part of the page, whose name need not be a text on it. */
const isRegionName = (text: string) =>
  /^(?:(?:page|site|main|top|left|right)\s+)?(?:header|footer|sidebar|nav|navbar|navigation|toolbar|banner)(?:\s+(?:bar|menu))?$/i.test(
    text,
  );

/** An assertion, or a target alone, which becomes visible. */
export function awaited(sentence: Sentence, at: number): readonly Reading<Assertion>[] {
  // A step that waits for an element fails without one, so a selector in quotes is not a risk.
  const selectors = readTarget(sentence, at, "any").filter(
    ({ value: { base } }) => base.kind === "css",
  );
  const alone = [...readTarget(sentence, at), ...selectors].flatMap(
    ({ value: target, at: next, cost }) => {
      const more = ending(sentence, next, "the end, or within and a time");
      if (more === undefined) return [];
      const check = { kind: "state", target, state: "visible", negated: false } as const;
      const text = `${sentence.rest(at).trim()} is visible`;
      const value = { text, negated: false, check, within: undefined };
      return [{ value, at: sentence.text.length, cost: cost + more }];
    },
  );
  const all = [...alone, ...readAssertion(sentence, at)];
  if (all.length === 0) sentence.fail(at, "a time, a target, or an assertion");
  return all;
}

/** The positions at which a sentence may begin, after words that add nothing; each costs a little. */
function beginnings(sentence: Sentence, from: number, leads: readonly RegExp[]) {
  const found = [{ at: from, cost: 0 }];
  for (const { at, cost } of found)
    for (const lead of leads) {
      const next = sentence.end(at, lead);
      if (
        next === undefined ||
        next === at ||
        found.length > 12 ||
        found.some((one) => one.at === next)
      )
        continue;
      found.push({ at: next, cost: cost + 0.2 });
    }
  return found;
}

/** What a sentence costs that ends here, perhaps after words that add nothing; undefined if it does not end. */
function ending(sentence: Sentence, at: number, expected: string): number | undefined {
  let cost = 0;
  for (let end = at; ; cost += 1) {
    if (end >= sentence.text.length) return cost;
    const next = sentence.end(end, ENDING);
    if (next === undefined || next === end) break;
    end = next;
  }
  sentence.fail(at, expected);
  return undefined;
}

/** A step in its canonical wording. */
export const printAction = (action: Readonly<{ kind: string }>): string => printed(STEPS, action);

/** An assertion in its canonical wording. */
export const printAssertion = ({ negated, check, within }: Assertion): string =>
  `${negated ? "not " : ""}${printed(CHECKS, check)}${within === undefined ? "" : ` within ${SLOTS.duration.print(within)}`}`;

const printed = (rows: Readonly<Record<string, Row>>, value: { readonly kind: string }): string =>
  print(compile(rows[value.kind]?.form ?? ""), { ...value }, SLOTS);

/** The meaning with the fewest words that are not the language's own. */
function chosen<Meaning>(
  text: string,
  what: string,
  example: string,
  read: (sentence: Sentence) => readonly Reading<Meaning>[],
  print: (meaning: Meaning) => string,
): Meaning {
  const sentence = new Sentence(text.trimStart());
  sentence.example = example;
  if (sentence.text === "") throw new LanguageError(0, what, example);
  const readings = read(sentence);
  const least = Math.min(...readings.map(({ cost }) => cost));
  const best = readings.filter(({ cost }) => cost < least + TIE);
  const [first] = best;
  const isValid = (one: Sentence) => read(one).length > 0;
  const refused = refusal(sentence.text, first !== undefined, (one) => isValid(new Sentence(one)));
  if (refused !== undefined) throw new LanguageError(refused.at, refused.expected, refused.example);
  if (first === undefined) throw problem(sentence.problem(), isValid);
  const [one = "", other] = new Set(best.map(({ value }) => print(value)));
  if (other === undefined) return first.value;
  throw new LanguageError(
    0,
    `one meaning; this can be "${one}" or "${other}": write the one that you mean`,
    one,
  );
}

/** What was expected where the sentence stops making sense, with a suggestion that makes it valid. */
function problem(
  { text, farthest, expected, example }: ReturnType<Sentence["problem"]>,
  isValid: (sentence: Sentence) => boolean,
): LanguageError {
  const sure = expected.filter(({ isSure }) => isSure);
  const shown = sure.length > 0 ? sure : expected;
  const [only] = shown;
  const words = shown.map(({ what }) => what);
  const whole = words.findLast((one) => one.endsWith("an assertion"));
  // At the beginning, almost everything is possible.
  const isStart = farthest === 0 && sure.length === 0;
  const listed =
    whole !== undefined ? [whole] : words.filter((one) => !isStart || !one.includes(" "));
  const what =
    listed.length === 1 && only?.next !== undefined
      ? `${only.what} and ${only.next}`
      : either([...new Set(listed)]);
  const isTarget = expected.some((one) => /target|element/.test(one.what));
  const near =
    sure.length > 0
      ? undefined
      : suggestion(text, farthest, [...words, ...(isTarget ? TARGET_WORDS : [])], isValid);
  const said = near === undefined ? what : `${what} (did you mean ${near}?)`;
  const head = text.slice(0, farthest).trim();
  const isHead = farthest < text.length && head !== "" && isValid(new Sentence(head));
  return new LanguageError(farthest, said, isHead ? head : (only?.example ?? example));
}

const either = (all: readonly string[]) =>
  [all.slice(0, -1).join(", "), ...all.slice(-1)].filter((one) => one !== "").join(" or ");

const MAX_TRIED = 6;

/** A word similar to the next one, with which the sentence is valid. */
function suggestion(
  text: string,
  at: number,
  words: readonly string[],
  isValid: (sentence: Sentence) => boolean,
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
    .find(({ word, end }) => isValid(new Sentence(text.slice(0, at) + word + text.slice(end))))
    ?.word;
}
