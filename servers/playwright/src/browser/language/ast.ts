import type { Role } from "./roles.ts";

/** How a text is compared. A pattern is checked in linear time (RE2), so a hostile page cannot stall it. */
export interface TextComparison {
  readonly how: "is" | "contains" | "matches";
  /** The expected text, or the pattern's source. */
  readonly value: string;
  /** The pattern's flags (`i`, `m`, `s`, `u`). */
  readonly flags: string;
  readonly negated: boolean;
}

export interface NumberComparison {
  readonly how: "=" | "<" | "<=" | ">" | ">=";
  readonly value: number;
}

export type Base =
  | { readonly kind: "css"; readonly css: string }
  | {
      readonly kind: "role";
      readonly role: Role;
      readonly name: string | undefined;
      readonly exact: boolean;
      /** Of a heading, 1 to 6. */
      readonly level?: number;
    }
  | {
      /** `quoted` is a bare string: text on the page, or a field's label or placeholder if a field is needed. */
      readonly kind: "text" | "quoted" | "label" | "placeholder" | "alt" | "title" | "testid";
      readonly text: string;
      /** The whole text in this letter case; otherwise a part of it, in any. */
      readonly exact: boolean;
      /** The position of a bare string in its sentence. */
      readonly at?: number;
    }
  /** A frame by its title, name or id: only around another target. */
  | { readonly kind: "frame"; readonly text: string };

/** An element of the page. */
export interface Target {
  /** `first`, `last`, or the position of `nth`, from 1. */
  readonly pick: "first" | "last" | number | undefined;
  readonly base: Base;
  /** Text that it must contain. */
  readonly containing?: string;
  readonly inside: Target | undefined;
}

export const STATES = [
  "visible",
  "hidden",
  "enabled",
  "disabled",
  "checked",
  "unchecked",
  "editable",
  "readonly",
  "focused",
  "empty",
  "in viewport",
] as const;
export type State = (typeof STATES)[number];

export type Property =
  | { readonly kind: "value" | "text" | "class" | "id" | "name"; readonly compare: TextComparison }
  | { readonly kind: "attribute"; readonly name: string; readonly compare: TextComparison | undefined }
  | { readonly kind: "style"; readonly name: string; readonly compare: TextComparison };

export const SEVERITIES = ["minor", "moderate", "serious", "critical"] as const;
export type Severity = (typeof SEVERITIES)[number];

export type Absence =
  | "console errors"
  | "console warnings"
  | "page errors"
  | "failed requests"
  | "broken images"
  | "horizontal overflow"
  | "mixed content";

export type Metric = "response time" | "load time" | "fcp" | "lcp" | "cls" | "page weight";

/** The requests that a sentence refers to: by URL, and by method if given. */
export interface RequestPattern {
  readonly method: string | undefined;
  readonly glob: string;
}

export type Check =
  | { readonly kind: "page"; readonly what: "title" | "url"; readonly compare: TextComparison }
  /** `from` to `to`, both inclusive: 200 to 200, or 200 to 299 for `2xx`. */
  | { readonly kind: "status"; readonly from: number; readonly to: number }
  | { readonly kind: "text"; readonly target: Target; readonly compare: TextComparison }
  /** Playwright's ARIA snapshot in YAML; the target may have more than it names. */
  | { readonly kind: "aria snapshot"; readonly target: Target; readonly snapshot: string }
  | { readonly kind: "state"; readonly target: Target; readonly state: State; readonly negated: boolean }
  | { readonly kind: "existence"; readonly target: Target; readonly exists: boolean }
  | { readonly kind: "property"; readonly target: Target; readonly property: Property }
  | { readonly kind: "count"; readonly target: Target; readonly compare: NumberComparison }
  | { readonly kind: "absence"; readonly what: Absence }
  | { readonly kind: "no target"; readonly target: Target }
  | ({ readonly kind: "no requests" } & RequestPattern)
  | { readonly kind: "a11y"; readonly severity: Severity; readonly target: Target | undefined }
  /** `contains` is a text in the request's body. */
  | ({ readonly kind: "request"; readonly contains: string | undefined } & RequestPattern)
  | ({ readonly kind: "response"; readonly from: number; readonly to: number } & RequestPattern)
  | ({ readonly kind: "response body"; readonly contains: string } & RequestPattern)
  | { readonly kind: "console"; readonly text: string }
  /** A finished download with this file name, in which `*` matches anything. */
  | { readonly kind: "download"; readonly name: string }
  /** The message of any alert, confirmation or prompt so far. */
  | { readonly kind: "dialog message"; readonly compare: TextComparison }
  /** Milliseconds, a number (cls) or bytes. */
  | { readonly kind: "metric"; readonly metric: Metric; readonly limit: number }
  | {
      readonly kind: "screenshot";
      readonly target: Target | undefined;
      readonly baseline: string;
      /** The share of pixels that may differ, 0 to 1. */
      readonly tolerance: number;
      readonly masks: readonly Target[];
    };

export interface Assertion {
  /** The original text, trimmed. */
  readonly text: string;
  readonly negated: boolean;
  readonly check: Check;
  /** Maximum wait in milliseconds; undefined: the default. */
  readonly within: number | undefined;
}

/** The value for `fill`: a text, or a secret that only the server knows. */
export type FillValue = { readonly text: string } | { readonly secret: string };

export type Action =
  | { readonly kind: "goto"; readonly url: string }
  | {
      readonly kind: "click";
      readonly target: Target;
      readonly button: "left" | "right";
      readonly count: 1 | 2;
    }
  | { readonly kind: "fill"; readonly target: Target; readonly value: FillValue }
  | { readonly kind: "type"; readonly value: FillValue; readonly target: Target | undefined }
  | { readonly kind: "press"; readonly key: string; readonly target: Target | undefined }
  | { readonly kind: "check"; readonly target: Target; readonly checked: boolean }
  | { readonly kind: "select"; readonly options: readonly string[]; readonly target: Target }
  | { readonly kind: "upload"; readonly files: readonly string[]; readonly target: Target }
  | { readonly kind: "hover" | "focus" | "clear"; readonly target: Target }
  | { readonly kind: "wait"; readonly milliseconds: number }
  | { readonly kind: "wait for"; readonly assertion: Assertion }
  | { readonly kind: "wait for load"; readonly state: "load" | "idle" }
  | { readonly kind: "scroll"; readonly to: Target | "top" | "bottom" }
  | { readonly kind: "drag"; readonly from: Target; readonly to: Target }
  | { readonly kind: "dialog"; readonly accept: boolean; readonly text: string | undefined }
  | { readonly kind: "history"; readonly direction: "back" | "forward" }
  | { readonly kind: "reload" }
  | { readonly kind: "viewport"; readonly width: number; readonly height: number }
  | { readonly kind: "screenshot"; readonly name: string | undefined; readonly target: Target | undefined }
  | { readonly kind: "expect"; readonly assertion: Assertion }
  /** `new`: one that opened and was not switched to yet. */
  | { readonly kind: "switch tab"; readonly to: number | "new" }
  | { readonly kind: "close tab" }
  | ({ readonly kind: "mock"; readonly reply: Reply } & RequestPattern)
  | { readonly kind: "offline"; readonly offline: boolean }
  | { readonly kind: "geolocation"; readonly latitude: number; readonly longitude: number }
  | { readonly kind: "permission"; readonly permission: string }
  | { readonly kind: "time zone" | "locale"; readonly value: string }
  | { readonly kind: "clock"; readonly time: string }
  | { readonly kind: "fast forward"; readonly milliseconds: number }
  | { readonly kind: "throttle cpu"; readonly rate: number }
  | { readonly kind: "throttle network"; readonly speed: NetworkSpeed }
  | { readonly kind: "save state" | "use state"; readonly name: string };

/** The response to a mocked request; `blocked`: no response at all. */
export type Reply =
  | "blocked"
  | { readonly status: number; readonly body: string | undefined; readonly file: string | undefined };

/** Presets of Chrome DevTools. */
export const NETWORK_SPEEDS = ["slow 3g", "fast 3g", "fast 4g"] as const;
export type NetworkSpeed = (typeof NETWORK_SPEEDS)[number];

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

/** How many of the first steps run before the page is opened. */
export function setupLength(steps: readonly Step[]): number {
  const first = steps.findIndex(({ action }) => !SETUP.has(action.kind));
  return first < 0 ? steps.length : first;
}

export interface Step {
  readonly text: string;
  readonly action: Action;
}
