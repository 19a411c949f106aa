import type { Assertion, Check } from "./ast.ts";
import { CHECKS, type CheckRow } from "./checks.ts";
import { type Args, compile, match, type Pattern, print } from "./pattern.ts";
import { type Reading, remembered, type Sentence } from "./reader.ts";
import { SLOTS } from "./slots.ts";
import { readTarget } from "./target.ts";
import { ASSURING, ENDING, LEADS, WITHOUT } from "./words.ts";

/** A wording of a row, compiled. */
export interface Compiled {
  readonly cost: number;
  readonly kind: string;
  readonly pattern: Pattern;
  readonly implied: Args;
  readonly made: ((args: Args) => Args) | undefined;
  readonly isMain: boolean;
  readonly example: string;
}

/** Every wording of some rows. */
export const wordingsOf = (
  rows: Readonly<Record<string, Pick<CheckRow, "form" | "also" | "loose" | "example">>>,
  isVerb: boolean,
): Compiled[] =>
  Object.entries(rows)
    .flatMap(([kind, { form, also, loose = [], example }]) =>
      [form, ...also, ...loose].map((one, index) => {
        const [text, implied, made] = typeof one === "string" ? [one, {}] : one;
        // The language's own words come first, then people's.
        const cost = index === 0 ? 0 : index <= also.length ? 0.1 : 0.6;
        return { kind, pattern: compile(text, isVerb), implied, isMain: index === 0, example, cost, made };
      }),
    )
    // Main wordings first: what they expected is what messages say.
    .sort((a, b) => Number(b.isMain) - Number(a.isMain));

let wordings: Compiled[] | undefined;
let canonical: ReadonlyMap<string, Pattern> | undefined;

const isCheck = (value: { readonly kind: string }): value is Check => value.kind in CHECKS;

/** The positions at which a sentence may begin, after words that add nothing; each costs a little. */
export function beginnings(
  sentence: Sentence,
  from: number,
  isAssertion: boolean,
): { at: number; cost: number }[] {
  const found = [{ at: from, cost: 0 }];
  for (const { at, cost } of found)
    for (const lead of isAssertion ? [...LEADS, ASSURING, WITHOUT] : LEADS) {
      const next = sentence.end(at, lead);
      if (next === undefined || next === at || found.length > 12 || found.some((one) => one.at === next))
        continue;
      found.push({ at: next, cost: cost + 0.2 });
    }
  return found;
}

/** What a sentence costs that ends here, perhaps after words that add nothing; undefined if it does not end. */
export function ending(sentence: Sentence, at: number, expected: string): number | undefined {
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

/** Reads `["not"] check ["within" DURATION]`, up to the end of the sentence. */
export const readAssertion = remembered((sentence: Sentence, from: number): readonly Reading<Assertion>[] => {
  wordings ??= wordingsOf(CHECKS, false);
  const readings: Reading<Assertion>[] = [];
  const { example, isMain } = sentence;
  const end = sentence.text.length;
  for (const begin of beginnings(sentence, from, true)) {
    const text = sentence.text.slice(begin.at).trim();
    const not = sentence.end(begin.at, NOT);
    for (const [at, negated] of [
      [begin.at, false],
      ...(not === undefined ? [] : [[not, true] as const]),
    ] as const)
      for (const { kind, pattern, implied, ...row } of wordings) {
        sentence.example = row.example;
        sentence.isMain = row.isMain && isMain;
        match(
          pattern,
          sentence,
          SLOTS,
          { at, cost: begin.cost + row.cost, args: implied },
          (next, cost, args) => {
            const check = { kind, ...args, ...row.made?.(args) };
            if (!isCheck(check)) return;
            const add = (last: number, within: number | undefined) => {
              const more = ending(sentence, last, "the end, or within and a time");
              if (more !== undefined)
                readings.push({ value: { text, negated, check, within }, at: end, cost: cost + more });
            };
            add(next, undefined);
            const suffix = sentence.end(next, WITHIN);
            sentence.example = "h1 contains 'Docs' within 10s";
            for (const one of suffix === undefined ? [] : SLOTS.duration.read(sentence, suffix))
              add(one.at, one.value);
          },
        );
      }
  }
  Object.assign(sentence, { example, isMain });
  if (readings.length === 0) sentence.fail(from, "an assertion");
  return readings;
});

const NOT = /not(?![\w-])\s*/iy;
const WITHIN =
  /(?:within|in\s+less\s+than|in\s+under|(?:after|before|in|for)(?=\s+["']?\d)|for\s+up\s+to)(?:\s+(?:the\s+next|at\s+most))?(?![\w-])\s*/iy;

/** An assertion, or a target alone, which becomes visible. */
export function awaited(sentence: Sentence, at: number): readonly Reading<Assertion>[] {
  const alone = readTarget(sentence, at).flatMap(({ value: target, at: next, cost }) => {
    const more = ending(sentence, next, "the end, or within and a time");
    if (more === undefined) return [];
    const check = { kind: "state", target, state: "visible", negated: false } as const;
    const text = `${sentence.rest(at).trim()} is visible`;
    return [
      {
        value: { text, negated: false, check, within: undefined },
        at: sentence.text.length,
        cost: cost + more,
      },
    ];
  });
  const all = [...alone, ...readAssertion(sentence, at)];
  if (all.length === 0) sentence.fail(at, "a time, a target, or an assertion");
  return all;
}

/** An assertion in its canonical wording. */
export function printAssertion({ negated, check, within }: Assertion): string {
  canonical ??= new Map(Object.entries(CHECKS).map(([kind, { form }]) => [kind, compile(form)]));
  const sentence = print(canonical.get(check.kind) ?? [], { ...check }, SLOTS);
  return `${negated ? "not " : ""}${sentence}${within === undefined ? "" : ` within ${SLOTS.duration.print(within)}`}`;
}
