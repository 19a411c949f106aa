import { ToolError } from "@refmcp/boundary/answer";
import { failure } from "../errors.ts";
import { CHECKS, type Row } from "./checks.ts";
import { LINES, TABLES } from "./help.ts";
import { isLine, readLine } from "./playwright-line.ts";
import { LanguageError, readForm, Sentence } from "./reader.ts";
import { CLAIMS_NOTHING, corrections, nearestExample, OF_WINDOW } from "./refused.ts";
import type { Action, Assertion, Check, Script, Step } from "./sentences.ts";
import { STEPS } from "./steps.ts";
import { readTarget } from "./target.ts";
import { SLOTS } from "./values.ts";

const ONE_OF = new Intl.ListFormat("en", { type: "disjunction" });
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
  const readAll = <Read>(label: string, texts: readonly string[], read: (text: string) => Read) => {
    const size = `${texts.length} ${label} were given; the limit is ${MAX_SENTENCES}.`;
    const hint = "Split them into several tests with pw_run_suite.";
    if (texts.length > MAX_SENTENCES) throw new ToolError("invalid", size, { hint });
    return texts.flatMap((text, index): Read[] => {
      const place = `${label}[${index}]`;
      try {
        if (text.length <= MAX_SENTENCE_CHARS) return [read(text)];
        problems.push(
          `${place} has ${text.length} characters; the limit is ${MAX_SENTENCE_CHARS}.`,
        );
      } catch (error) {
        if (!(error instanceof LanguageError)) throw error;
        problems.push(caretText(place, text.trimStart(), error));
      }
      return [];
    });
  };
  const script = {
    steps: readAll("steps", steps, parseStep),
    assertions: readAll("assertions", assertions, parseAssertion),
  };
  if (problems.length === 0) return script;
  const more = problems.length - MAX_PROBLEMS;
  const list = problems.slice(0, MAX_PROBLEMS).join("\n");
  throw failure("grammar", more > 0 ? `${list}\nand ${more} more.` : list);
}

/** A problem for the caller: the sentence, a caret below the position, what was expected there, and what to send. */
function caretText(label: string, text: string, { at, expected, advice }: LanguageError): string {
  const flat = text.replace(/\s/g, " ");
  const from = Math.max(0, at - 60);
  const excerpt = `${from > 0 ? "…" : ""}${flat.slice(from, at + 60)}`;
  const caret = " ".repeat(at - from + (from > 0 ? 1 : 0));
  return `${label} cannot be parsed:\n  ${excerpt}\n  ${caret}^ expected ${expected}\n  ${advice}`;
}

/** @throws LanguageError with the position of the problem. */
function parseAssertion(sentence: string): Assertion {
  const text = sentence.trim();
  if (isLine(text)) {
    const action = readLine(text);
    if (action.kind === "expect") return action.assertion;
    throw new LanguageError(0, "expect(…), since this is an assertion", `for example: ${LINES[2]}`);
  }
  return parsed(sentence.trimStart(), CHECKS, (reader) => {
    reader.takeWords(CLAIM);
    return readAssertion(reader);
  });
}

const CLAIM = "expect|verify|assert";
/** What the first of two claims says of both. */
const QUANTITY = /^(?:no|not|exactly|at\s+(?:most|least))\b/i;

/**
 * Parses one step: an action on the page, or `expect` and an assertion that must hold before the next step.
 *
 * @throws LanguageError with the position of the problem.
 */
export function parseStep(sentence: string): Step {
  const text = sentence.trim();
  if (isLine(text)) return { text, action: readLine(text) };
  return { text, action: parsed(sentence.trimStart(), STEPS, readAction) };
}

const isAction = (value: { readonly kind: string }): value is Action => value.kind in STEPS;
const isCheck = (value: { readonly kind: string }): value is Check => value.kind in CHECKS;

const readAction = (sentence: Sentence): Action | undefined =>
  readRows(sentence, STEPS, (value): Action | undefined => {
    if (!sentence.isAtEnd) return sentence.fail("the end of the step");
    return isAction(value) ? value : undefined;
  });

/** The first row whose form a sentence has, from here to its end. */
function readRows<Read>(
  sentence: Sentence,
  rows: Readonly<Record<string, Row>>,
  finish: (value: { readonly kind: string }) => Read | undefined,
): Read | undefined {
  for (const [kind, { form }] of Object.entries(rows)) {
    const read = sentence.try(() => {
      const args = readForm(form, sentence, ALL_SLOTS);
      return args && finish({ kind, ...args });
    });
    if (read !== undefined) return read;
  }
  return undefined;
}

/** Reads `check ["within" DURATION]`, up to the end of the sentence. */
function readAssertion(sentence: Sentence): Assertion | undefined {
  const { at } = sentence;
  const text = sentence.rest.trim();
  const read = readRows(sentence, CHECKS, (check): Assertion | undefined => {
    const isTimed = sentence.takeWords("within");
    const within = isTimed ? SLOTS.duration(sentence) : undefined;
    if (!isCheck(check) || (isTimed && within === undefined)) return undefined;
    if (!sentence.isAtEnd) return sentence.fail("the end, or within and a time");
    return { text, check, within };
  });
  return read ?? sentence.fail("an assertion", { at });
}

/** Reads an assertion, or a target alone, which becomes visible. */
function readAwaited(sentence: Sentence): Assertion | undefined {
  const { at, rest } = sentence;
  // Not the landmark of this role, which is visible on most pages.
  if (/^(?:the\s+)?navigation(?:\s+to\s.*)?$/i.test(rest))
    return sentence.refuse("what is to come, such as a URL", at, "wait for url contains '/done'");
  const alone = sentence.try((): Assertion | undefined => {
    const target = readTarget(sentence, "step");
    if (target === undefined || !sentence.isAtEnd) return undefined;
    const check = { kind: "state", target, state: "visible", negated: false } as const;
    return { text: `${rest.trim()} is visible`, check, within: undefined };
  });
  const read = alone ?? readAssertion(sentence);
  return read ?? sentence.fail("a time, a target, or an assertion", { at });
}

const ALL_SLOTS = { ...SLOTS, assertion: readAssertion, awaited: readAwaited };

function parsed<Value>(
  text: string,
  rows: Readonly<Record<string, Row>>,
  read: (sentence: Sentence) => Value | undefined,
): Value {
  const sentence = new Sentence(text);
  const value = read(sentence);
  if (value !== undefined) return value;
  const [prefix = ""] = new RegExp(`^(?:${CLAIM})\\s+`, "i").exec(text) ?? [];
  const claim = text.slice(prefix.length);
  const forms = (rows === STEPS && prefix === "" ? TABLES.steps : TABLES.checks).flat();
  const { misses } = sentence;
  const [{ at, isSure, example = "" } = { at: 0, isSure: false }] = misses;
  // At the beginning, almost everything is possible.
  const words = misses
    .map((miss) => miss.what)
    .filter((word) => isSure || at > 0 || !word.includes(" "));
  const whole = misses.findLast((miss) => miss.what.endsWith("an assertion"))?.what;
  const expected = ONE_OF.format(whole === undefined ? new Set(words) : [whole]);
  const head = CLAIMS_NOTHING.test(text.slice(at)) ? text.slice(0, at).trim() : "";
  const [, more = ""] = /^(?:,?\s*and|;|,)\s+(.+)/is.exec(text.slice(at)) ?? [];
  const two = [text.slice(0, at).trim(), prefix + more];
  const isOfBoth = QUANTITY.test(claim) && !QUANTITY.test(more);
  if (!isOfBoth && two.every((words) => read(new Sentence(words)) !== undefined))
    throw new LanguageError(at, "the end of the sentence", `for example: ${two.join(" · ")}`);
  const nearest = nearestExample(claim, forms) ?? "";
  // An example of a check is one of a step after the claim.
  const send = [...corrections(claim, prefix), head, example, prefix + example, prefix + nearest]
    // The first that can be read.
    .find((words) => read(new Sentence(words)) !== undefined);
  const advice = send === undefined ? "all forms: pw://help/assertions" : `for example: ${send}`;
  if (OF_WINDOW.test(claim))
    throw new LanguageError(at, "the argument devices", 'for example: devices: ["375x667"]');
  throw new LanguageError(at, expected, advice);
}
