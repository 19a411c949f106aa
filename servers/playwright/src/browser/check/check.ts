import { clip, oneLine, ToolError } from "@refmcp/boundary/answer";
import type { Page } from "playwright";
import type { Deadline } from "../deadline.ts";
import { ONCE, ofPage } from "../language/locator.ts";
import {
  type Assertion,
  type CheckOf,
  expectationOf,
  isElementCheck,
  isLate,
  isRepeated,
  type RecordCheck,
} from "../language/sentences.ts";
import { refuseSelector, shown } from "../library.ts";
import type { PageEvents } from "../page/events.ts";
import { locatorOf } from "../page/locate.ts";
import type { Settling } from "../page/settle.ts";
import { readsSecret } from "../secrets/fields.ts";
import type { SecretsInRun } from "../secrets/secrets.ts";
import type { RunFolder } from "../store/disk.ts";
import { textMatches } from "../text.ts";
import { eventOutcome } from "./events.ts";
import { expectationOutcome, type Outcome } from "./expectation.ts";
import { a11yOutcome, absenceOutcome, metricOutcome } from "./quality.ts";

export interface CheckScope {
  readonly page: Page;
  readonly deadline: Deadline;
  readonly device: string;
  readonly folder: RunFolder;
  readonly events: PageEvents;
  readonly settling: Settling;
  readonly secrets: SecretsInRun;
}

/** Default wait of an assertion without `within`. */
const WAIT_MS = 5_000;
/** Open requests that a note names. */
const MAX_OPEN = 3;
const PAUSES_MS = [0, 20, 50, 100, 100, 250];

/**
 * Checks every assertion: first those that wait, in parallel; then, once the page has settled, the others, and again
 * those that could have passed too early.
 *
 * @param outcomes receives each verdict immediately, so that a run that ends early keeps it.
 * @returns whether it waited until the page had settled.
 */
export async function checkAll(
  assertions: readonly Assertion[],
  scope: CheckScope,
  outcomes: Map<Assertion, Outcome>,
): Promise<boolean> {
  const early = assertions.filter(({ check }) => !isLate(check));
  const late = assertions.filter(({ check }) => isLate(check));
  const { settling, deadline, events } = scope;
  let isSettled = false;
  let settled: Promise<unknown> | undefined;
  if (late.length > 0 || early.some(isRepeated)) {
    settled = settling.settled(deadline).finally(() => {
      isSettled = true;
    });
    // Awaited below; if another wait fails first, that is the error to report.
    settled.catch(() => undefined);
  }
  const decide = async (assertion: Assertion, within = assertion.within) => {
    outcomes.set(assertion, await until({ ...assertion, within }, scope));
  };
  await Promise.all(early.map((assertion) => decide(assertion)));
  if (settled === undefined) return false;
  // If a check had to wait longer, the page changed after it was quiet.
  await (isSettled ? settling.settled(deadline) : settled);
  const passed = early.filter((item) => isRepeated(item) && outcomes.get(item)?.passed === true);
  await Promise.all(passed.map((assertion) => decide(assertion, ONCE)));
  for (const assertion of late) await decide(assertion);
  for (const { method, url } of events.unanswered.slice(0, MAX_OPEN))
    events.notes.add(`checked while ${method} ${clip(oneLine(url), 200)} was still open`);
  return true;
}

/** Checks one assertion as a step; also once the page has settled if it could have passed too early. */
export async function holds(assertion: Assertion, scope: CheckScope): Promise<Outcome> {
  const outcomes = new Map<Assertion, Outcome>();
  await checkAll([assertion], scope, outcomes);
  return outcomes.get(assertion) ?? until(assertion, scope);
}

/** Waits until an assertion passes or times out; the last check decides. Absence is checked once, unless the assertion has `within`. */
export async function until(assertion: Assertion, scope: CheckScope): Promise<Outcome> {
  const { page } = scope;
  try {
    return await untilOn(page, assertion, scope);
  } catch (error) {
    // The tab closed itself, so that another is current.
    if (error instanceof ToolError || scope.page === page) throw error;
    return until(assertion, scope);
  }
}

async function untilOn(
  page: Page,
  { check, within }: Assertion,
  scope: CheckScope,
): Promise<Outcome> {
  const { deadline, secrets } = scope;
  const waitMs = within ?? (isLate(check) ? ONCE : WAIT_MS);
  const isOfPage = check.kind === "page" && secrets.isInUse;
  if (isElementCheck(check) && !isOfPage) {
    const plan = expectationOf(check);
    const on = plan.on.calls.length === 0 ? undefined : locatorOf(page, plan.on);
    const reads = plan.reads !== undefined && on !== undefined;
    const reading = reads && readsSecret(on, secrets);
    if (reading !== false && (await deadline.race(reading.catch(() => false))))
      return {
        passed: false,
        actual: "it is a field with a secret, or shows one, so it is not read",
      };
    const see = secrets.all.redact;
    return deadline.race(expectationOutcome(check, plan, page, waitMs, see));
  }
  const ends = performance.now() + waitMs;
  for (let look = 0; ; look++) {
    const outcome = await deadline.race(tolerant(check, scope));
    if (outcome === undefined)
      return { passed: false, actual: "the page navigates too fast to be checked" };
    const remaining = ends - performance.now();
    if (outcome.passed || remaining <= 0 || waitMs === ONCE) return outcome;
    await deadline.sleep(Math.min(remaining, PAUSES_MS[look] ?? 250));
  }
}

/** Retries if the page navigates during a check; undefined if it never stops. */
async function tolerant(
  check: RecordCheck | CheckOf<"page">,
  scope: CheckScope,
): Promise<Outcome | undefined> {
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

async function look(check: RecordCheck | CheckOf<"page">, scope: CheckScope): Promise<Outcome> {
  const { page, events, secrets } = scope;
  switch (check.kind) {
    case "absence":
      return absenceOutcome(check.what, page, events);
    case "a11y":
      return a11yOutcome(page, check.severity ?? "minor", check.target, secrets.all.redact);
    case "time":
    case "cls":
      return metricOutcome(check, page);
    case "page": {
      // Playwright would compare the title and URL with the secrets in them.
      const text = secrets.all.redact(check.what === "title" ? await page.title() : page.url());
      const compare = ofPage(check.what, check.compare);
      const passed = textMatches(text, compare) !== compare.negated;
      return { passed, actual: `the ${check.what} is ${shown(text)}` };
    }
    default:
      return eventOutcome(check, scope.events, scope.secrets);
  }
}
