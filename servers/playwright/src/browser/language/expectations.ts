import type { Assertion, Check } from "./ast.ts";
import { ELEMENTS } from "./checks.ts";
import type { Expectation } from "./plan.ts";
import { RECORDS } from "./records.ts";
import type { ElementRow, RecordRow } from "./rows.ts";

/** The checks that Playwright's `expect` runs on a page or an element; the others use what the run recorded. */
export type ElementCheck = Extract<Check, { kind: keyof typeof ELEMENTS }>;
export type RecordCheck = Extract<Check, { kind: keyof typeof RECORDS }>;
export const isElementCheck = (check: Check): check is ElementCheck => check.kind in ELEMENTS;

export const recordOf = ({ kind }: RecordCheck): RecordRow => RECORDS[kind];

/** Whether a check runs once, after the page has settled: absence is trivially true at first. */
export const isLate = (check: Check): boolean =>
  isElementCheck(check) ? check.kind === "no target" : recordOf(check).isLate === true;

const NEGATIVE: ReadonlySet<string> = new Set(["toBeHidden", "toBeDisabled", "toBeEmpty"]);

/**
 * Whether a check that passes is repeated once the page has settled: the negation of a check and a count can be true
 * only because the page is not complete yet.
 */
export function isRepeated({ check, negated }: Assertion): boolean {
  if (isLate(check)) return false;
  if (check.kind === "count") return true;
  if (check.kind === "existence") return check.exists === negated;
  if (!isElementCheck(check))
    return ("compare" in check && check.compare?.negated === true) !== negated;
  const { not, matcher } = expectationOf(check, negated);
  return not || NEGATIVE.has(matcher);
}

const OPPOSITES: Readonly<Record<string, string>> = {
  toBeVisible: "toBeHidden",
  toBeHidden: "toBeVisible",
  toBeEnabled: "toBeDisabled",
  toBeDisabled: "toBeEnabled",
};

/** The assertion in Playwright's terms. */
export function expectationOf(check: ElementCheck, negated: Assertion["negated"]): Expectation {
  const row: ElementRow = ELEMENTS[check.kind];
  const { not = false, matcher, ...plan } = row.expect(check);
  // `toBeHidden` instead of `not.toBeVisible`, which is idiomatic.
  const opposite = not === negated ? undefined : OPPOSITES[matcher];
  return { ...plan, not: opposite === undefined && not !== negated, matcher: opposite ?? matcher };
}
