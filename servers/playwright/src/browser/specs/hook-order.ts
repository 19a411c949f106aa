import type { Surveyed } from "../heal/survey.ts";
import type { Target } from "../language/ast.ts";

/** What a hook does, in the file that REFMCP_HEAL names. */
export interface HookOrder {
  /** The project's own playwright-core. */
  readonly core: string;
  readonly events: string;
  readonly greens: Readonly<Record<string, Surveyed>>;
  /** Other targets for the locators that are written at these places. */
  readonly targets: readonly {
    readonly site: string;
    readonly target: Target;
    readonly isWhole: boolean;
  }[];
  /** The locator whose element is removed. */
  readonly remove?: string | undefined;
}

/** Where a locator is written. */
export interface Site {
  readonly file: string;
  readonly line: number;
  readonly column: number;
  readonly method: string;
  /** The texts among its arguments. */
  readonly texts: readonly string[];
}

export type HookEvent =
  | { readonly kind: "element"; readonly key: string; readonly surveyed: Surveyed }
  | {
      readonly kind: "broken";
      readonly key: string;
      /** The calls of the chain, the last one that finds elements at the end. */
      readonly sites: readonly Site[];
      readonly matches: number;
      readonly method: string;
      readonly isExpectation: boolean;
      readonly offers: readonly SpecOffer[];
    };

export interface SpecOffer {
  readonly target: Target;
  readonly code: string;
  readonly score: number;
  readonly why: string;
  readonly changesName: boolean;
  /** Whether it has the same words, so that only what is before it in the chain is at fault. */
  readonly isSame: boolean;
}

export const siteName = ({ file, line, column, method }: Site): string =>
  `${file}:${line}:${column}:${method}`;
