import { type Expectation, STATES, type State, type Target, type TextComparison } from "./ast.ts";
import { call, chainOf, containing, expected, PAGE, part } from "./locator.ts";
import { isBox } from "./target.ts";
import type { ArgsOf } from "./values.ts";

/** A form of a sentence: the parser, the reference and the README's tables follow from it. */
export interface Row<Form extends string = string> {
  /** Its part of the reference. */
  readonly topic: string;
  /** Its words and slots. */
  readonly form: Form;
  readonly examples: readonly [string, ...string[]];
}

/** An expectation that is not negated yet. */
type Plan = Omit<Expectation, "not"> & { readonly not?: boolean };

/** An assertion that Playwright's `expect` checks on the page or an element. */
export interface ElementRow<Form extends string = string> extends Row<Form> {
  expect(args: ArgsOf<Form>): Plan;
}

/** An assertion about what a run recorded; `check/` decides it. */
export interface RecordRow<Form extends string = string> extends Row<Form> {
  /** It is checked once, after the page has settled: absence is trivially true at first. */
  readonly isLate?: boolean;
}

const check = <Form extends string>(
  topic: string,
  form: Form,
  examples: Row["examples"],
  expect: ElementRow<Form>["expect"],
): ElementRow<Form> => ({ topic, form, examples, expect });

const record = <Form extends string>(
  topic: string,
  form: Form,
  ...examples: Row["examples"]
): RecordRow<Form> => ({ topic, form, examples });

const late = <Form extends string>(
  topic: string,
  form: Form,
  ...examples: Row["examples"]
): RecordRow<Form> => ({ topic, form, examples, isLate: true });

/** Whether a target is the whole page, whose text is what a reader sees of it. */
const isPage = ({ base, pick, containing: inner, inside }: Target) =>
  base.kind === "css" && base.css === "body" && (pick ?? inner ?? inside) === undefined;

const VISIBLE = call("filter", { visible: true });

const text = (on: Target, compare: TextComparison): Plan => ({
  on: chainOf(on),
  reads: "text",
  not: compare.negated,
  ...(compare.how === "contains"
    ? { matcher: "toContainText", args: [part(compare.value)] }
    : { matcher: "toHaveText", args: [expected(compare)] }),
});

/** A matcher that takes the whole value or a pattern, after other arguments. */
const reading = (
  target: Target,
  reads: string,
  matcher: string,
  compare?: TextComparison,
  ...before: string[]
): Plan => ({
  on: chainOf(target, reads === "value" ? "field" : "text"),
  ...{ reads, matcher, not: compare?.negated ?? false },
  args: compare === undefined ? before : [...before, expected(compare)],
});

const attribute = (target: Target, name: string, compare?: TextComparison): Plan =>
  reading(target, `attribute ${name}`, "toHaveAttribute", compare, name);

const state = (target: Target, name: State, negated: boolean): Plan => {
  // A chosen radio button or checkbox is checked.
  if (name === "selected" && isBox(target)) return state(target, "checked", negated);
  const [meaning, how, not] = STATES[name];
  const all = chainOf(target, meaning);
  // Of a text that is also in a hidden menu, the visible one counts.
  const isSeen =
    (name === "visible" || name === "hidden") && /^(?:quoted|text)$/.test(target.base.kind);
  const on = isSeen ? { calls: [...all.calls, VISIBLE] } : all;
  if (not === undefined)
    return {
      ...{ on, polls: { css: how }, matcher: "toBe", args: [!negated] },
      ...(name === "invalid" ? { reads: name } : {}),
    };
  return { on, matcher: how, args: [], not: not !== negated };
};

const NUMBER_MATCHERS = {
  ">=": "toBeGreaterThanOrEqual",
  "<=": "toBeLessThanOrEqual",
  ">": "toBeGreaterThan",
  "<": "toBeLessThan",
} as const;

const PROPERTY = "a property";

export const ELEMENTS = {
  page: check(
    "the page",
    "{what:page} {compare:compared}",
    ["title is 'Docs'", "title matches /^docs/i", "url contains '/done'"],
    ({ what, compare }) => ({
      on: PAGE,
      matcher: what === "title" ? "toHaveTitle" : "toHaveURL",
      args: [expected(compare)],
      not: compare.negated,
    }),
  ),
  text: check(
    "a text",
    "{target} [text] {compare}",
    ["h1 contains 'Docs'", "h1 is 'Docs'", "h1 does not contain 'x'", "first li matches /^\\d+/"],
    ({ target, compare }) => {
      if (target.base.kind === "field") return reading(target, "value", "toHaveValue", compare);
      if (!isPage(target) || compare.how !== "contains") return text(target, compare);
      const on = { calls: [call("getByText", containing(compare.value)), VISIBLE] };
      return { on, reads: "text", matcher: "toHaveCount", args: [0], not: !compare.negated };
    },
  ),
  state: check(
    `a state: ${Object.keys(STATES).join(", ")}`,
    "{target} {negated:be} {state}",
    [
      "button 'Save' is enabled",
      "'Saved' is visible",
      ".spinner is hidden",
      "#agree is not checked",
    ],
    ({ target, negated, state: name }) => state(target, name, negated),
  ),
  existence: check(
    "existence",
    "{target} {exists}",
    ["nav exists", "link 'Old' does not exist"],
    ({ target, exists }) => ({
      on: chainOf(target),
      matcher: "toHaveCount",
      args: [0],
      not: exists,
    }),
  ),
  "no target": check("absence", "no {target}", ["no .error"], ({ target }) => ({
    on: chainOf(target),
    matcher: "toHaveCount",
    args: [0],
  })),
  count: check(
    "a number",
    "{target} count|has_count {compare:number}",
    ["li count is 3", "li count at least 2"],
    ({ target, compare: { how, value } }) => {
      const on = chainOf(target);
      if (how === "=") return { on, matcher: "toHaveCount", args: [value] };
      return { on, polls: "count", matcher: NUMBER_MATCHERS[how], args: [value] };
    },
  ),
  value: check(
    PROPERTY,
    "{target} [has|to_have] value {compare:wanted}",
    ["label 'Email' has value 'a@b.c'"],
    ({ target, compare }) => reading(target, "value", "toHaveValue", compare),
  ),
  class: check(
    PROPERTY,
    "{target} has|to_have class {compare:wanted}",
    ["h1 has class 'big'"],
    ({ target, compare }) =>
      // One class of several, as in class="button primary".
      reading(target, "class", compare.how === "is" ? "toContainClass" : "toHaveClass", compare),
  ),
  attribute: check(
    PROPERTY,
    "{target} has|to_have attribute {name:attribute} [{compare:wanted}]",
    ["link 'Docs' has attribute 'href' contains '/x'"],
    ({ target, name, compare }) => attribute(target, name, compare),
  ),
  "common attribute": check(
    PROPERTY,
    "{target} [has|to_have] {name:common attribute} {compare:wanted}",
    ["link 'Docs' has href '/docs'"],
    ({ target, name, compare }) => attribute(target, name, compare),
  ),
  style: check(
    PROPERTY,
    "{target} has|to_have style|css {name:attribute} {compare:wanted}",
    ["h1 has style 'color' 'rgb(0, 0, 0)'"],
    ({ target, name, compare }) => reading(target, `style ${name}`, "toHaveCSS", compare, name),
  ),
};

const NETWORK = "the network";
const DID = "what it did";
const QUALITY = "quality";

export const RECORDS = {
  status: record("the page", "status_code|status [is] {range}", "status is 200", "status 2xx"),
  absence: late(
    "absence",
    "no {what:absence}",
    "no console errors",
    "no page errors",
    "no failed requests",
    "no broken images",
    "no horizontal overflow",
  ),
  "no requests": late("absence", "no requests to {request}", "no requests to **/ads/**"),
  a11y: late(
    "absence",
    "no [{severity}] a11y|accessibility violations [in {target}]",
    "no serious a11y violations in main",
  ),
  request: record(
    NETWORK,
    "request to {request} [contains {contains:text}]",
    "request to POST /api/items contains 'Lamp'",
    "request to **/api/items",
  ),
  response: record(
    NETWORK,
    "response {request} status [is] {range}",
    "response /api/items status is 200",
  ),
  download: record(DID, "download {name:text}", "download 'report.csv'", "download '*.pdf'"),
  time: late(
    QUALITY,
    "{metric:time} under|below {limit:duration}",
    "load time under 2s",
    "response time under 500ms",
    "lcp under 2.5s",
  ),
  cls: late(QUALITY, "cls under|below {limit:decimal}", "cls under 0.1"),
};

export const CHECKS = { ...ELEMENTS, ...RECORDS };
