import { ToolError } from "@refmcp/core/answer";
import type { Assertion } from "../language/ast.ts";
import { a11yOutcome } from "./a11y.ts";
import { absenceOutcome } from "./absence.ts";
import { isWaiting, lookAt, type Outcome } from "./checks.ts";
import { metricOutcome } from "./metrics.ts";
import type { Quiet } from "./quiet.ts";
import type { PageRecord } from "./record.ts";
import { type Comparing, visualOutcome } from "./visual.ts";

export interface Judging extends Comparing {
  readonly record: PageRecord;
  readonly quiet: Quiet;
}

/** How long an assertion waits for what it says, without a time of its own. */
export const WAIT_MS = 5_000;
/** Pauses between two looks. */
const PAUSES_MS = [0, 20, 50, 100, 100, 250];

/** Judges every assertion: those that wait first and side by side, then, when the page has settled, the others. */
export async function judgeAll(assertions: readonly Assertion[], stage: Judging): Promise<Outcome[]> {
  const outcomes = new Map<Assertion, Outcome>();
  const waiting = assertions.filter(({ check }) => isWaiting(check));
  const late = assertions.filter(({ check }) => !isWaiting(check));
  let settled = late.length === 0;
  const settling = settled
    ? undefined
    : stage.quiet.settled().finally(() => {
        settled = true;
      });
  // Awaited below; where another wait fails first, that is the error to report.
  settling?.catch(() => undefined);
  await Promise.all(
    waiting.map(async (assertion) => {
      outcomes.set(assertion, await until(assertion, stage));
    }),
  );
  // A check that had to wait longer saw the page change after it was quiet.
  if (late.length > 0) await (settled ? stage.quiet.settled() : settling);
  for (const assertion of late) outcomes.set(assertion, await untilLate(assertion, stage));
  return assertions.flatMap((assertion) => outcomes.get(assertion) ?? []);
}

/** Waits until an assertion holds or its time is over; the last look tells. */
export async function until(assertion: Assertion, stage: Judging): Promise<Outcome> {
  const ends = performance.now() + (assertion.within ?? WAIT_MS);
  for (let look = 0; ; look++) {
    const outcome = await lookOnce(assertion, stage);
    const left = ends - performance.now();
    if (outcome.passed || left <= 0) return outcome;
    await stage.deadline.sleep(Math.min(left, PAUSES_MS[look] ?? PAUSES_MS.at(-1) ?? 100));
  }
}

/** What must not be there is looked at once, unless it has a time of its own. */
async function untilLate(assertion: Assertion, stage: Judging): Promise<Outcome> {
  return assertion.within === undefined ? lookOnce(assertion, stage) : until(assertion, stage);
}

async function lookOnce(assertion: Assertion, stage: Judging): Promise<Outcome> {
  const outcome = await stage.deadline.race(tolerant(assertion, stage));
  return assertion.negated ? { passed: !outcome.passed, actual: outcome.actual } : outcome;
}

/** A page that navigates while it is looked at is looked at again. */
async function tolerant(assertion: Assertion, stage: Judging): Promise<Outcome> {
  for (let attempt = 0; ; attempt++) {
    try {
      return await look(assertion, stage);
    } catch (error) {
      const text = error instanceof Error ? error.message : String(error);
      if (/is not a valid selector|Unexpected token|Unknown engine|Malformed|Error while parsing/i.test(text))
        throw new ToolError("invalid", `${assertion.text}: its CSS selector cannot be read by the browser.`, {
          hint: "Correct the selector, or name the element by its role: button 'Save'.",
          code: "grammar",
        });
      if (attempt < 20 && /context was destroyed|navigat|Cannot find context|detached/i.test(text)) {
        await stage.deadline.sleep(50);
        continue;
      }
      throw error;
    }
  }
}

function look({ check }: Assertion, stage: Judging): Promise<Outcome> {
  const { page, record } = stage;
  if (check.kind === "absence") return absenceOutcome(check.what, page, record);
  if (check.kind === "a11y") return a11yOutcome(page, check.severity, check.target);
  if (check.kind === "metric") return metricOutcome(check, page, record);
  if (check.kind === "screenshot") return visualOutcome(check, stage);
  return lookAt(check, page, record);
}
