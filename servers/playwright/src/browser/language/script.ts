import { ToolError } from "@refmcp/boundary/answer";
import { failure } from "../errors.ts";
import type { Action, Assertion, Base, Check, Step } from "./ast.ts";
import { parseAssertion, parseStep, printAction, printAssertion } from "./parse.ts";
import { LanguageError } from "./reader.ts";
import type { StepRow } from "./rows.ts";
import { STEPS } from "./steps.ts";

export interface Script {
  readonly steps: readonly Step[];
  readonly assertions: readonly Assertion[];
}

export const secretsOf = ({ steps }: Script): string[] =>
  steps.flatMap(({ action }) =>
    "value" in action && typeof action.value === "object" && "secret" in action.value
      ? [action.value.secret]
      : [],
  );

/** The row of a step. */
export const rowOf = ({ kind }: Action): StepRow => STEPS[kind];

/** How many steps at the beginning are setup steps, which run before the page is opened. */
export function setupLength(steps: readonly Step[]): number {
  const first = steps.findIndex(({ action }) => rowOf(action).isSetup !== true);
  return first < 0 ? steps.length : first;
}

/** The options of the browser context that the setup steps set. */
export function contextOptionsOf(steps: readonly Step[]): { timezoneId?: string; locale?: string } {
  const set = steps.slice(0, setupLength(steps)).map(({ action }) => {
    if (action.kind === "time zone") return { timezoneId: action.zone };
    return action.kind === "locale" ? { locale: action.locale } : {};
  });
  return Object.assign({}, ...set);
}

export const checksOf = ({ steps, assertions }: Script): Check[] => [
  ...steps.flatMap(({ action }) => ("assertion" in action ? [action.assertion.check] : [])),
  ...assertions.map(({ check }) => check),
];

const MAX_PROBLEMS = 5;
const MAX_SENTENCES = 100;
const MAX_SENTENCE_CHARS = 2_000;

/**
 * Parses a run's sentences before any browser is used.
 *
 * @throws ToolError `invalid` that shows each sentence that cannot be parsed (at most five), with a caret.
 */
export function parseScript(
  steps: readonly string[],
  assertions: readonly string[],
  max = MAX_SENTENCES,
): Script {
  const problems: string[] = [];
  for (const [label, all] of Object.entries({ steps, assertions }))
    if (all.length > max)
      throw new ToolError(
        "invalid",
        `There are ${all.length} ${label}; at most ${max} are allowed.`,
        {
          hint: "Split them into several tests with pw_run_suite.",
        },
      );
  const script = {
    steps: readAll("steps", steps, parseStep, problems),
    assertions: readAll("assertions", assertions, parseAssertion, problems),
  };
  // These are options of the browser context, which is created before the page is opened.
  for (const [index, { text, action }] of script.steps.entries())
    if (
      (action.kind === "time zone" || action.kind === "locale") &&
      index >= setupLength(script.steps)
    )
      problems.push(
        `steps[${index}] ${JSON.stringify(text)} must come before the steps that use the page.`,
      );
  if (problems.length === 0) return script;
  const more = problems.length - MAX_PROBLEMS;
  const shown = problems.slice(0, MAX_PROBLEMS).join("\n");
  throw failure("grammar", more > 0 ? `${shown}\nand ${more} more.` : shown);
}

function readAll<Read>(
  label: string,
  texts: readonly string[],
  read: (text: string) => Read,
  problems: string[],
): Read[] {
  return texts.flatMap((text, index) => {
    const place = `${label}[${index}]`;
    if (text.length > MAX_SENTENCE_CHARS) {
      problems.push(`${place} has ${text.length} characters; the limit is ${MAX_SENTENCE_CHARS}.`);
      return [];
    }
    try {
      return [read(text.trimStart())];
    } catch (error) {
      if (!(error instanceof LanguageError)) throw error;
      problems.push(caretText(place, text.trimStart(), error));
      return [];
    }
  });
}

/** A problem for the caller: the sentence, a caret below the position, what was expected there, and an example. */
function caretText(label: string, text: string, { at, expected, example }: LanguageError): string {
  const flat = text.replace(/\s/g, " ");
  const from = Math.max(0, at - 60);
  const shown = `${from > 0 ? "…" : ""}${flat.slice(from, at + 60)}`;
  const caret = " ".repeat(at - from + (from > 0 ? 1 : 0));
  return `${label} cannot be parsed:\n  ${shown}\n  ${caret}^ expected ${expected}\n  for example: ${example}`;
}

/** How each bare quoted text was resolved. */
export type Found = Map<object, Base>;

/** A step in the language's own words, its bare quoted texts as what they turned out to be. */
export const stepSentence = ({ action }: Step, found: Found = new Map()): string =>
  printAction(Object.assign({}, action, explicit(action, found)));

/** An assertion in the language's own words. */
export const assertionSentence = (assertion: Assertion, found: Found = new Map()): string =>
  printAssertion(Object.assign({}, assertion, explicit(assertion, found)));

/** A copy with some parts replaced: each bare quoted text is what it turned out to be. */
function explicit(part: unknown, found: Found): unknown {
  if (typeof part !== "object" || part === null || found.size === 0) return part;
  const known = found.get(part);
  if (known !== undefined) return known;
  if (Array.isArray(part)) return part.map((one) => explicit(one, found));
  return Object.fromEntries(
    Object.entries(part).map(([name, inner]) => [name, explicit(inner, found)]),
  );
}
