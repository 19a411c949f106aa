import type { Assertion } from "../language/ast.ts";
import {
  expectationOf,
  isElementCheck,
  isLate,
  isRepeated,
  recordOf,
} from "../language/expectations.ts";
import { ONCE } from "../language/plan.ts";
import type { Spec } from "../language/rows.ts";
import { printExpectation } from "./print.ts";

/**
 * Assertions as lines of a spec: first those that wait; then, after it has settled once, those for which the page must
 * have settled.
 */
export function assertionLines(assertions: readonly Assertion[], spec: Spec): string[] {
  const early = assertions.filter(({ check }) => !isLate(check));
  const late = assertions.filter(({ check }) => isLate(check));
  const again = early.filter(isRepeated).map((one) => ({ ...one, within: ONCE }));
  const last = [...again, ...late];
  return [
    ...early.flatMap((one) => checkLines(one, spec)),
    ...(last.length === 0 ? [] : settledLines(spec)),
    ...last.flatMap((one) => checkLines(one, spec)),
  ];
}

export function settledLines({ needs, page }: Spec): string[] {
  needs.add("settled");
  return [`await settled(${page}, open);`];
}

export function checkLines({ check, negated, within }: Assertion, spec: Spec): string[] {
  if (isElementCheck(check))
    return [printExpectation(expectationOf(check, negated), within, spec.page)];
  const look = recordOf(check).spec(check, spec);
  const isOnce = within === ONCE;
  if (!negated && (isOnce || within === undefined))
    return isOnce || isLate(check) ? look : polled(look);
  // The negation of any check: it waits until the check fails.
  const inner = negated
    ? [
        "const holds = await (async () => {",
        ...look.map((line) => `  ${line}`),
        "})().then(() => true, () => false);",
        "expect(holds).toBe(false);",
      ]
    : look;
  const [begin, end] = isOnce
    ? ["{", "}"]
    : ["await expect(async () => {", `}).toPass({ timeout: ${within ?? 5_000} });`];
  return [begin, ...inner.map((line) => `  ${line}`), end];
}

/** `expect(value)` as a check that waits. */
const polled = (lines: readonly string[]): string[] =>
  lines.map((line) =>
    line.replace(
      /^expect\(([\s\S]*)\)\.((?:not\.)?\w+\(.*\));$/,
      (_, value: string, matcher: string) =>
        `await expect.poll(${/\bawait /.test(value) ? "async " : ""}() => ${value}).${matcher};`,
    ),
  );
