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

export type Base =
  | { kind: "css"; css: string }
  | {
      kind: "role";
      role: Role;
      name: string | undefined;
      exact: boolean /** Of a heading. */;
      level?: number;
    }
  | {
      /** `quoted` is a bare string: text on the page, or a field's label or placeholder if a field is needed. */
      kind: "text" | "quoted" | "label" | "placeholder" | "alt" | "title" | "testid";
      text: string;
      /** The whole text in this letter case; otherwise a part of it, in any. */
      exact: boolean;
      at?: number;
    }
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

/** How a bare quoted text is interpreted: as visible text, as a field's label, or as a field's or button's name. */
export type Meaning = "text" | "field" | "control";

/** The states of an element: how a bare quoted text names it, Playwright's matcher, and whether that is negated. */
export const STATE_MATCHERS = {
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
} as const satisfies Record<string, readonly [Meaning, string, boolean]>;
export type State = keyof typeof STATE_MATCHERS;
const isState = (word: string): word is State => word in STATE_MATCHERS;
export const STATES: readonly State[] = Object.keys(STATE_MATCHERS).filter(isState);

export type Property =
  | { kind: "value" | "text" | "class" | "id" | "name"; compare: TextComparison }
  | { kind: "attribute"; name: string; compare: TextComparison | undefined }
  | { kind: "style"; name: string; compare: TextComparison };

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

export type Metric = "response time" | "load time" | "fcp" | "lcp" | "cls" | "page weight";

/** The requests that a sentence refers to: by URL, and by method if given. */
export interface RequestPattern {
  readonly method: string | undefined;
  readonly glob: string;
}

export type Check =
  | { kind: "page"; what: "title" | "url"; compare: TextComparison }
  /** `from` to `to`, both inclusive: 200 to 200, or 200 to 299 for `2xx`. */
  | { kind: "status"; from: number; to: number }
  | { kind: "text"; target: Target; compare: TextComparison }
  /** Playwright's ARIA snapshot in YAML; the target may have more than it names. */
  | { kind: "aria snapshot"; target: Target; snapshot: string }
  | { kind: "state"; target: Target; state: State; negated: boolean }
  | { kind: "existence"; target: Target; exists: boolean }
  | { kind: "property"; target: Target; property: Property }
  | { kind: "count"; target: Target; compare: NumberComparison }
  | { kind: "absence"; what: Absence }
  | { kind: "no target"; target: Target }
  | ({ kind: "no requests" } & RequestPattern)
  | { kind: "a11y"; severity: Severity; target: Target | undefined }
  | ({ kind: "request"; contains: string | undefined } & RequestPattern)
  | ({ kind: "response"; from: number; to: number } & RequestPattern)
  | ({ kind: "response body"; contains: string } & RequestPattern)
  | { kind: "console"; text: string }
  /** A finished download with this file name, in which `*` matches anything. */
  | { kind: "download"; name: string }
  | { kind: "dialog message"; compare: TextComparison }
  /** Milliseconds, a number (cls) or bytes. */
  | { kind: "metric"; metric: Metric; limit: number }
  /** `tolerance` is the share of pixels that may differ, 0 to 1. */
  | { kind: "screenshot"; target: Target | undefined; baseline: string; tolerance: number; masks: Target[] };

export interface Assertion {
  readonly text: string;
  readonly negated: boolean;
  readonly check: Check;
  readonly within: number | undefined;
}

/** The value for `fill`: a text, or a secret that only the server knows. */
export type FillValue = { text: string } | { secret: string };

export type Action =
  | { kind: "goto"; url: string }
  | { kind: "click"; target: Target; button: "left" | "right"; count: 1 | 2 }
  | { kind: "fill"; target: Target; value: FillValue }
  | { kind: "type"; value: FillValue; target: Target | undefined }
  | { kind: "press"; key: string; target: Target | undefined }
  | { kind: "check"; target: Target; checked: boolean }
  | { kind: "select"; options: string[]; target: Target }
  | { kind: "upload"; files: string[]; target: Target }
  | { kind: "hover" | "focus" | "clear"; target: Target }
  | { kind: "wait"; milliseconds: number }
  | { kind: "wait for"; assertion: Assertion }
  | { kind: "wait for load"; state: "load" | "idle" }
  | { kind: "scroll"; to: Target | "top" | "bottom" }
  | { kind: "drag"; from: Target; to: Target }
  | { kind: "dialog"; accept: boolean; text: string | undefined }
  | { kind: "history"; direction: "back" | "forward" }
  | { kind: "reload" }
  | { kind: "viewport"; width: number; height: number }
  | { kind: "screenshot"; name: string | undefined; target: Target | undefined }
  | { kind: "expect"; assertion: Assertion }
  /** `new`: one that opened and was not switched to yet. */
  | { kind: "switch tab"; to: number | "new" }
  | { kind: "close tab" }
  | ({ kind: "mock"; reply: Reply } & RequestPattern)
  | { kind: "offline"; offline: boolean }
  | { kind: "geolocation"; latitude: number; longitude: number }
  | { kind: "permission"; permission: string }
  | { kind: "time zone" | "locale"; value: string }
  | { kind: "clock"; time: string }
  | { kind: "fast forward"; milliseconds: number }
  | { kind: "throttle cpu"; rate: number }
  | { kind: "throttle network"; speed: NetworkSpeed }
  | { kind: "save state" | "use state"; name: string };

export type ActionOf<Kind extends Action["kind"]> = Extract<Action, { kind: Kind }>;
export type CheckOf<Kind extends Check["kind"]> = Extract<Check, { kind: Kind }>;

/** The response to a mocked request; `blocked`: no response at all. */
export type Reply = "blocked" | { status: number; body: string | undefined; file: string | undefined };

/** Presets of Chrome DevTools. */
export const NETWORK_SPEEDS = ["slow 3g", "fast 3g", "fast 4g"] as const;
export type NetworkSpeed = (typeof NETWORK_SPEEDS)[number];

export interface Step {
  readonly text: string;
  readonly action: Action;
}

/** Setup steps: at the beginning of a script they run before the page is opened. */
const SETUP: ReadonlySet<Action["kind"]> = new Set([
  "mock",
  "geolocation",
  "permission",
  "time zone",
  "locale",
  "clock",
  "throttle cpu",
  "throttle network",
  "use state",
]);

export function setupLength(steps: readonly Step[]): number {
  const first = steps.findIndex(({ action }) => !SETUP.has(action.kind));
  return first < 0 ? steps.length : first;
}
