import type { Action, Assertion, Target } from "../language/ast.ts";
import { expectationOf, isElementCheck } from "../language/expectations.ts";
import { type Chain, chainOf } from "../language/plan.ts";
import { rowOf, type Script } from "../language/script.ts";

/** A sentence of a script. */
export interface Place {
  readonly list: "steps" | "assertions";
  readonly index: number;
}

export const placeName = ({ list, index }: Place): string => `${list}[${index}]`;

/** A target in a sentence, and the locator that is used for it. */
export interface Point {
  readonly target: Target;
  readonly on: Chain;
  /** Of an assertion, also one in a step. */
  readonly assertion?: Assertion;
}

function pointsOfAssertion(assertion: Assertion): Point[] {
  const { check, negated } = assertion;
  // A number of elements has no single one to find again.
  if (!isElementCheck(check) || check.kind === "count") return [];
  const target = "target" in check ? check.target : "field" in check ? check.field : undefined;
  if (target === undefined) return [];
  const on =
    check.kind === "selected option" ? chainOf(target, "field") : expectationOf(check, negated).on;
  return [{ target, on, assertion }];
}

function pointsOfAction(action: Action): Point[] {
  if ("assertion" in action) return pointsOfAssertion(action.assertion);
  if (action.kind === "drag")
    return [action.from, action.to].map((target) => ({ target, on: chainOf(target, "text") }));
  return (rowOf(action).acts?.(action) ?? []).flatMap(({ target, on }) =>
    target === undefined ? [] : [{ target, on }],
  );
}

/** The targets of a sentence; none if it has no element, or if the sentence does not exist. */
export function pointsAt({ steps, assertions }: Script, { list, index }: Place): Point[] {
  if (list === "assertions") {
    const assertion = assertions[index];
    return assertion === undefined ? [] : pointsOfAssertion(assertion);
  }
  const step = steps[index];
  return step === undefined ? [] : pointsOfAction(step.action);
}

/** Every sentence of a script, in the order of the run. */
export const placesOf = ({ steps, assertions }: Script): Place[] => [
  ...steps.map((_, index) => ({ list: "steps" as const, index })),
  ...assertions.map((_, index) => ({ list: "assertions" as const, index })),
];
