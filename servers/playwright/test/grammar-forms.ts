import {
  ABSENCES,
  type Base,
  type Check,
  type NumberComparison,
  SEVERITIES,
  STATES,
  type Target,
  type TextComparison,
  TIMES,
} from "../src/browser/language/ast.ts";
import { CHECKS } from "../src/browser/language/checks.ts";
import { parseAssertion, parseStep } from "../src/browser/language/parse.ts";
import { STEPS } from "../src/browser/language/steps.ts";

// Records instead of lists: a new kind that is missing here does not compile.
type All<Name extends string> = Readonly<Record<Name, true>>;

const BASES: All<Base["kind"]> = {
  css: true,
  role: true,
  field: true,
  text: true,
  quoted: true,
  label: true,
  placeholder: true,
  alt: true,
  title: true,
  testid: true,
  element: true,
  frame: true,
};
const COMPARISONS: All<TextComparison["how"]> = { is: true, contains: true, matches: true };
const NUMBERS: All<NumberComparison["how"]> = {
  "=": true,
  "<": true,
  "<=": true,
  ">": true,
  ">=": true,
};

const tagged = (tag: string, names: readonly string[] | object) =>
  (Array.isArray(names) ? names : Object.keys(names)).map((name) => `${tag} ${name}`);

/** Every form of the language, by name. */
export const EVERY_FORM = {
  checks: [
    ...tagged("check", CHECKS),
    ...tagged("page", ["title", "url"]),
    ...tagged("state", STATES),
    ...tagged("absence", ABSENCES),
    ...tagged(
      "time",
      TIMES.filter((one) => one !== "inp"),
    ),
    ...tagged("severity", SEVERITIES),
    ...tagged("base", BASES),
    ...tagged("text", COMPARISONS),
    ...tagged("text not", COMPARISONS),
    ...tagged("number", NUMBERS),
    ...tagged("target", ["first", "last", "nth", "in", "containing", "level"]),
    ...tagged("assertion", ["not", "within", "plain"]),
  ],
  actions: tagged("step", STEPS),
  /** Steps that cannot fail on any page. */
  neverRefused: tagged("step", [
    "scroll",
    "wheel",
    "wait",
    "wait for load",
    "accept dialog",
    "mock",
    "delay",
    "har",
    "block",
    "header",
    "offline",
    "online",
    "throttle network",
    "throttle cpu",
    "geolocation",
    "permission",
    "time zone",
    "locale",
    "clock",
    "fast forward",
    "cookie",
    "local storage",
    "save state",
    "use state",
    "viewport",
  ]),
};

/** The forms that assertions use. */
export function formsOfChecks(texts: readonly string[]): ReadonlySet<string> {
  const forms = new Set<string>();
  for (const text of texts) {
    const { check, negated, within } = parseAssertion(text);
    forms.add(`check ${check.kind}`);
    forms.add(`assertion ${negated ? "not" : within === undefined ? "plain" : "within"}`);
    for (const form of partsOf(check)) forms.add(form);
  }
  return forms;
}

function partsOf(check: Check): string[] {
  const target = "target" in check && check.target !== undefined ? targetForms(check.target) : [];
  const compare =
    "compare" in check && check.compare !== undefined ? [comparison(check.compare)] : [];
  switch (check.kind) {
    case "page":
      return [`page ${check.what}`, ...compare];
    case "state":
      return [...target, `state ${check.state}`];
    case "absence":
      return [`absence ${check.what}`];
    case "a11y":
      return [...target, `severity ${check.severity ?? "minor"}`];
    case "time":
      return [`time ${check.metric}`];
    case "screenshot":
      return [...target, ...(check.masks ?? []).flatMap(targetForms)];
    default:
      return [...target, ...compare];
  }
}

const comparison = (compare: TextComparison | NumberComparison) =>
  "negated" in compare
    ? `text ${compare.negated ? "not " : ""}${compare.how}`
    : `number ${compare.how}`;

function targetForms({ pick, base, containing, inside }: Target): string[] {
  const picked = pick === undefined ? [] : [`target ${typeof pick === "number" ? "nth" : pick}`];
  return [
    `base ${base.kind}`,
    ...picked,
    ...(containing === undefined ? [] : ["target containing"]),
    ...(base.kind === "role" && base.level !== undefined ? ["target level"] : []),
    ...(inside === undefined ? [] : ["target in", ...targetForms(inside)]),
  ];
}

/** The forms that steps use. */
export const formsOfActions = (texts: readonly string[]): ReadonlySet<string> =>
  new Set(texts.map((text) => `step ${parseStep(text).action.kind}`));
