import type { Absence, Assertion, Check, Property, Target } from "./ast.ts";
import { STATES } from "./ast.ts";
import { networkCheck, qualityCheck, severityOf } from "./quality.ts";
import { LanguageError, Reader } from "./reader.ts";
import { target } from "./target.ts";
import { duration, numberComparison, requestPattern, statusRange, textComparison } from "./values.ts";

const EXAMPLE = "h1 contains 'Docs'";
const SNAPSHOT = 'main matches aria snapshot \'- heading "Docs"\\n- link "Next"\'';
const CONTINUATIONS = ["contains", "is", "matches", "exists", "does", "has", "count"];

/**
 * Parses one assertion: `["expect"] ["not"] check ["within" DURATION]`.
 *
 * @throws LanguageError with the position of the problem.
 */
export function parseAssertion(text: string): Assertion {
  const reader = new Reader(text);
  reader.takes("expect");
  return assertion(reader);
}

/** Parses an assertion from the reader's position to the end. */
export function assertion(reader: Reader): Assertion {
  const start = reader.at;
  const negated = reader.takes("not");
  const check = checkOf(reader);
  const within = reader.takes("within") ? duration(reader, "h1 contains 'Docs' within 10s") : undefined;
  reader.end("the end, or within and a time", `${EXAMPLE} within 10s`);
  return { text: reader.text.slice(start).trim(), negated, check, within };
}

function checkOf(reader: Reader): Check {
  if (reader.atEnd) throw reader.error("an assertion", EXAMPLE);
  return (
    absenceCheck(reader) ??
    networkCheck(reader) ??
    qualityCheck(reader) ??
    countOf(reader) ??
    pageCheck(reader) ??
    elementCheck(reader)
  );
}

const ABSENCES: readonly Absence[] = [
  "console errors",
  "console warnings",
  "page errors",
  "failed requests",
  "broken images",
  "horizontal overflow",
  "mixed content",
];

function absenceCheck(reader: Reader): Check | undefined {
  if (!reader.takes("no")) return undefined;
  const example = "no console errors";
  const what = reader.takesOneOf(ABSENCES);
  if (what !== undefined) return { kind: "absence", what };
  if (reader.takes("requests to"))
    return { kind: "no requests", ...requestPattern(reader, "no requests to **/ads/**") };
  const severity = severityOf(reader);
  if (reader.takes("a11y violations") || reader.takes("accessibility violations")) {
    const inside = reader.takes("in") ? target(reader, "no a11y violations in main") : undefined;
    return { kind: "a11y", severity: severity ?? "minor", target: inside };
  }
  if (/^(?:console|page|failed|broken|horizontal|mixed|requests?|a11y|accessib\w*)\b/i.test(reader.rest))
    throw reader.unknownWord(
      `${ABSENCES.join(", ")}, requests to, a11y violations, or a target`,
      ABSENCES,
      example,
    );
  return { kind: "no target", target: target(reader, "no .error") };
}

function countOf(reader: Reader): Check | undefined {
  if (!reader.takes("count")) return undefined;
  reader.takes("of");
  const example = "count of li is 3";
  const counted = target(reader, example);
  return { kind: "count", target: counted, compare: numberComparison(reader, example) };
}

/** `title`, `url` and `status` refer to the page; `title 'x'` or `status 'x'` is an element. */
function pageCheck(reader: Reader): Check | undefined {
  const start = reader.at;
  const what = reader.takesOneOf(["title", "url"] as const);
  if (what !== undefined) {
    const compare = textComparison(reader);
    if (compare !== undefined) return { kind: "page", what, compare };
    if (what === "title" && /^(?:exactly\s*)?['"“‘]/i.test(reader.rest)) {
      reader.at = start;
      return undefined;
    }
    throw reader.unknownWord(
      "is, contains or matches",
      ["is", "contains", "matches"],
      `${what} contains 'docs'`,
    );
  }
  if (!reader.takes("status")) return undefined;
  if (reader.sees("is") || /^[\d]/.test(reader.rest)) {
    reader.takes("is");
    if (/^\d/.test(reader.rest)) return { kind: "status", ...statusRange(reader, "status is 200") };
  }
  reader.at = start;
  return undefined;
}

function elementCheck(reader: Reader): Check {
  const element = target(reader, EXAMPLE);
  if (reader.takes("matches aria snapshot"))
    return { kind: "aria snapshot", target: element, snapshot: reader.string(SNAPSHOT) };
  const compare = textComparison(reader);
  if (compare !== undefined) return { kind: "text", target: element, compare };
  if (reader.takes("exists")) return { kind: "existence", target: element, exists: true };
  if (reader.takes("does not exist") || reader.takes("doesn't exist"))
    return { kind: "existence", target: element, exists: false };
  if (reader.takes("has") || reader.takes("have")) return propertyCheck(reader, element);
  if (reader.takes("count"))
    return { kind: "count", target: element, compare: numberComparison(reader, "li count is 3") };
  const is = reader.takes("is") || reader.takes("are");
  const negated = reader.takes("not");
  const state = reader.takesOneOf(STATES);
  if (state !== undefined) return { kind: "state", target: element, state, negated };
  if (is) throw reader.unknownWord(`a text in quotes or ${STATES.join(", ")}`, STATES, "h1 is visible");
  throw reader.unknownWord(
    "contains, is, matches, exists, does not exist, has or count",
    CONTINUATIONS,
    EXAMPLE,
  );
}

const PROPERTIES = ["value", "text", "class", "id", "name"] as const;

function propertyCheck(reader: Reader, element: Target): Check {
  const kind = reader.takesOneOf(PROPERTIES);
  if (kind !== undefined)
    return property(element, { kind, compare: comparisonOr(reader, `input has ${kind} 'x'`) });
  if (reader.takes("attribute")) {
    const example = "a has attribute 'href' 'https://example.com/'";
    const name = attributeName(reader, example);
    const more = reader.isAtString() || /^(?:is|contains|matches|not|does|equals)\b/i.test(reader.rest);
    return property(element, {
      kind: "attribute",
      name,
      compare: more ? comparisonOr(reader, example) : undefined,
    });
  }
  if (reader.takes("style")) {
    const example = "h1 has style 'color' 'rgb(0, 0, 0)'";
    const name = attributeName(reader, example);
    return property(element, { kind: "style", name, compare: comparisonOr(reader, example) });
  }
  if (reader.takes("count"))
    return { kind: "count", target: element, compare: numberComparison(reader, "li has count 3") };
  if (reader.takes("focus")) return { kind: "state", target: element, state: "focused", negated: false };
  throw reader.unknownWord(
    `${PROPERTIES.join(", ")}, attribute, style, count or focus`,
    [...PROPERTIES, "attribute", "style", "count", "focus"],
    "input has value 'x'",
  );
}

const property = (element: Target, one: Property): Check => ({
  kind: "property",
  target: element,
  property: one,
});

/** A comparison, or a text in quotes alone for `is`. */
function comparisonOr(reader: Reader, example: string) {
  const compare = textComparison(reader);
  if (compare !== undefined) return compare;
  return {
    how: "is" as const,
    value: reader.string(example, "a text in quotes, contains or matches"),
    flags: "",
    negated: false,
  };
}

function attributeName(reader: Reader, example: string): string {
  const start = reader.at;
  const name = reader.isAtString() ? reader.string(example) : reader.takesPattern(/[A-Za-z_:][\w:.-]*/)?.[0];
  if (name === undefined || !/^[A-Za-z_:-][\w:.-]*$/.test(name))
    throw new LanguageError(start, "a name", example);
  return name;
}
