import { parseAssertion } from "../src/browser/language/assertion.ts";
import {
  type Absence,
  type Action,
  type Base,
  type Check,
  type Metric,
  type NumberComparison,
  type Property,
  SEVERITIES,
  STATES,
  type Target,
  type TextComparison,
} from "../src/browser/language/ast.ts";
import { parseStep } from "../src/browser/language/step.ts";

// Records instead of lists: a new form of the language that is missing here does not compile.
type All<Name extends string> = Readonly<Record<Name, true>>;

const CHECK_KINDS: All<Check["kind"]> = {
  page: true,
  status: true,
  text: true,
  state: true,
  existence: true,
  property: true,
  count: true,
  absence: true,
  "no target": true,
  "no requests": true,
  a11y: true,
  request: true,
  response: true,
  console: true,
  metric: true,
  screenshot: true,
  "aria snapshot": true,
  "response body": true,
  download: true,
  "dialog message": true,
};
const ABSENCE_KINDS: All<Absence> = {
  "console errors": true,
  "console warnings": true,
  "page errors": true,
  "failed requests": true,
  "broken images": true,
  "horizontal overflow": true,
  "mixed content": true,
};
const METRICS: All<Metric> = {
  "response time": true,
  "load time": true,
  fcp: true,
  lcp: true,
  cls: true,
  "page weight": true,
};
const PROPERTIES: All<Property["kind"]> = {
  value: true,
  text: true,
  class: true,
  id: true,
  name: true,
  attribute: true,
  style: true,
};
const BASES: All<Base["kind"]> = {
  css: true,
  role: true,
  text: true,
  quoted: true,
  label: true,
  placeholder: true,
  alt: true,
  title: true,
  testid: true,
  frame: true,
};
const COMPARISONS: All<TextComparison["how"]> = { is: true, contains: true, matches: true };
const NUMBERS: All<NumberComparison["how"]> = { "=": true, "<": true, "<=": true, ">": true, ">=": true };
const ACTIONS: All<Action["kind"]> = {
  goto: true,
  click: true,
  fill: true,
  type: true,
  press: true,
  check: true,
  select: true,
  upload: true,
  hover: true,
  focus: true,
  clear: true,
  wait: true,
  "wait for": true,
  "wait for load": true,
  scroll: true,
  drag: true,
  dialog: true,
  history: true,
  reload: true,
  viewport: true,
  screenshot: true,
  expect: true,
  "switch tab": true,
  "close tab": true,
  mock: true,
  offline: true,
  geolocation: true,
  permission: true,
  "time zone": true,
  locale: true,
  clock: true,
  "fast forward": true,
  "throttle cpu": true,
  "throttle network": true,
  "save state": true,
  "use state": true,
};

const tagged = (tag: string, names: readonly string[] | All<string>) =>
  (Array.isArray(names) ? names : Object.keys(names)).map((name) => `${tag} ${name}`);

/** Every form of the language, by name. */
export const EVERY_FORM = {
  checks: [
    ...tagged("check", CHECK_KINDS),
    ...tagged("page", ["title", "url"]),
    ...tagged("state", STATES),
    ...tagged("absence", ABSENCE_KINDS),
    ...tagged("metric", METRICS),
    ...tagged("property", PROPERTIES),
    ...tagged("severity", SEVERITIES),
    ...tagged("base", BASES),
    ...tagged("text", COMPARISONS),
    ...tagged("text not", COMPARISONS),
    ...tagged("number", NUMBERS),
    ...tagged("target", ["first", "last", "nth", "in", "containing", "level"]),
    ...tagged("assertion", ["not", "within", "plain"]),
  ],
  actions: tagged("step", ACTIONS),
  /** Steps that cannot fail on any page. */
  neverRefused: tagged("step", [
    "wait",
    "viewport",
    "mock",
    "offline",
    "geolocation",
    "permission",
    "time zone",
    "locale",
    "clock",
    "fast forward",
    "throttle cpu",
    "throttle network",
    "save state",
    "use state",
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
  switch (check.kind) {
    case "dialog message":
      return [comparison(check.compare)];
    case "page":
      return [`page ${check.what}`, comparison(check.compare)];
    case "text":
      return [...target, comparison(check.compare)];
    case "state":
      return [...target, `state ${check.state}`];
    case "property": {
      const { kind, compare } = check.property;
      return [...target, `property ${kind}`, ...(compare === undefined ? [] : [comparison(compare)])];
    }
    case "count":
      return [...target, `number ${check.compare.how}`];
    case "absence":
      return [`absence ${check.what}`];
    case "a11y":
      return [...target, `severity ${check.severity}`];
    case "metric":
      return [`metric ${check.metric}`];
    case "screenshot":
      return [...target, ...check.masks.flatMap(targetForms)];
    default:
      return target;
  }
}

const comparison = ({ how, negated }: TextComparison) => `text ${negated ? "not " : ""}${how}`;

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
