import type { Role } from "./roles.ts";

/** How a text is compared. A pattern is checked in linear time (RE2), so a hostile page cannot stall it. */
export interface TextComparison {
  readonly how: "is" | "contains" | "matches";
  /** The wanted text, or the source of the pattern. */
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
  | { readonly kind: "role"; readonly role: Role; readonly name: string | undefined; readonly exact: boolean }
  | {
      /** `quoted` is a bare string: text on the page, or a field's label or placeholder where a field is needed. */
      readonly kind: "text" | "quoted" | "label" | "placeholder" | "alt" | "title" | "testid";
      readonly text: string;
      /** The whole text in this letter case; otherwise a part of it, in any. */
      readonly exact: boolean;
    }
  /** A frame by its title, name or id: only around another target. */
  | { readonly kind: "frame"; readonly text: string };

/** What on the page is meant. */
export interface Target {
  /** `first`, `last`, or the position of `nth`, from 1. */
  readonly pick: "first" | "last" | number | undefined;
  readonly base: Base;
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

export type Check =
  | { readonly kind: "page"; readonly what: "title" | "url"; readonly compare: TextComparison }
  /** `from` to `to`, both inclusive: 200 to 200, or 200 to 299 for `2xx`. */
  | { readonly kind: "status"; readonly from: number; readonly to: number }
  | { readonly kind: "text"; readonly target: Target; readonly compare: TextComparison }
  | { readonly kind: "state"; readonly target: Target; readonly state: State; readonly negated: boolean }
  | { readonly kind: "existence"; readonly target: Target; readonly exists: boolean }
  | { readonly kind: "property"; readonly target: Target; readonly property: Property }
  | { readonly kind: "count"; readonly target: Target; readonly compare: NumberComparison }
  | { readonly kind: "absence"; readonly what: Absence }
  | { readonly kind: "no target"; readonly target: Target }
  | { readonly kind: "no requests"; readonly glob: string }
  | { readonly kind: "a11y"; readonly severity: Severity; readonly target: Target | undefined }
  | { readonly kind: "request"; readonly glob: string }
  | { readonly kind: "response"; readonly glob: string; readonly from: number; readonly to: number }
  | { readonly kind: "console"; readonly text: string }
  /** Milliseconds, a number (cls) or bytes. */
  | { readonly kind: "metric"; readonly metric: Metric; readonly limit: number }
  | {
      readonly kind: "screenshot";
      readonly target: Target | undefined;
      readonly baseline: string;
      /** The part of the pixels that may differ, 0 to 1. */
      readonly tolerance: number;
      readonly masks: readonly Target[];
    };

export interface Assertion {
  /** As it was written, trimmed. */
  readonly text: string;
  readonly negated: boolean;
  readonly check: Check;
  /** How long it may wait, in milliseconds; undefined: the default. */
  readonly within: number | undefined;
}

/** What `fill` writes: a text, or a value that only the server knows. */
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
  | { readonly kind: "type"; readonly value: FillValue }
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
  | { readonly kind: "expect"; readonly assertion: Assertion };

export interface Step {
  readonly text: string;
  readonly action: Action;
}
