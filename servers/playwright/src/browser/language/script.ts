import { ToolError } from "@refmcp/boundary/answer";
import { failure } from "../errors.ts";
import { parseAssertion } from "./assertion.ts";
import { type Assertion, type Check, type Step, setupLength } from "./ast.ts";
import { LanguageError } from "./reader.ts";
import { parseStep } from "./step.ts";

export interface Script {
  readonly steps: readonly Step[];
  readonly assertions: readonly Assertion[];
}

export const secretsOf = ({ steps }: Script): string[] =>
  steps.flatMap(({ action }) =>
    (action.kind === "fill" || action.kind === "type") && "secret" in action.value
      ? [action.value.secret]
      : [],
  );

export const checksOf = ({ steps, assertions }: Script): Check[] => [
  ...steps.flatMap(({ action }) => ("assertion" in action ? [action.assertion.check] : [])),
  ...assertions.map(({ check }) => check),
];

/** The saved states that a script needs, except those that it saves itself first. */
export const statesOf = ({ steps }: Script): string[] =>
  steps.flatMap(({ action }, index) =>
    action.kind === "use state" &&
    !steps.slice(0, index).some(({ action: one }) => one.kind === "save state" && one.name === action.name)
      ? [action.name]
      : [],
  );

const MAX_PROBLEMS = 5;
const MAX_SENTENCES = 100;
const MAX_SENTENCE_CHARS = 2_000;

/**
 * Parses a run's sentences before any browser is used.
 *
 * @throws ToolError `invalid` that shows each sentence that cannot be parsed (at most five), with a caret.
 */
export function parseScript(steps: readonly string[], assertions: readonly string[]): Script {
  const problems: string[] = [];
  for (const [label, all] of Object.entries({ steps, assertions }))
    if (all.length > MAX_SENTENCES)
      throw new ToolError(
        "invalid",
        `There are ${all.length} ${label}; at most ${MAX_SENTENCES} are allowed.`,
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
    if ((action.kind === "time zone" || action.kind === "locale") && index >= setupLength(script.steps))
      problems.push(`steps[${index}] ${JSON.stringify(text)} must come before the steps that use the page.`);
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

/** How each bare quoted text was resolved, by its position in the sentence. */
export type Found = Map<object, "label" | "placeholder" | "button">;

/** A sentence with its bare quoted texts made explicit: `fill label 'Email' with 'a'` for `fill 'Email' with 'a'`. */
export function explicit(sentence: string, parsed: unknown, found: Found): string {
  return insertions(parsed, found)
    .sort(([a], [b]) => b - a)
    .reduce((text, [at, word]) => `${text.slice(0, at)}${word} ${text.slice(at)}`, sentence.trim());
}

function insertions(part: unknown, found: Found): [at: number, word: string][] {
  if (typeof part !== "object" || part === null) return [];
  const word = found.get(part);
  const own: [number, string][] = word === undefined ? [] : [[Number(Reflect.get(part, "at")), word]];
  return [...own, ...Object.values(part).flatMap((inner) => insertions(inner, found))];
}
