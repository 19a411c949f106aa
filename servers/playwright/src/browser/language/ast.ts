import type { Page } from "playwright";
import type { CHECKS } from "./checks.ts";
import type { ArgsOf } from "./pattern.ts";
import type { STEPS } from "./steps.ts";

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

export type Base =
  | { kind: "css"; css: string }
  | {
      kind: "role";
      role: Role;
      name: string | undefined;
      exact: boolean;
      /** Of a heading. */
      level?: number;
    }
  /** A field by its label or placeholder; without a text, any text field. */
  | { kind: "field"; text: string | undefined; exact: boolean }
  | {
      /** `quoted` is a bare string: text on the page, or what names a field or button if one is needed. */
      kind: "text" | "quoted" | "label" | "placeholder" | "alt" | "title" | "testid";
      text: string;
      /** The whole text in this letter case; otherwise a part of it, in any. */
      exact: boolean;
    }
  /** One without a role: by its test id, id, class or aria-label. */
  | { kind: "element"; text: string }
  /** A frame by its title, name or id: only around another target. */
  | { kind: "frame"; text: string };

/** An element of the page. */
export interface Target {
  /** `first`, `last`, or the position of `nth`, from 1. */
  readonly pick: "first" | "last" | number | undefined;
  readonly base: Base;
  readonly containing?: string;
  readonly inside: Target | undefined;
}

/** What a bare quoted text means: visible text, something to click, a field, or a field or button. */
export type Meaning = "text" | "clickable" | "field" | "control";

/**
 * The states of an element: how a bare quoted text names it, Playwright's matcher, and whether that is negated; or the
 * selector that an element in this state matches.
 */
export const STATES = {
  visible: ["text", "toBeVisible", false],
  hidden: ["text", "toBeHidden", false],
  enabled: ["control", "toBeEnabled", false],
  disabled: ["control", "toBeDisabled", false],
  checked: ["field", "toBeChecked", false],
  unchecked: ["field", "toBeChecked", true],
  editable: ["field", "toBeEditable", false],
  readonly: ["field", "toBeEditable", true],
  focused: ["control", "toBeFocused", false],
  empty: ["field", "toBeEmpty", false],
  "in viewport": ["text", "toBeInViewport", false],
  /** Of an image: its width is not 0. */
  loaded: ["text", "toHaveJSProperty", true],
  selected: [
    "field",
    ':checked, [aria-selected="true"], [aria-current]:not([aria-current="false"])',
  ],
  expanded: ["control", '[aria-expanded="true"], details[open], details[open] > summary'],
  collapsed: [
    "control",
    '[aria-expanded="false"], details:not([open]), details:not([open]) > summary',
  ],
  pressed: ["control", '[aria-pressed="true"]'],
  required: ["field", ':required, [aria-required="true"]'],
  invalid: ["field", ':invalid, [aria-invalid]:not([aria-invalid="false"])'],
} as const satisfies Record<
  string,
  readonly [Meaning, string, boolean] | readonly [Meaning, string]
>;
export type State = keyof typeof STATES;

export const SEVERITIES = ["minor", "moderate", "serious", "critical"] as const;
export type Severity = (typeof SEVERITIES)[number];

export const ABSENCES = [
  "console errors",
  "console warnings",
  "page errors",
  "failed requests",
  "broken images",
  "horizontal overflow",
  "mixed content",
] as const;
export type Absence = (typeof ABSENCES)[number];

export const TIMES = ["response time", "load time", "ttfb", "fcp", "lcp", "inp", "tbt"] as const;

export const DIRECTIONS = { down: [0, 1], up: [0, -1], right: [1, 0], left: [-1, 0] } as const;

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

export interface Point {
  readonly x: number;
  readonly y: number;
}

/** The value for `fill`: a text, or a secret that only the server knows. */
export type FillValue = { text: string } | { secret: string };

/** The response to a mocked request; `blocked`: no response at all; `sent`: the server's own. */
export type Reply =
  | "blocked"
  | "sent"
  /** The recorded ones of a HAR file. */
  | { har: string }
  /** The request goes on with a header of this name and value. */
  | { header: readonly [name: string, value: string] }
  | { status: number; body: string | undefined; file: string | undefined };

/** Presets of Chrome DevTools: latency in milliseconds and bytes per second. */
export const NETWORK_SPEEDS = {
  "slow 3g": { latency: 2_000, downloadThroughput: 50_000, uploadThroughput: 50_000 },
  "fast 3g": { latency: 562.5, downloadThroughput: 180_000, uploadThroughput: 84_375 },
  "fast 4g": { latency: 165, downloadThroughput: 1_012_500, uploadThroughput: 168_750 },
} as const;
export type NetworkSpeed = keyof typeof NETWORK_SPEEDS;

/** Every check and action: the name of its row, and the values of the slots in its sentence. */
type Parsed<Rows extends Record<string, { readonly form: string }>> = {
  [Kind in keyof Rows]: { readonly kind: Kind } & ArgsOf<Rows[Kind]["form"]>;
}[keyof Rows];
export type Check = Parsed<typeof CHECKS>;
export type Action = Parsed<typeof STEPS>;
export type ActionOf<Kind extends Action["kind"]> = Extract<Action, { kind: Kind }>;
export type CheckOf<Kind extends Check["kind"]> = Extract<Check, { kind: Kind }>;

export interface Assertion {
  readonly text: string;
  readonly negated: boolean;
  readonly check: Check;
  readonly within: number | undefined;
}

export interface Step {
  readonly text: string;
  readonly action: Action;
}
