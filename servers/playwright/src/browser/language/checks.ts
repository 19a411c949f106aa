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
      also: `(page|the page|site|browser|tab|window) has [a|the] {what:page} {compare:wanted}
      see [a|the] {what:page} [as|:] {compare:wanted}
      have [a|the] {what:page} {compare:wanted}
      (am|be|is|are|remain|stay|land|end up|stays|remains) (on|at) {compare:urlPart} => what=url
      (be|am|is|are|get|gets|was) [still|now|then|back|again] (redirected|taken|navigated|directed|sent|brought|returned|forwarded|transferred) [back] to {compare:urlPart} => what=url
      (am|be|is|are|remain|stay|land|end up|stays|remains) [still|now|then|back] (on|at) {compare:pageName} => what=title
      (be|am|is|are|get|gets|was) (redirected|taken|navigated|directed|sent|brought|returned) [back] to {compare:pageName} => what=title
      (see|view) {compare:pageName} => what=title
      {compare:pageName} [is|should be|gets] (displayed|shown|opened|loaded|visible) => what=title
      {compare:pageName} (opens|loads|appears|should open|should load|should appear) => what=title
      (see|find) {compare:contained} (in|as|within) [the|a] {what:page}
      (see) [the|a] {compare:contained} {what:page}
      (redirect|redirected|redirects|redirection|navigation|navigate|navigates|navigated) [me|us|the user] to {compare:pageName} => what=title
      (am|be|is|are|remain|stay|land|end up|stays|remains) [still|now|then|back] (on|at) {compare:pageSlug} => what=url
      (be|am|is|are|get|gets|was|redirect|redirects|navigate|navigates) [still|now|then|back] [redirected|taken|navigated|directed|sent|brought|returned] [back] to {compare:pageSlug} => what=url
      (redirects|redirect|navigates|redirected) [me|us|the user|to the] to {compare:urlPart} => what=url
      {compare:contained} is in {what:page}
      (opens|open|goes to|go to) {compare:urlPart} => what=url
      (see|view) {compare:pageSlug} => what=url
      page {what:page} {compare:compared}
      {what:page} {compare:blank}`,
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
    "{target:texted} {compare}",
    ["h1 contains 'Docs'", "h1 is 'Docs'", "h1 does not contain 'x'", "first li matches /^\\d+/"],
    {
      also: `text (of|in|on|inside) {target:texted} {compare}
        see text (matching|that matches) {target:body}{compare:pattern}
        {target:texted} (text|label|caption) {compare:shown}
        ~ {target:described} {compare:shown}
        {target:texted} (with|has) [text|label|title|message|content] (of|as|:|is|equal to) {compare:wanted}
      {target:texted} has (text|content|label|message) {compare:wanted}
      page {target:body}contains [text|the text] {compare:holding}
      page {target:body}not (contain|show|display|has|include) [text|the text] {compare:lacking}`,
      expect: ({ target, compare }) =>
        isPage(target) && compare.how === "contains"
          ? {
              on: { calls: [call("getByText", containing(compare.value)), VISIBLE] },
              reads: "text",
              matcher: "toHaveCount",
              args: [0],
              not: !compare.negated,
            }
          : text(target, compare),
    },
  ),
  "aria snapshot": check(
    "a structure",
    "{target} matches aria snapshot {snapshot:quoted}",
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
      also: `(see|view|find|observe|notice|verify|get) {target:seen} => state=visible, negated=false
      (there) {target:seen} => state=visible, negated=false
      not (see|find|view) {target:seen} => state=hidden, negated=false
      {target:seen} appears => state=visible, negated=false
      {target:seen} disappears => state=hidden, negated=false
      {target:seen} not (appear|show|show up|display) => state=hidden, negated=false
      page contains [the] {target:thing} => state=visible, negated=false
      page not (contain|show|display|has|include) [the] {target:thing} => state=hidden, negated=false
      there not be {target:seen} => state=hidden, negated=false
      {target:popup} is (open|opened) => state=visible, negated=false
      focus is on {target} => state=focused, negated=false
      {target} is (in|the) focus => state=focused, negated=false
      text {target} {negated:be} {state}
      {target} {negated:be} {state} (in|inside|within) {target.inside:around}
      {target:seen} {negated:be} {state}
      {target} has focus => state=focused, negated=false
      ~ {target:seen} {state} => negated=false
      ~ (display|show|has|contain|render|present|include) {target:seen} => state=visible, negated=false
      ~ {near:seen} (is visible|is shown|is displayed|appears) [with|:|saying|containing] [the|text|the text|message|the words|the message] {target:said} [message|text] => state=visible, negated=false
      {target.inside:around} contains {target:part} => state=visible, negated=false
      {target} not contains [any] text => state=empty, negated=false
      {target} contains [any|some] text => state=empty, negated=true
      {target:control} should be {state:saidState} => negated=false
      ~ {target:seen} is in {target.inside:around} => state=visible, negated=false
      ~ (verify|check|assert|ensure|confirm|validate|expect|make sure) [for|that|the presence of] {target:seen} => state=visible, negated=false`,
      expect: ({ target, negated, state: name }) => state(target, name, negated),
    },
  ),
  existence: check("existence", "{target} {exists}", ["nav exists", "link 'Old' does not exist"], {
    also: "(there) {target} (in the dom|in dom|in the document) => exists=true",
    expect: ({ target, exists }) => ({
      on: chainOf(target),
      matcher: "toHaveCount",
      args: [0],
      not: exists,
    }),
  }),
  "no target": check("absence", "no {target}", ["no .error"], {
    also: "(there|has|see|find|contains|page has|page contains) no {target}",
    expect: ({ target }) => ({ on: chainOf(target), matcher: "toHaveCount", args: [0] }),
  }),
  count: check(
    "a number",
    "{target} count {compare:number}",
    ["li count is 3", "li count at least 2"],
    {
      also: `number of {target} {compare:number}
      (there|has|have|page has|page contains|contains|with) {compare:number} {target}
      {target} has [a] (count|length) [of] {compare:number}
      {target.inside:around} (has|contains) {compare:number} {target}
      (there|has|have|page has|page contains) {compare:number} {target:things}
      (see|there|find) {compare:some}{target:plural}
      (see|there|find) all {compare:some}{target}
      count of {target} {compare:number}
      {target} has count {compare:number}`,
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
      also: `value (of|in) {target} {compare}
      {target} value {compare}
      {target} (matches value|matches the value|is filled with|is populated with|is filled in with|is prefilled with|is pre-filled with|is set to|holds|holds the value|has the value|has a value of|has the value of|should be filled with|should be populated with|should be set to|contains the value|contains value|should have the value|is pre-populated with) {compare:wanted}
      {target:filled} has [the|a] (text|content) {compare:wanted}
      {target:filled} {compare}`,
      expect: ({ target, compare }) =>
        reading(target, "value", "toHaveValue", [expected(compare)], compare),
    },
  ),
  "selected option": check(
    "a property",
    "{field} has selected {compare:wanted}",
    ["label 'Color' has selected 'Blue'"],
    {
      also: `{field} has {compare:wanted} selected
      [the] selected option (of|in|for) {field} {compare}
      [the] (selected option|selected value|selection) (of|in|for) {field} {compare}
      {field} has [the] selected (option|value|text) {compare:wanted}
      ~ option {compare:wanted} is selected in {field}
      {compare:wanted} is selected in {field}
      selected option [text] {field:dropdown} {compare}`,
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
    also: `{target} has [the|a|css] [css] class [of|named] {compare:wanted}
      {target} not has [the|a|css] [css] class {compare:unwanted}`,
    expect: ({ target, compare }) =>
      // One class of several, as in class="button primary".
      compare.how === "is"
        ? reading(target, "class", "toContainClass", [compare.value], compare)
        : reading(target, "class", "toHaveClass", [expected(compare)], compare),
  }),
  id: check("a property", "{target} has id {compare:wanted}", ["h1 has id 'top'"], {
    also: "{target} has [the|an] id [of] {compare:wanted}",
    expect: ({ target, compare }) =>
      reading(target, "id", "toHaveId", [expected(compare)], compare),
  }),
  attribute: check(
    "a property",
    "{target} has attribute {name:attribute} [{compare:wanted}]",
    ["link 'Docs' has attribute 'href' contains '/x'"],
    {
      also: `{target} has [the|an|a] attribute [named] {name:attribute} [with value|with the value|of|with|equal to|set to|=] [{compare:wanted}]
      {target} has {name:known} [attribute|text] [of|equal to|with value|set to] {compare:wanted}
      {target} [attribute] {name:known} [attribute] {compare}
      {target} (links to|points to|leads to|should link to|should point to|goes to|link to) {compare:wanted} => name=href
      {target} attribute {name:attribute} {compare}
      attribute {name:attribute} of {target} {compare}
      attribute {name:attribute} of {target} has [the] value {compare:wanted}
      {name:known} [attribute] of {target} {compare}
      {target} has name {compare:wanted} => name=name`,
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
      also: `{target} has [css|the css|a css] (css|css property|property|style property) {name:attribute} [of|with value|set to] {compare:wanted}
      {target} style {name:attribute} {compare}`,
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
