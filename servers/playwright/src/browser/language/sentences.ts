import type { Act, Expectation, PlaywrightAction, PlaywrightCheck } from "./ast.ts";
import { type CHECKS, ELEMENTS, type ElementRow, LATE, type RECORDS } from "./checks.ts";
import { SETUP, STEPS, type StepRow } from "./steps.ts";
import type { ArgsOf } from "./values.ts";

/** Every check and action: the name of its row, and the values of the slots in its sentence. */
type Parsed<Rows extends Record<string, { readonly form: string }>> = {
  [Kind in keyof Rows]: { readonly kind: Kind } & ArgsOf<Rows[Kind]["form"]>;
}[keyof Rows];
/** Steps with an assertion: the rest of their sentences. */
type Claim = "expect" | "wait for";
export type Check = Parsed<typeof CHECKS> | PlaywrightCheck;
export type Action =
  | Exclude<Parsed<typeof STEPS>, { kind: Claim }>
  | { readonly kind: Claim; readonly assertion: Assertion }
  | PlaywrightAction;
export type CheckOf<Kind extends Check["kind"]> = Extract<Check, { kind: Kind }>;

export interface Assertion {
  readonly text: string;
  readonly check: Check;
  readonly within: number | undefined;
}

export interface Step {
  readonly text: string;
  readonly action: Action;
}

export interface Script {
  readonly steps: readonly Step[];
  readonly assertions: readonly Assertion[];
}

/** The checks that Playwright's `expect` runs on a page or an element; the others use what the run recorded. */
export type ElementCheck = CheckOf<keyof typeof ELEMENTS | "playwright">;
export type RecordCheck = CheckOf<keyof typeof RECORDS>;
export const isElementCheck = (check: Check): check is ElementCheck =>
  check.kind in ELEMENTS || check.kind === "playwright";

export const isCount = ({ kind }: Check): boolean =>
  kind === "count" || kind === "number" || kind === "number in";

export const isLate = ({ kind }: Check): boolean => LATE.has(kind);

/**
 * Whether a check that passes is repeated once the page has settled: a negative check and a count can be true only
 * because the page is not complete yet.
 */
export function isRepeated({ check }: Assertion): boolean {
  if (!isElementCheck(check) || isLate(check)) return false;
  if (isCount(check)) return true;
  if (check.kind === "existence") return !check.exists;
  // For the text of a page, Playwright counts elements.
  if (check.kind === "text") return check.compare.negated;
  const { not, matcher, args } = expectationOf(check);
  const state: string = "state" in check ? check.state : matcher;
  const atFirst =
    /^(?:hidden|disabled|empty|collapsed|to(?:BeHidden|BeDisabled|BeEmpty|HaveCount))$/;
  return not || args[0] === "" || atFirst.test(state);
}

/** The assertion in Playwright's terms. */
export function expectationOf(check: ElementCheck): Expectation {
  if (check.kind === "playwright") return check.expectation;
  const row: Pick<ElementRow, "expect"> = ELEMENTS[check.kind];
  return { not: false, ...row.expect(check) };
}

/** The calls of Playwright's API for a step; undefined for one that has none. */
export function actsOf(action: Action): readonly Act[] | undefined {
  if (action.kind === "playwright") return [action.act];
  const row: StepRow = STEPS[action.kind];
  return row.acts?.(action);
}

export const secretsOf = ({ steps }: Script): string[] =>
  steps
    .flatMap(({ action }) => actsOf(action)?.flatMap(({ args }) => args) ?? [])
    .flatMap((arg) => (typeof arg === "object" && "secret" in arg ? String(arg.secret) : []));

/** How many steps at the beginning are setup steps, which run before the page is opened. */
export function setupLength(steps: readonly Step[]): number {
  const first = steps.findIndex(({ action }) => !SETUP.has(action.kind));
  return first < 0 ? steps.length : first;
}

export const checksOf = ({ steps, assertions }: Script): Check[] => [
  ...steps.flatMap(({ action }) => ("assertion" in action ? [action.assertion.check] : [])),
  ...assertions.map(({ check }) => check),
];
