import type { Page } from "playwright";

export type Role = Parameters<Page["getByRole"]>[0];

/** How a text is compared. A pattern is checked in linear time (RE2), so a hostile page cannot stall it. */
export interface TextComparison {
  readonly how: "is" | "contains" | "matches";
  readonly value: string;
  readonly flags: string;
  readonly negated: boolean;
}

export interface NumberComparison {
  readonly how: "=" | "<" | "<=" | ">" | ">=";
  readonly value: number;
}

/** What a target is, without its position, its content and what it is in. */
export interface Base {
  /** Only a frame is around other targets; a field is also found by its placeholder. */
  readonly kind: "element" | "page" | "text" | "field" | "frame";
  readonly calls: readonly Call[];
  /** The other way to find it. */
  readonly or?: readonly Call[];
  readonly role?: Role;
  /** The name or text that it has. */
  readonly words?: string | undefined;
}

/** An element of the page. */
export interface Target {
  /** As the sentence has it. */
  readonly text: string;
  /** `first`, `last`, or the position of `nth`, from 1. */
  readonly pick: "first" | "last" | number | undefined;
  readonly base: Base;
  readonly containing?: string;
  readonly inside: Target | undefined;
}

/** The states of an element: Playwright's matcher for it, or the selector that an element in this state matches. */
export const STATES = {
  visible: "toBeVisible",
  hidden: "toBeHidden",
  enabled: "toBeEnabled",
  disabled: "toBeDisabled",
  "in viewport": "toBeInViewport",
  expanded: '[aria-expanded="true"], details[open], details[open] > summary',
  collapsed: '[aria-expanded="false"], details:not([open]), details:not([open]) > summary',
  pressed: '[aria-pressed="true"]',
} as const;

/** The states of a field, where a text alone is its label or placeholder. */
export const FIELD_STATES = {
  checked: "toBeChecked",
  unchecked: "not.toBeChecked",
  editable: "toBeEditable",
  readonly: "not.toBeEditable",
  focused: "toBeFocused",
  empty: "toBeEmpty",
  selected:
    ':checked, [aria-checked="true"], [aria-selected="true"], [aria-current]:not([aria-current="false"])',
  required: ':required, [aria-required="true"]',
  invalid: ':invalid, [aria-invalid]:not([aria-invalid="false"])',
} as const;

export const SEVERITIES = ["minor", "moderate", "serious", "critical"] as const;
export type Severity = (typeof SEVERITIES)[number];

export const ABSENCES = [
  "console errors",
  "page errors",
  "failed requests",
  "broken images",
  "horizontal overflow",
] as const;
export type Absence = (typeof ABSENCES)[number];

/** The requests that a sentence refers to: by URL, and by method if given. */
export interface RequestPattern {
  readonly method: string | undefined;
  readonly glob: string;
}

/** `from` to `to`, both inclusive: 200 to 200, or 200 to 299 for `2xx`. */
export interface StatusRange {
  readonly from: number;
  readonly to: number;
}

/** The response to a mocked request; `blocked`: no response at all. */
export type Reply =
  | "blocked"
  | { status: number; body: string | undefined; file: string | undefined };

/** One call of Playwright's API: `getByRole("button", { name: "Save" })`. */
export interface Call {
  readonly name: string;
  readonly args: readonly Argument[];
}

/** A locator: a chain of calls on the page. An empty chain is the page itself. */
export interface Chain {
  readonly calls: readonly Call[];
}

/** A route's response to requests with this method, or with any. */
export interface Answer {
  readonly method?: string | undefined;
  readonly reply: Reply;
  /** After this time in milliseconds. */
  readonly delay?: number | undefined;
}

export type Argument =
  | string
  | number
  | boolean
  | RegExp
  | Chain
  /** A value that only the server knows. */
  | { readonly secret: string }
  /** A file that it may read. */
  | { readonly file: string }
  /** The requests that a route handles. */
  | { readonly glob: string }
  | Answer
  | readonly Argument[]
  | { readonly [option: string]: Argument };

/** An assertion in Playwright: `expect(on).not.matcher(...args)`. A run executes it, a spec prints it. */
export interface Expectation {
  readonly on: Chain;
  /** That there is one of what has these elements: two tables with 5 rows in all are not a table with 5 rows. */
  readonly inside?: Expectation | undefined;
  /** Polls a value instead of asking the locator: the number of elements, or whether the element matches a selector. */
  readonly polls?: "count" | { readonly css: string };
  readonly not: boolean;
  readonly matcher: string;
  readonly args: readonly Argument[];
  /** What it reads of the element, for messages; undefined for its state, existence and number. */
  readonly reads?: string;
}

/** An action in Playwright: `on.method(...args, options)`. */
export interface Act {
  readonly on: Chain;
  /** A method of the page or locator; on the page also a path to one: `keyboard.press`, `context().setOffline`. */
  readonly method: string;
  readonly args: readonly Argument[];
  readonly options?: { readonly [option: string]: Argument };
  /** The element to name in messages; undefined for the page itself. */
  readonly target: Target | undefined;
}

/** A line that acts. */
export interface PlaywrightAction {
  readonly kind: "playwright";
  readonly act: Act;
  readonly line: string;
}

/** A line that expects. */
export interface PlaywrightCheck {
  readonly kind: "playwright";
  /** Undefined for the page. */
  readonly target: Target | undefined;
  readonly expectation: Expectation;
  readonly line: string;
}
