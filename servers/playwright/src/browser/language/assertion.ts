import {
  ABSENCES,
  type Assertion,
  type Check,
  type Metric,
  type Property,
  SEVERITIES,
  STATES,
  type Target,
} from "./ast.ts";
import {
  duration,
  numberComparison,
  Reader,
  requestPattern,
  size,
  statusRange,
  textComparison,
} from "./reader.ts";
import { target } from "./target.ts";

const EXAMPLE = "h1 contains 'Docs'";

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

export function assertion(reader: Reader): Assertion {
  const start = reader.at;
  const negated = reader.takes("not");
  const check = checkOf(reader);
  reader.like(`${EXAMPLE} within 10s`);
  const within = reader.takes("within") ? duration(reader) : undefined;
  if (!reader.atEnd) throw reader.error("the end, or within and a time");
  return { text: reader.text.slice(start).trim(), negated, check, within };
}

function checkOf(reader: Reader): Check {
  if (reader.atEnd) throw reader.like(EXAMPLE).error("an assertion");
  for (const [words, parse] of Object.entries(CHECKS)) {
    const start = reader.at;
    const check = reader.takes(words) ? parse(reader) : undefined;
    if (check !== undefined) return check;
    reader.at = start;
  }
  return elementCheck(reader.like(EXAMPLE));
}

type Parse = (reader: Reader) => Check | undefined;
/** How a check is parsed after its first words, with an example for messages. */
const form =
  (example: string, parse: Parse): Parse =>
  (reader) =>
    parse(reader.like(example));
const time = (metric: Metric): Parse =>
  form(`${metric} under 500ms`, (reader) => underCheck(reader, metric, duration));

/** The checks that begin with these words; the others begin with a target. */
const CHECKS: Readonly<Record<string, Parse>> = {
  no: form("no console errors", absenceCheck),
  "request to": form("request to POST /api/items contains 'Lamp'", (reader) => {
    const pattern = requestPattern(reader);
    return { kind: "request", ...pattern, contains: reader.takes("contains") ? reader.string() : undefined };
  }),
  download: form("download 'report.csv'", (reader) => {
    return { kind: "download", name: reader.string("the file's name in quotes") };
  }),
  "dialog message": form("dialog message contains 'Sure?'", (reader) => {
    const compare = textComparison(reader);
    if (compare === undefined) throw reader.error("is, contains or matches");
    return { kind: "dialog message", compare };
  }),
  "response time": time("response time"),
  "load time": time("load time"),
  fcp: time("fcp"),
  lcp: time("lcp"),
  cls: form("cls under 0.1", (reader) => underCheck(reader, "cls", shift)),
  "page weight": form("page weight under 2 MB", (reader) => underCheck(reader, "page weight", size)),
  screenshot: form("screenshot of main matches baseline 'home' within 1% masking .clock", screenshotCheck),
  response: form("response **/api/items status is 200", (reader) => {
    reader.takes("of");
    const pattern = requestPattern(reader);
    if (reader.takes("contains")) return { kind: "response body", ...pattern, contains: reader.string() };
    reader.takes("has");
    reader.needs("status, or contains and a text", "status");
    reader.takes("is");
    return { kind: "response", ...pattern, ...statusRange(reader) };
  }),
  "console contains": form("console contains 'ready'", (reader) => {
    return { kind: "console", text: reader.string() };
  }),
  count: form("count of li is 3", (reader) => {
    reader.takes("of");
    return { kind: "count", target: target(reader), compare: numberComparison(reader) };
  }),
  title: form("title contains 'docs'", (reader) => pageCheck(reader, "title")),
  url: form("url contains 'docs'", (reader) => pageCheck(reader, "url")),
  // `status 'x'` is an element.
  status: form("status is 200", (reader) => {
    reader.takes("is");
    return /^\d/.test(reader.rest) ? { kind: "status", ...statusRange(reader) } : undefined;
  }),
};

function absenceCheck(reader: Reader): Check {
  const what = reader.takesOneOf(ABSENCES);
  if (what !== undefined) return { kind: "absence", what };
  if (reader.takes("requests to"))
    return { kind: "no requests", ...requestPattern(reader.like("no requests to **/ads/**")) };
  const start = reader.at;
  const severity = reader.takesOneOf(SEVERITIES);
  if (reader.takes("a11y violations", "accessibility violations")) {
    const inside = reader.takes("in") ? target(reader.like("no a11y violations in main")) : undefined;
    return { kind: "a11y", severity: severity ?? "minor", target: inside };
  }
  if (!/^(?:a11y|accessibility)\b/i.test(reader.rest)) reader.at = start;
  if (/^(?:console|page|failed|broken|horizontal|mixed|requests?|a11y|accessib\w*)\b/i.test(reader.rest))
    throw reader.unknownWord(`${ABSENCES.join(", ")}, requests to, a11y violations, or a target`, ABSENCES);
  return { kind: "no target", target: target(reader.like("no .error")) };
}

/** `title` and `url` refer to the page; `title 'x'` is an element. */
function pageCheck(reader: Reader, what: "title" | "url"): Check | undefined {
  const compare = textComparison(reader);
  if (compare !== undefined) return { kind: "page", what, compare };
  if (what === "title" && /^(?:exactly\s*)?['"“‘]/i.test(reader.rest)) return undefined;
  throw reader.unknownWord("is, contains or matches", ["is", "contains", "matches"]);
}

function underCheck(reader: Reader, metric: Metric, limitOf: (reader: Reader) => number): Check {
  reader.takes("is");
  reader.needs("under", "under", "below");
  return { kind: "metric", metric, limit: limitOf(reader) };
}

function shift(reader: Reader): number {
  const found = reader.takesPattern(/\d+(?:\.\d+)?(?![\w.])/);
  if (found === undefined) throw reader.error("a number such as 0.1");
  return Number(found[0]);
}

/** Names of baselines are file names: no separator, no dot at the beginning. */
export const isBaselineName = (name: string): boolean =>
  /^[A-Za-z0-9][A-Za-z0-9 _.-]{0,79}$/.test(name) && !name.includes("..");

function screenshotCheck(reader: Reader): Check {
  const shown = reader.takes("of") ? target(reader) : undefined;
  reader.needs("matches baseline and a name in quotes", "matches baseline", "matches");
  const baseline = reader.checked(
    "a name of letters, digits, spaces, _, . and - (at most 80)",
    (name) => isBaselineName(name) && !name.endsWith("."),
  );
  const percent = reader.takesPattern(/within\s+(\d+(?:\.\d+)?)\s*%/i);
  const tolerance = percent === undefined ? 0.002 : Number(percent[1]) / 100;
  if (tolerance > 1) throw reader.error("at most 100%");
  const masks: Target[] = [];
  if (reader.takes("masking")) {
    do masks.push(target(reader));
    while (reader.takesPattern(/,/) !== undefined || reader.takes("and"));
  }
  return { kind: "screenshot", target: shown, baseline, tolerance, masks };
}

function elementCheck(reader: Reader): Check {
  const element = target(reader);
  if (reader.takes("matches aria snapshot")) {
    const example = 'main matches aria snapshot \'- heading "Docs"\\n- link "Next"\'';
    return { kind: "aria snapshot", target: element, snapshot: reader.string(undefined, example) };
  }
  const compare = textComparison(reader);
  if (compare !== undefined) return { kind: "text", target: element, compare };
  if (reader.takes("exists")) return { kind: "existence", target: element, exists: true };
  if (reader.takes("does not exist", "doesn't exist"))
    return { kind: "existence", target: element, exists: false };
  if (reader.takes("has", "have")) return propertyCheck(reader, element);
  if (reader.takes("count"))
    return { kind: "count", target: element, compare: numberComparison(reader.like("li count is 3")) };
  const is = reader.takes("is", "are");
  const negated = reader.takes("not");
  const state = reader.takesOneOf(STATES);
  if (state !== undefined) return { kind: "state", target: element, state, negated };
  if (is) throw reader.unknownWord(`a text in quotes or ${STATES.join(", ")}`, STATES, "h1 is visible");
  throw reader.unknownWord("contains, is, matches, exists, does not exist, has or count", CONTINUATIONS);
}

const CONTINUATIONS = ["contains", "is", "matches", "exists", "does", "has", "count"];
const PROPERTIES = ["value", "text", "class", "id", "name"] as const;

function propertyCheck(reader: Reader, element: Target): Check {
  const property = (one: Property): Check => ({ kind: "property", target: element, property: one });
  const kind = reader.takesOneOf(PROPERTIES);
  if (kind !== undefined)
    return property({ kind, compare: comparisonOr(reader.like(`input has ${kind} 'x'`)) });
  if (reader.takes("attribute")) {
    const name = attributeName(reader.like("a has attribute 'href' 'https://example.com/'"));
    const more = reader.isAtString() || /^(?:is|contains|matches|not|does|equals)\b/i.test(reader.rest);
    return property({ kind: "attribute", name, compare: more ? comparisonOr(reader) : undefined });
  }
  if (reader.takes("style")) {
    const name = attributeName(reader.like("h1 has style 'color' 'rgb(0, 0, 0)'"));
    return property({ kind: "style", name, compare: comparisonOr(reader) });
  }
  if (reader.takes("count"))
    return { kind: "count", target: element, compare: numberComparison(reader.like("li has count 3")) };
  if (reader.takes("focus")) return { kind: "state", target: element, state: "focused", negated: false };
  throw reader.unknownWord(
    `${PROPERTIES.join(", ")}, attribute, style, count or focus`,
    [...PROPERTIES, "attribute", "style", "count", "focus"],
    "input has value 'x'",
  );
}

/** A comparison, or a text in quotes alone for `is`. */
const comparisonOr = (reader: Reader) =>
  textComparison(reader) ?? {
    how: "is" as const,
    value: reader.string("a text in quotes, contains or matches"),
    flags: "",
    negated: false,
  };

function attributeName(reader: Reader): string {
  const start = reader.at;
  const name = reader.isAtString() ? reader.string() : reader.takesPattern(/[A-Za-z_:][\w:.-]*/)?.[0];
  if (name === undefined || !/^[A-Za-z_:-][\w:.-]*$/.test(name)) throw reader.error("a name", start);
  return name;
}
