import { setTimeout as sleep } from "node:timers/promises";
import type { Page } from "playwright";
import type { CheckOf, Target } from "../language/ast.ts";
import type { ElementCheck } from "../language/expectations.ts";
import { textMatches } from "../language/matching.ts";
import { type Expectation, ONCE } from "../language/plan.ts";
import { describeTarget } from "../language/target.ts";
import {
  actualOf,
  ambiguity,
  expectation,
  expectSnapshot,
  plain,
  refuseSelector,
  shown,
  unrun,
  withEscapes,
} from "../library.ts";
import { refusedComparison } from "../secrets/guard.ts";
import { missing } from "../session/miss.ts";
import { countOf, locatorOf, targetOn } from "../session/targets.ts";

export interface Outcome {
  readonly passed: boolean;
  readonly actual: string;
}

/**
 * Checks the page with Playwright's `expect`.
 *
 * @param timeout maximum wait in milliseconds.
 * @throws ToolError `invalid` for a selector that the browser rejects.
 */
export async function expectationOutcome(
  check: ElementCheck,
  plan: Expectation,
  page: Page,
  timeout: number,
): Promise<Outcome> {
  try {
    await hold(plan, page, timeout);
    return { passed: true, actual: "" };
  } catch (error) {
    const message = plain(error);
    if (page.isClosed() || /Target (?:page|crashed)|has been closed/.test(message)) throw error;
    const refused = refusedComparison(message);
    if (refused !== undefined) return { passed: false, actual: refused };
    refuseSelector(message);
    const target = "target" in check ? check.target : undefined;
    const name = target === undefined ? "the target" : describeTarget(target);
    const actual = ambiguity(message, name) ?? (await reason(check, plan, error, page, target));
    return { passed: false, actual };
  }
}

/** How long an element may take to answer, and the time between two questions. */
const ASK_MS = 5_000;
const POLL_MS = 100;

async function hold(
  { on, polls, not, matcher, args }: Expectation,
  page: Page,
  timeout: number,
): Promise<void> {
  if (matcher === "toMatchAriaSnapshot")
    return expectSnapshot(locatorOf(page, on), String(args[0]), not, timeout);
  const expect = expectation();
  const given = args.map((one) => (one instanceof RegExp ? unrun(one) : one));
  const check = async (all: object, options: readonly unknown[]) => {
    const assertions: unknown = not ? Reflect.get(all, "not") : all;
    await Reflect.apply(Reflect.get(Object(assertions), matcher), assertions, [
      ...given,
      ...options,
    ]);
  };
  if (polls === undefined)
    return check(expect(on.calls.length === 0 ? page : locatorOf(page, on)), [{ timeout }]);
  const ends = performance.now() + timeout;
  for (;;) {
    const found = locatorOf(page, on);
    const count = await found.count();
    const value =
      polls === "count" || count === 0
        ? count
        : await found.evaluate((one, css) => one.matches(css), polls.css, { timeout: ASK_MS });
    const isLast = timeout === ONCE || performance.now() >= ends;
    try {
      if (polls !== "count" && count === 0) throw new Error(NOT_FOUND);
      return await check(expect(value), []);
    } catch (error) {
      if (isLast) throw error;
    }
    await sleep(POLL_MS);
  }
}

const NOT_FOUND = "element(s) not found";

async function reason(
  check: ElementCheck,
  plan: Expectation,
  error: unknown,
  page: Page,
  target: Target | undefined,
): Promise<string> {
  const message = plain(error);
  if (message.includes(NOT_FOUND) && target !== undefined) {
    const isHidden = check.kind === "state" && (await countOf(targetOn(page, target))) > 0;
    return isHidden ? "it is hidden" : missing(page, target);
  }
  const own = /^Error: (.*)$/m.exec(message)?.[1];
  if (own !== undefined) return shown(own, 300).slice(1, -1);
  const actual = actualOf(error);
  const text = String(actual ?? "");
  switch (check.kind) {
    case "aria snapshot":
      return `its snapshot is ${shown(text, 400)}`;
    case "page":
      return `the ${check.what} is ${shown(text)}`;
    case "state":
      if (plan.polls !== undefined || check.state === "loaded") {
        const isWanted = plan.polls === undefined ? plan.not : plan.args[0] !== plan.not;
        return `it is ${isWanted ? "not " : ""}${check.state}`;
      }
      return `it is ${STATE_WORDS[String(actual)] ?? String(actual).replace(/^viewport ratio.*/, "in viewport")}`;
    case "count":
      return `the count is ${await locatorOf(page, plan.on).count()}`;
    case "text":
    case "existence":
    case "no target": {
      if (plan.matcher !== "toHaveCount") break;
      if (Number(actual) === 0) return missing(page, missed(check));
      const first = locatorOf(page, plan.on).first();
      const content = await first.textContent({ timeout: 1_000 }).catch(() => null);
      const found =
        Number(actual) === 1 ? "1 element matches" : `${actual} elements match, the first`;
      return `${found} with the text ${shown(content ?? "")}`;
    }
  }
  if (actual === null || actual === "attribute not present") return `it has no ${plan.reads}`;
  // Playwright compares values, attributes and patterns with the white space of the page.
  if ("compare" in check && check.compare !== undefined && !check.compare.negated)
    if (textMatches(text, check.compare))
      return `its ${plan.reads} is ${withEscapes(text)}: its white space differs`;
  return `its ${plan.reads} is ${shown(text)}`;
}

/** What is missing: a target, or a text of the page. */
const missed = (check: CheckOf<"text" | "existence" | "no target">): Target =>
  check.kind === "text"
    ? {
        base: { kind: "text", text: check.compare.value, exact: false },
        pick: undefined,
        inside: undefined,
      }
    : check.target;

const STATE_WORDS: Readonly<Record<string, string>> = {
  notEmpty: "not empty",
  inactive: "not focused",
  "viewport ratio 0": "outside the viewport",
  readOnly: "read-only",
};
