import { STATES, type State, type Target, type TextComparison } from "./ast.ts";
import type { Args, ArgsOf } from "./pattern.ts";
import { type Argument, chainOf, type Expectation, expected, PAGE } from "./plan.ts";
import { RECORDS } from "./records.ts";

/** A form of an assertion. */
export interface CheckRow<Form extends string = string> {
  /** Its canonical wording. */
  readonly form: Form;
  /** Other wordings, with the values that they imply. */
  readonly also: readonly (string | readonly [form: string, implied: Args])[];
  readonly example: string;
  /** Its part of the reference, and other examples there. */
  readonly topic: string;
  readonly examples?: readonly string[];
}

/** A form that Playwright's `expect` checks on the page or an element. */
export interface ElementRow<Form extends string = string> extends CheckRow<Form> {
  expect(args: ArgsOf<Form>): Plan;
}
/** An expectation that is not negated yet. */
export type Plan = Omit<Expectation, "not"> & { readonly not?: boolean };

const check = <Form extends string>(
  form: Form,
  row: Omit<ElementRow<Form>, "form" | "also"> & Partial<Pick<ElementRow<Form>, "also">>,
): ElementRow<Form> => ({ form, also: [], ...row });

const text = (on: Target, compare: TextComparison): Plan => ({
  on: chainOf(on),
  reads: "text",
  not: compare.negated,
  ...(compare.how === "contains"
    ? { matcher: "toContainText", args: [compare.value] }
    : { matcher: "toHaveText", args: [expected(compare)] }),
});

const reading = (
  target: Target,
  reads: string,
  matcher: string,
  args: Argument[],
  compare?: TextComparison,
): Plan => ({
  on: chainOf(target, reads === "value" ? "field" : "text"),
  reads,
  matcher,
  args,
  not: compare?.negated ?? false,
});

const state = (target: Target, name: State, negated: boolean): Plan => {
  const [meaning, matcher, not] = STATES[name];
  const on = chainOf(target, meaning);
  return { on, matcher, args: [], not: not !== negated };
};

export const ELEMENTS = {
  page: check("{what:page} {compare}", {
    topic: "the page",
    example: "title is 'Docs'",
    examples: ["title matches /^docs/i", "url contains '/done'"],
    also: ["page {what:page} {compare}"],
    expect: ({ what, compare }) => ({
      on: PAGE,
      matcher: what === "title" ? "toHaveTitle" : "toHaveURL",
      args: [expected(compare)],
      not: compare.negated,
    }),
  }),
  text: check("{target:texted} {compare}", {
    topic: "a text",
    example: "h1 contains 'Docs'",
    examples: ["h1 is 'Docs'", "h1 does not contain 'x'", "first li matches /^\\d+/"],
    also: ["{target:texted} has text {compare:wanted}"],
    expect: ({ target, compare }) => text(target, compare),
  }),
  "aria snapshot": check("{target} matches aria snapshot {snapshot:quoted}", {
    topic: "a structure",
    example: 'nav matches aria snapshot \'- navigation "Main":\\n  - link "Docs"\'',
    expect: ({ target, snapshot }) => ({
      on: chainOf(target),
      matcher: "toMatchAriaSnapshot",
      args: [snapshot],
      reads: "snapshot",
    }),
  }),
  state: check("{target} {negated:be} {state}", {
    topic: `a state: ${Object.keys(STATES).join(", ")}`,
    example: "button 'Save' is enabled",
    examples: ["'Saved' is visible", ".spinner is hidden", "#agree is not checked"],
    also: [["{target} has focus", { state: "focused", negated: false }]],
    expect: ({ target, negated, state: name }) => state(target, name, negated),
  }),
  existence: check("{target} {exists}", {
    topic: "existence",
    example: "nav exists",
    examples: ["link 'Old' does not exist"],
    expect: ({ target, exists }) => ({ on: chainOf(target), matcher: "toHaveCount", args: [0], not: exists }),
  }),
  "no target": check("no {target}", {
    topic: "absence",
    example: "no .error",
    expect: ({ target }) => ({ on: chainOf(target), matcher: "toHaveCount", args: [0] }),
  }),
  count: check("{target} count {compare:number}", {
    topic: "a number",
    example: "li count is 3",
    examples: ["li count at least 2"],
    also: ["count of {target} {compare:number}", "{target} has count {compare:number}"],
    expect: ({ target, compare: { how, value } }) => {
      const on = chainOf(target);
      if (how === "=") return { on, matcher: "toHaveCount", args: [value] };
      return { on, polls: "count", matcher: NUMBER_MATCHERS[how], args: [value] };
    },
  }),
  value: check("{target} has value {compare:wanted}", {
    topic: "a property",
    example: "label 'Email' has value 'a@b.c'",
    also: ["{target:filled} {compare}"],
    expect: ({ target, compare }) => reading(target, "value", "toHaveValue", [expected(compare)], compare),
  }),
  class: check("{target} has class {compare:wanted}", {
    topic: "a property",
    example: "h1 has class 'big'",
    expect: ({ target, compare }) =>
      // One class of several, as in class="button primary".
      compare.how === "is"
        ? reading(target, "class", "toContainClass", [compare.value], compare)
        : reading(target, "class", "toHaveClass", [expected(compare)], compare),
  }),
  id: check("{target} has id {compare:wanted}", {
    topic: "a property",
    example: "h1 has id 'top'",
    expect: ({ target, compare }) => reading(target, "id", "toHaveId", [expected(compare)], compare),
  }),
  attribute: check("{target} has attribute {name:attribute} [{compare:wanted}]", {
    topic: "a property",
    example: "link 'Docs' has attribute 'href' contains '/x'",
    also: [["{target} has name {compare:wanted}", { name: "name" }]],
    expect: ({ target, name, compare }) =>
      reading(
        target,
        `attribute ${name}`,
        "toHaveAttribute",
        compare === undefined ? [name] : [name, expected(compare)],
        compare,
      ),
  }),
  style: check("{target} has style {name:attribute} {compare:wanted}", {
    topic: "a property",
    example: "h1 has style 'color' 'rgb(0, 0, 0)'",
    expect: ({ target, name, compare }) =>
      reading(target, `style ${name}`, "toHaveCSS", [name, expected(compare)], compare),
  }),
};

const NUMBER_MATCHERS = {
  ">=": "toBeGreaterThanOrEqual",
  "<=": "toBeLessThanOrEqual",
  ">": "toBeGreaterThan",
  "<": "toBeLessThan",
} as const;

export const CHECKS = { ...ELEMENTS, ...RECORDS };
