import {
  type Chain,
  type Expectation,
  FIELD_STATES,
  type NumberComparison,
  STATES,
  type Target,
  type TextComparison,
} from "./ast.ts";
import { call, chainOf, containing, expected, hasForms, ofPage, PAGE } from "./locator.ts";
import type { ArgsOf } from "./values.ts";

/** A form of a sentence: the parser, the reference and the README's tables follow from it. */
export interface Row<Form extends string = string> {
  /** Its words and slots. */
  readonly form: Form;
  /** With a dot between them. */
  readonly examples: string;
}

/** An expectation that is not negated yet. */
type Plan = Omit<Expectation, "not"> & { readonly not?: boolean };

/** An assertion that Playwright's `expect` checks on the page or an element. */
export interface ElementRow<Form extends string = string> extends Row<Form> {
  expect(args: ArgsOf<Form>): Plan;
}

const check = <Form extends string>(
  form: Form,
  expect: ElementRow<Form>["expect"],
  examples: string,
): ElementRow<Form> => ({ form, expect, examples });

/** A sentence without a plan: an assertion about what a run recorded, or a step that is not one call. */
export const row = <Form extends string>(form: Form, examples: string): Row<Form> => ({
  ...{ form, examples },
});

const VISIBLE = call("filter", { visible: true });

function text(target: Target, compare: TextComparison): Plan {
  const { how, value, negated: not } = compare;
  if (target.base.kind === "field") return reading(target, "value", "toHaveValue", compare);
  const plan = { on: chainOf(target), reads: "text", not };
  if (how !== "contains") return { ...plan, matcher: "toHaveText", args: [expected(compare)] };
  const { base, pick, containing: inner, inside } = target;
  // The text of the whole page is what a reader sees of it.
  const isPage = base.kind === "page" && (pick ?? inner ?? inside) === undefined;
  if (!isPage)
    return {
      ...plan,
      matcher: "toContainText",
      args: [hasForms(value) ? containing(value) : value],
    };
  const on = { calls: [call("getByText", containing(value)), VISIBLE] };
  return { on, reads: "text", matcher: "toHaveCount", args: [0], not: !not };
}

/** A matcher that takes the whole value or a pattern, after the name of what it reads. */
const reading = (
  target: Target,
  reads: string,
  matcher: string,
  compare: TextComparison | undefined,
  name?: string,
): Plan => ({
  on: chainOf(target),
  ...{ reads, matcher, not: compare?.negated ?? false },
  args: [name, compare && expected(compare)].filter((arg) => arg !== undefined),
});

function state(target: Target, how: string, not: boolean): Plan {
  const all = chainOf(target);
  const [, opposite, matcher] = /^(not\.)?(to\w+)$/.exec(how) ?? [];
  if (matcher === undefined)
    return { on: all, polls: { css: how }, reads: "state", matcher: "toBe", args: [true], not };
  // Of a text that is also in a hidden menu, the visible one counts.
  const isSeen = /Visible|Hidden/.test(matcher) && target.base.kind === "text";
  const on = isSeen ? { calls: [...all.calls, VISIBLE] } : all;
  return { on, matcher, args: [], not: (opposite !== undefined) !== not };
}

const counted = (target: Target, not = false, count = 0): Expectation => ({
  on: chainOf(target),
  ...{ matcher: "toHaveCount", args: [count], not },
});

const NUMBER_MATCHERS = {
  ...{ ">=": "toBeGreaterThanOrEqual", "<=": "toBeLessThanOrEqual" },
  ...{ ">": "toBeGreaterThan", "<": "toBeLessThan" },
} as const;

const within = (target: Target, inside: Target): Target => ({
  ...target,
  inside: target.inside === undefined ? inside : within(target.inside, inside),
});

/** As XPath: with CSS, what is in a row has no ancestors. */
const CELL = "xpath=.//*[self::td[not(ancestor::thead)] or @role='cell' or @role='gridcell']";

/** In `table has 5 rows`, the header does not count. */
function itemsOf(target: Target): Chain {
  const { calls } = chainOf(target);
  if (target.base.role !== "row") return { calls };
  const cell = { calls: [call("locator", CELL)] };
  return { calls: [...calls, call("filter", { has: cell })] };
}

function numbered({ calls }: Chain, { how, value }: NumberComparison, isSeen = false): Plan {
  const on = { calls: isSeen ? [...calls, VISIBLE] : calls };
  if (how === "=") return { on, matcher: "toHaveCount", args: [value] };
  return { on, polls: "count", matcher: NUMBER_MATCHERS[how], args: [value] };
}

export const ELEMENTS = {
  page: check(
    "{what:page} {compare}",
    ({ what, compare }) => ({
      ...{ on: PAGE, not: compare.negated, args: [expected(ofPage(what, compare))] },
      matcher: what === "title" ? "toHaveTitle" : "toHaveURL",
    }),
    "title is 'Docs' · title matches /^docs/i · url contains '/done' · url ends with '/done'",
  ),
  text: check(
    "{target} [text] {compare}",
    ({ target, compare }) => text(target, compare),
    "h1 contains 'Docs' · h1 is 'Docs' · h1 does not contain 'x' · first li matches /^\\d+/",
  ),
  state: check(
    "{target} {negated:be} {state}",
    ({ target, negated, state: name }) => state(target, STATES[name], negated),
    "button 'Save' is enabled · 'Saved' is visible within 10s · .spinner is hidden",
  ),
  "field state": check(
    "{target:field} {negated:be} {state:field state}",
    ({ target, negated, state: name }) => state(target, FIELD_STATES[name], negated),
    "'I agree' is checked · #agree is not checked · field 'Search' is focused",
  ),
  existence: check(
    "{target} {exists}",
    ({ target, exists }) => counted(target, exists),
    "nav exists · link 'Old' does not exist",
  ),
  "no target": check("no {target}", ({ target }) => counted(target), "no .error"),
  count: check(
    "{target} count|has_count {compare:number}",
    ({ target, compare }) => numbered(chainOf(target), compare),
    "li count is 3 · li count at least 2",
  ),
  number: check(
    "[there_is|there_are] {compare:number} {target} [{seen}]",
    ({ target, compare, seen }) => numbered(itemsOf(target), compare, seen),
    "exactly 1 h1 · there are 3 buttons in nav · at least 2 li are visible",
  ),
  "number in": check(
    "{inside:target} has {compare:number} {target}",
    ({ inside, target, compare }) => ({
      ...numbered(itemsOf(within(target, inside)), compare),
      inside: inside.base.kind === "frame" ? undefined : counted(inside, false, 1),
    }),
    "table has 5 rows",
  ),
  value: check(
    "{target:field} [has|to_have] value {compare:wanted}",
    ({ target, compare }) => reading(target, "value", "toHaveValue", compare),
    "label 'Email' has value 'a@b.c'",
  ),
  // One class of several, as in class="button primary".
  class: check(
    "{target} [has|to_have] class {compare:wanted}",
    ({ target, compare }) =>
      reading(target, "class", compare.how === "is" ? "toContainClass" : "toHaveClass", compare),
    "h1 has class 'big'",
  ),
  style: check(
    "{target} [has|to_have] style|css {name} {compare:wanted}",
    ({ target, name, compare }) => reading(target, `style ${name}`, "toHaveCSS", compare, name),
    "h1 has style 'color' 'rgb(0, 0, 0)'",
  ),
  attribute: check(
    "{target} [has|to_have] {name:attribute} [{compare:wanted}]",
    ({ target, name, compare }) =>
      reading(target, `attribute ${name}`, "toHaveAttribute", compare, name),
    "link 'Docs' has href '/docs' · link 'Docs' has attribute 'href' contains '/x' · html has lang 'en'",
  ),
};

/** Assertions about what a run recorded; `check/` decides them. */
export const RECORDS = {
  status: row("status_code|status [is] {range}", "status is 200 · status 2xx"),
  absence: row(
    "no {what:absence}",
    "no console errors · no page errors · no failed requests · no broken images · no horizontal overflow",
  ),
  "no requests": row("no requests to {request}", "no requests to **/ads/**"),
  a11y: row(
    "no [{severity}] a11y|accessibility violations [in {target}]",
    "no serious a11y violations in main",
  ),
  request: row(
    "request to {request} [contains|has_body_containing|with_body_containing {contains:text}]",
    "request to POST /api/items contains 'Lamp' · request to **/api/items",
  ),
  response: row("response {request} status [is] {range}", "response /api/items status is 200"),
  download: row("download {name:text}", "download 'report.csv' · download '*.pdf'"),
  time: row(
    "{metric:time} under|below {limit:duration}",
    "load time under 2s · response time under 500ms · lcp under 2.5s",
  ),
  cls: row("cls under|below {limit:decimal}", "cls under 0.1"),
};

export const CHECKS = { ...ELEMENTS, ...RECORDS };
/** What is checked once, after the page has settled: absence is trivially true at first. */
export const LATE = new Set(["no target", "absence", "no requests", "a11y", "time", "cls"]);
