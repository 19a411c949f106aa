import { ToolError } from "@refmcp/boundary/answer";
import type { Assertion, Check } from "../language/ast.ts";
import type { Found } from "../language/explicit.ts";
import {
  type Expectation,
  expectationOf,
  isElementCheck,
  isLate,
  isRepeated,
  ONCE,
  type RecordCheck,
} from "../language/plan.ts";
import { textMatches } from "../language/values.ts";
import { a11yOutcome } from "./a11y.ts";
import { absenceOutcome } from "./absence.ts";
import { expectationOutcome, type Outcome, refuseSelector } from "./expectation.ts";
import { isHeld, secretsOn } from "./guard.ts";
import { locatorOf, noteFound } from "./locate.ts";
import { metricOutcome } from "./metrics.ts";
import { observed } from "./observed.ts";
import type { Quiet } from "./quiet.ts";
import type { PageRecord } from "./record.ts";
import { shown } from "./strict.ts";
import { type Comparing, visualOutcome } from "./visual.ts";

export interface Judging extends Comparing {
  readonly record: PageRecord;
  readonly quiet: Quiet;
  readonly found: Found;
  /** A text of the page without written secrets. */
  readonly seen: (text: string) => string;
}

/** Default wait of an assertion without `within`. */
export const WAIT_MS = 5_000;
/** Pauses between two checks. */
const PAUSES_MS = [0, 20, 50, 100, 100, 250];

/**
 * Checks every assertion: first those that wait, in parallel; then, once the page has settled, the others, and again
 * those that could have passed too early.
 *
 * @param outcomes receives each verdict immediately, so that a run that ends early keeps it.
 * @param waiting is called while the page settles, for work to do at the same time.
 */
export async function judgeAll(
  assertions: readonly Assertion[],
  scope: Judging,
  outcomes: Map<Assertion, Outcome>,
  waiting: () => void = () => undefined,
): Promise<void> {
  const early = assertions.filter(({ check }) => !isLate(check));
  const late = assertions.filter(({ check }) => isLate(check));
  let settled = false;
  const settling =
    late.length === 0 && !early.some(isRepeated)
      ? undefined
      : scope.quiet.settled().finally(() => {
          settled = true;
        });
  // Awaited below; if another wait fails first, that is the error to report.
  settling?.catch(() => undefined);
  const judge = async (assertion: Assertion, within = assertion.within) => {
    outcomes.set(assertion, await until({ ...assertion, within }, scope));
  };
  await Promise.all(early.map((assertion) => judge(assertion)));
  if (settling === undefined) return;
  waiting();
  // If a check had to wait longer, the page changed after it was quiet.
  await (settled ? scope.quiet.settled() : settling);
  const passed = early.filter((one) => isRepeated(one) && outcomes.get(one)?.passed === true);
  await Promise.all(passed.map((assertion) => judge(assertion, ONCE)));
  for (const assertion of late) await judge(assertion);
}

/** Checks one assertion as a step; also once the page has settled if it could have passed too early. */
export async function holds(assertion: Assertion, scope: Judging): Promise<Outcome> {
  const outcomes = new Map<Assertion, Outcome>();
  await judgeAll([assertion], scope, outcomes);
  return outcomes.get(assertion) ?? until(assertion, scope);
}

/**
 * Waits until an assertion passes or times out; the last check decides. Absence is checked once, unless the assertion
 * has `within`.
 */
export async function until({ check, negated, within }: Assertion, scope: Judging): Promise<Outcome> {
  const waitMs = within ?? (isLate(check) ? ONCE : WAIT_MS);
  const hidden = secretsOn(scope.page);
  if (isElementCheck(check) && !(check.kind === "page" && hidden !== undefined)) {
    const plan = expectationOf(check, negated);
    if (READING.has(check.kind) && (await scope.deadline.race(readsSecret(plan, scope))))
      return { passed: false, actual: "it is a field with a secret, so it is not read" };
    const outcome = await scope.deadline.race(expectationOutcome(check, plan, scope.page, waitMs));
    if (outcome.passed && "target" in check)
      await noteFound(scope.page, plan.on, check.target, scope.found).catch(() => undefined);
    return outcome;
  }
  const ends = performance.now() + waitMs;
  for (let look = 0; ; look++) {
    const outcome = await scope.deadline.race(tolerant(check, scope));
    if (outcome === undefined) return { passed: false, actual: "the page navigates too fast to be checked" };
    const { actual } = outcome;
    const passed = outcome.passed !== negated;
    const left = ends - performance.now();
    if (passed || left <= 0 || waitMs === ONCE) return { passed, actual };
    await scope.deadline.sleep(Math.min(left, PAUSES_MS[look] ?? PAUSES_MS.at(-1) ?? 100));
  }
}

/** Checks of an element's content: repeated often enough, they would reveal a secret. */
const READING: ReadonlySet<Check["kind"]> = new Set(["text", "property", "aria snapshot"]);

/** Whether a check would read a field with a secret. */
const readsSecret = async ({ on }: Expectation, { page }: Judging): Promise<boolean> =>
  secretsOn(page) !== undefined && (await isHeld(page, locatorOf(page, on)).catch(() => false));

type PageCheck = Extract<Check, { kind: "page" }>;

/** Retries if the page navigates during a check; undefined if it never stops. */
async function tolerant(check: RecordCheck | PageCheck, scope: Judging): Promise<Outcome | undefined> {
  for (let attempt = 0; attempt < 20; attempt++) {
    try {
      return await look(check, scope);
    } catch (error) {
      if (error instanceof ToolError) throw error;
      const text = error instanceof Error ? error.message : String(error);
      refuseSelector(text);
      if (!/context was destroyed|navigat|Cannot find context|detached/i.test(text)) throw error;
      await scope.deadline.sleep(50);
    }
  }
  return undefined;
}

async function look(check: RecordCheck | PageCheck, scope: Judging): Promise<Outcome> {
  const { page, record, seen } = scope;
  switch (check.kind) {
    case "absence":
      return absenceOutcome(check.what, page, record);
    case "a11y":
      return a11yOutcome(page, check.severity, check.target);
    case "metric":
      return metricOutcome(check, page, record);
    case "screenshot":
      return visualOutcome(check, scope);
    case "page": {
      // Playwright would compare the title and URL with the secrets in them.
      const text = seen(check.what === "title" ? await page.title() : page.url());
      return {
        passed: textMatches(text, check.compare) !== check.compare.negated,
        actual: `the ${check.what} is ${shown(text)}`,
      };
    }
    default:
      return observed(check, record, seen);
  }
}
