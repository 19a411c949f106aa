import { ToolError } from "@refmcp/boundary/answer";
import type { Locator, Page } from "playwright";
import type { Target } from "../language/ast.ts";
import { type ElementCheck, type Expectation, ONCE } from "../language/plan.ts";
import { expectation } from "../launch/library.ts";
import { refusedComparison } from "./guard.ts";
import { locatorOf, targetOn } from "./locate.ts";
import { ambiguity, missing, plain, shown } from "./strict.ts";

/** Whether a check passes, and the actual value if not. */
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
    const actual = ambiguity(message, target) ?? (await reason(check, plan, error, message, page, target));
    return { passed: false, actual };
  }
}

async function hold(
  { on, counted, not, matcher, args }: Expectation,
  page: Page,
  timeout: number,
): Promise<void> {
  if (matcher === "toMatchAriaSnapshot")
    return holdSnapshot(locatorOf(page, on), String(args[0]), not, timeout);
  const expect = expectation();
  const subject: Page | Locator = on.calls.length === 0 ? page : locatorOf(page, on);
  const count = () => locatorOf(page, on).count();
  // Unlike other expectations, `poll` looks at the clock before its first check has ended.
  const counting = async () => (timeout === ONCE ? expect(await count()) : expect.poll(count, { timeout }));
  const all = counted ? await counting() : expect(subject);
  const assertions: unknown = not ? all.not : all;
  const given = args.map((one) => (one instanceof RegExp ? unrun(one) : one));
  await Reflect.apply(
    Reflect.get(Object(assertions), matcher),
    assertions,
    counted ? given : [...given, { timeout }],
  );
}

/**
 * `toMatchAriaSnapshot`, which Playwright's `expect` supports only in its own test runner: the query that it sends to
 * the locator (playwright/lib/matchers/expect.js, `to.match.aria`).
 */
async function holdSnapshot(
  locator: Locator,
  expectedValue: string,
  isNot: boolean,
  timeout: number,
): Promise<void> {
  const ask: unknown = Reflect.get(locator, "_expect");
  if (typeof ask !== "function")
    throw new TypeError("this version of Playwright cannot compare ARIA snapshots");
  const params = { expectedValue, isNot, timeout };
  const { matches, received, errorMessage } = await Reflect.apply(ask, locator, ["to.match.aria", params]);
  if (matches !== isNot) return;
  throw Object.assign(new Error(errorMessage ?? "the snapshot differs"), {
    matcherResult: { actual: received?.value?.raw },
  });
}

/** A pattern that only the page runs: Playwright would run it again here to color its message. */
function unrun(pattern: RegExp): RegExp {
  const copy = new RegExp(pattern);
  copy.exec = () => null;
  return copy;
}

/** @throws ToolError `invalid` if a message is about a selector. */
export function refuseSelector(message: string): void {
  const found =
    /is not a valid selector|Unexpected token.*|Unknown engine.*|Malformed.*|Error while parsing.*/.exec(
      message,
    );
  if (found !== null)
    throw new ToolError("invalid", `The browser rejects a CSS selector: ${shown(found[0])}.`, {
      hint: "Correct the selector, or name the element by its role: button 'Save'.",
      code: "grammar",
    });
}

async function reason(
  check: ElementCheck,
  plan: Expectation,
  error: unknown,
  message: string,
  page: Page,
  target: Target | undefined,
): Promise<string> {
  if (/element\(s\) not found/.test(message) && target !== undefined) return missing(page, target);
  const own = /^Error: (.*)$/m.exec(message)?.[1];
  if (own !== undefined) return shown(own, 300).slice(1, -1);
  const result = Object(Object(error).matcherResult);
  const actual: unknown = result.actual;
  switch (check.kind) {
    case "aria snapshot":
      return `its snapshot is ${shown(String(actual ?? ""), 400)}`;
    case "page":
      return `the ${check.what} is ${shown(String(actual ?? ""))}`;
    case "state":
      return `it is ${STATE_WORDS[String(actual)] ?? String(actual).replace(/^viewport ratio.*/, "in viewport")}`;
    case "count":
      return `the count is ${await locatorOf(page, plan.on).count()}`;
    case "existence":
    case "no target": {
      if (Number(actual) === 0) return missing(page, check.target);
      const text = await targetOn(page, check.target)
        .first()
        .textContent({ timeout: 1_000 })
        .catch(() => null);
      const found =
        Number(actual) === 1 ? "1 element matches" : `${String(actual)} elements match, the first`;
      return `${found} with the text ${shown(text ?? "")}`;
    }
    case "text":
    case "property": {
      const what = check.kind === "text" ? "text" : propertyWords(check.property);
      if (actual === null || actual === "attribute not present") return `it has no ${what}`;
      return `its ${what} is ${shown(String(actual ?? ""))}`;
    }
  }
}

const STATE_WORDS: Readonly<Record<string, string>> = {
  notEmpty: "not empty",
  inactive: "not focused",
  "viewport ratio 0": "outside the viewport",
  readOnly: "read-only",
};

const propertyWords = (property: Extract<ElementCheck, { kind: "property" }>["property"]): string =>
  property.kind === "attribute" || property.kind === "style"
    ? `${property.kind} ${property.name}`
    : property.kind;
