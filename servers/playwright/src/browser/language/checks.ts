import { STATES, type State, type Target, type TextComparison } from "./ast.ts";
import { type Argument, call, chainOf, containing, expected, PAGE } from "./plan.ts";
import { RECORDS } from "./records.ts";
import { check, type Plan } from "./rows.ts";
import { isBox } from "./target.ts";

/** Whether a target is the whole page, whose text is what a reader sees of it. */
const isPage = ({ base, pick, containing, inside }: Target) =>
  base.kind === "css" && base.css === "body" && (pick ?? containing ?? inside) === undefined;

const VISIBLE = call("filter", { visible: true });

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
      on,
      polls: { css: how },
      matcher: "toBe",
      args: [!negated],
      ...(name === "invalid" ? { reads: name } : {}),
    };
  return {
    on,
    matcher: how,
    args: name === "loaded" ? ["naturalWidth", 0] : [],
    not: not !== negated,
  };
};

export const ELEMENTS = {
  page: check(
    "the page",
    "{what:page} {compare:compared}",
    ["title is 'Docs'", "title matches /^docs/i", "url contains '/done'"],
    {
      expect: ({ what, compare }) => ({
        on: PAGE,
        matcher: what === "title" ? "toHaveTitle" : "toHaveURL",
        args: [expected(compare)],
        not: compare.negated,
      }),
    },
  ),
  text: check(
    "a text",
    "{target} {compare}",
    ["h1 contains 'Docs'", "h1 is 'Docs'", "h1 does not contain 'x'", "first li matches /^\\d+/"],
    {
      expect: ({ target, compare }) =>
        isPage(target) && compare.how === "contains"
          ? {
              on: { calls: [call("getByText", containing(compare.value)), VISIBLE] },
              reads: "text",
              matcher: "toHaveCount",
              args: [0],
              not: !compare.negated,
            }
          : target.base.kind === "field"
            ? reading(target, "value", "toHaveValue", [expected(compare)], compare)
            : text(target, compare),
    },
  ),
  "aria snapshot": check(
    "a structure",
    "{target} matches aria snapshot {snapshot:text}",
    ['nav matches aria snapshot \'- navigation "Main":\\n  - link "Docs"\''],
    {
      expect: ({ target, snapshot }) => ({
        on: chainOf(target),
        matcher: "toMatchAriaSnapshot",
        args: [snapshot],
        reads: "snapshot",
      }),
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
    {
      expect: ({ target, negated, state: name }) => state(target, name, negated),
    },
  ),
  existence: check("existence", "{target} {exists}", ["nav exists", "link 'Old' does not exist"], {
    expect: ({ target, exists }) => ({
      on: chainOf(target),
      matcher: "toHaveCount",
      args: [0],
      not: exists,
    }),
  }),
  "no target": check("absence", "no {target}", ["no .error"], {
    expect: ({ target }) => ({ on: chainOf(target), matcher: "toHaveCount", args: [0] }),
  }),
  count: check(
    "a number",
    "{target} count {compare:number}",
    ["li count is 3", "li count at least 2"],
    {
      expect: ({ target, compare: { how, value } }) => {
        const on = chainOf(target);
        if (how === "=") return { on, matcher: "toHaveCount", args: [value] };
        return { on, polls: "count", matcher: NUMBER_MATCHERS[how], args: [value] };
      },
    },
  ),
  value: check(
    "a property",
    "{target} has value {compare:wanted}",
    ["label 'Email' has value 'a@b.c'"],
    {
      expect: ({ target, compare }) =>
        reading(target, "value", "toHaveValue", [expected(compare)], compare),
    },
  ),
  "selected option": check(
    "a property",
    "{field} has selected {compare:wanted}",
    ["label 'Color' has selected 'Blue'"],
    {
      expect: ({ field, compare }) => {
        const on = chainOf(field, "field");
        return {
          ...text(field, compare),
          on: { calls: [...on.calls, call("locator", "option:checked")] },
        };
      },
    },
  ),
  class: check("a property", "{target} has class {compare:wanted}", ["h1 has class 'big'"], {
    expect: ({ target, compare }) =>
      // One class of several, as in class="button primary".
      compare.how === "is"
        ? reading(target, "class", "toContainClass", [compare.value], compare)
        : reading(target, "class", "toHaveClass", [expected(compare)], compare),
  }),
  id: check("a property", "{target} has id {compare:wanted}", ["h1 has id 'top'"], {
    expect: ({ target, compare }) =>
      reading(target, "id", "toHaveId", [expected(compare)], compare),
  }),
  attribute: check(
    "a property",
    "{target} has attribute {name:attribute} [{compare:wanted}]",
    ["link 'Docs' has attribute 'href' contains '/x'"],
    {
      expect: ({ target, name, compare }) =>
        reading(
          target,
          `attribute ${name}`,
          "toHaveAttribute",
          compare === undefined ? [name] : [name, expected(compare)],
          compare,
        ),
    },
  ),
  style: check(
    "a property",
    "{target} has style {name:attribute} {compare:wanted}",
    ["h1 has style 'color' 'rgb(0, 0, 0)'"],
    {
      expect: ({ target, name, compare }) =>
        reading(target, `style ${name}`, "toHaveCSS", [name, expected(compare)], compare),
    },
  ),
};

const NUMBER_MATCHERS = {
  ">=": "toBeGreaterThanOrEqual",
  "<=": "toBeLessThanOrEqual",
  ">": "toBeGreaterThan",
  "<": "toBeLessThan",
} as const;

export const CHECKS = { ...ELEMENTS, ...RECORDS };
