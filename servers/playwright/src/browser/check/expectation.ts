import { setTimeout as sleep } from "node:timers/promises";
import type { Page } from "playwright";
import type { Expectation, Target } from "../language/ast.ts";
import { call, chainOf, hasForms, ONCE } from "../language/locator.ts";
import { type ElementCheck, isCount } from "../language/sentences.ts";
import {
  actualOf,
  ambiguity,
  shown as cut,
  expectation,
  plain,
  refuseSelector,
  unrun,
} from "../library.ts";
import { countOf, frameName, locatorOf, targetOn } from "../page/locate.ts";
import { MAX_FRAMES, missing } from "../page/miss.ts";
import { spaced } from "../text.ts";

export interface Outcome {
  readonly passed: boolean;
  readonly actual: string;
}

/** Removes secrets from a text, before it is cut. */
export type See = (text: string) => string;

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
  see: See,
): Promise<Outcome> {
  if (check.kind === "number in" && plan.inside !== undefined) {
    const existence = { kind: "existence", target: check.inside, exists: true } as const;
    const outcome = await expectationOutcome(existence, plan.inside, page, timeout, see);
    if (!outcome.passed) return outcome;
  }
  try {
    await hold(plan, page, timeout);
    const actual = await misread(check, plan, page, see);
    return { passed: actual === "", actual };
  } catch (error) {
    const message = plain(error);
    if (page.isClosed() || /Target (?:page|crashed)|has been closed/.test(message)) throw error;
    refuseSelector(message);
    const target = "target" in check ? check.target : undefined;
    const actual =
      ambiguity(message, target?.text ?? "the target") ??
      (await reason(check, plan, error, page, see));
    return { passed: false, actual };
  }
}

/** Why a sentence that holds says less than its words: the text of a field is not its value. */
async function misread(
  check: ElementCheck,
  plan: Expectation,
  page: Page,
  see: See,
): Promise<string> {
  const target = "target" in check ? check.target : undefined;
  if (check.kind === "text" && plan.reads === "text") {
    const fields = targetOn(page, check.target).and(page.locator("input, textarea"));
    if ((await countOf(fields)) > 0) return `${check.target.text} is a field: add has value`;
  }
  const sight = await sightOf(check, page);
  if (sight !== undefined) return `the page shows ${cut(see(sight))}`;
  if (target !== undefined && check.kind !== "playwright" && hasForms(target.text)) {
    const other = locatorOf(page, plan.on, (text) => text.normalize("NFD"));
    const count = await countOf(check.kind === "state" ? other.filter({ visible: true }) : other);
    if (count > 0 && (await countOf(locatorOf(page, plan.on))) === 0)
      return `${target.text} is there with another form of its accents (Unicode NFD)`;
  }
  return inFrame(page, check.kind === "number in" ? check.inside : target?.inside);
}

/**
 * Where a reader of the page sees a text that a check says is absent, though no visible element is found by it: with
 * soft hyphens, next to a hidden element with the same words, or chosen in a closed select.
 */
async function sightOf(check: ElementCheck, page: Page): Promise<string | undefined> {
  if (check.kind !== "text" && check.kind !== "state") return undefined;
  const { base, pick, containing, inside } = check.target;
  const isText = check.kind === "text";
  const isAbsent = isText ? check.compare.negated : check.negated === (check.state === "visible");
  const isWhole = base.kind === (isText ? "page" : "text") && base.calls[0]?.args.length === 1;
  const words = isText ? check.compare.value : base.words;
  if (!isAbsent || !isWhole || words === undefined || (pick ?? containing ?? inside) !== undefined)
    return undefined;
  if (isText ? check.compare.how !== "contains" : !/^(?:visible|hidden)$/.test(check.state))
    return undefined;
  const matches = page.getByText(words);
  // XPath has no escapes.
  const [part = ""] = words.split('"').sort((a, b) => b.length - a.length);
  const twins = `xpath=ancestor::*[text()[contains(normalize-space(.), "${spaced(part)}")]]`;
  const chosen = await page.locator("select:visible option:checked").allTextContents();
  const others = matches.or(matches.locator(twins)).filter({ visible: true });
  // Also from several elements, next to a hidden one with all words. The text of a select has every option.
  const around = matches.locator("xpath=ancestor::*[not(descendant-or-self::select)]");
  const inner = (await around.filter({ visible: true }).allInnerTexts()).join("\n").split("\n");
  const plainly = (text: string) => {
    const flat = spaced(text.replace(/\u00ad/g, ""));
    return isText ? flat : flat.toLowerCase();
  };
  return [...chosen, ...(await others.allTextContents()), ...inner.reverse()].find((text) =>
    plainly(text).includes(plainly(words)),
  );
}

/** The same for what is around a target: no iframe or one of several, or one named as an element, in which nothing is. */
async function inFrame(page: Page, target: Target | undefined): Promise<string> {
  if (target === undefined) return "";
  if (target.base.kind === "frame") {
    const owner = locatorOf(page, { calls: [...chainOf(target).calls, call("owner")] });
    const first = owner.first();
    // A script can add it later.
    await first.waitFor({ state: "attached", timeout: ASK_MS }).catch(() => undefined);
    const count = await owner.count();
    const frames = count === 0 ? page.mainFrame().childFrames().slice(0, MAX_FRAMES) : [];
    const names = (await Promise.all(frames.map(frameName))).map((name) => cut(name)).join(", ");
    if (count === 0) return `no ${target.text}; frames: ${names || "none"}`;
    return count > 1 ? `${target.text} matches ${count} iframes: write nth 2 before it` : "";
  }
  const frames = targetOn(page, target).and(page.locator("iframe, frame"));
  if ((await countOf(frames)) === 0) return inFrame(page, target.inside);
  return `${target.text} is an iframe: write in frame 'its title'`;
}

/** How long an element may take to answer, and the time between two questions. */
const ASK_MS = 5_000;
const POLL_MS = 100;

async function hold(plan: Expectation, page: Page, timeout: number): Promise<void> {
  const { on, polls, not, matcher, args } = plan;
  const expect = expectation();
  const resolvedArgs = args.map((arg) => {
    if (arg instanceof RegExp) return unrun(arg);
    // A spec has a base URL for it.
    return matcher === "toHaveURL" && String(arg).startsWith("/")
      ? new URL(String(arg), page.url()).href
      : arg;
  });
  const check = async (on: object, options: readonly unknown[]) => {
    const assertions: unknown = not ? Reflect.get(on, "not") : on;
    const last = resolvedArgs.at(-1);
    // The options of a line of Playwright are one argument with the time limit.
    const hasOptions = Object.getPrototypeOf(Object(last)) === Object.prototype;
    const whole = Object.assign({}, hasOptions ? last : {}, ...options);
    const values = hasOptions ? resolvedArgs.slice(0, -1) : resolvedArgs;
    const callArgs = Object.keys(whole).length === 0 ? values : [...values, whole];
    await Reflect.apply(Reflect.get(Object(assertions), matcher), assertions, callArgs);
  };
  if (polls === undefined)
    return check(expect(on.calls.length === 0 ? page : locatorOf(page, on)), [{ timeout }]);
  const ends = performance.now() + timeout;
  for (;;) {
    const locator = locatorOf(page, on);
    const count = await locator.count();
    const isLast = timeout === ONCE || performance.now() >= ends;
    try {
      if (polls === "count") return await check(expect(count), []);
      if (count === 0) throw new Error(NOT_FOUND);
      const isMatch = locator.evaluate((element, css) => element.matches(css), polls.css, {
        timeout: ASK_MS,
      });
      return await check(expect(await isMatch), []);
    } catch (error) {
      // A page that was too busy to answer is asked again.
      if (isLast || plain(error).includes("strict mode violation")) throw error;
    }
    await sleep(POLL_MS);
  }
}

const NOT_FOUND = "element(s) not found";

/** What is there instead. */
async function reason(
  check: ElementCheck,
  { on, polls, not, matcher, args, reads }: Expectation,
  error: unknown,
  page: Page,
  see: See,
): Promise<string> {
  const message = plain(error);
  const target = "target" in check ? check.target : undefined;
  const excerpt = (value: unknown, max?: number) => cut(see(String(value ?? "")), max);
  if (message.includes(NOT_FOUND) && target !== undefined) {
    const isState = "state" in check || matcher === "toBeVisible";
    const isHidden = isState && (await countOf(targetOn(page, target))) > 0;
    return isHidden ? "it is hidden" : missing(page, target);
  }
  const own = /^Error: (.*)$/m.exec(message)?.[1];
  if (own !== undefined) return excerpt(own, 300).slice(1, -1);
  const actual = actualOf(error);
  if (polls === "count") return `the count is ${await locatorOf(page, on).count()}`;
  if (matcher === "toHaveCount" && check.kind === "text") {
    if (Number(actual) === 0) return `the page has no text ${excerpt(check.compare.value)}`;
    const first = await locatorOf(page, on)
      .first()
      .textContent()
      .catch(() => "");
    return `${actual} elements match, the first with the text ${excerpt(first)}`;
  }
  if (matcher === "toHaveCount") {
    const isNumber = isCount(check) || check.kind === "playwright";
    if (Number(actual) === 0 && !isNumber && target !== undefined) return missing(page, target);
    const some = Number(actual) === 1 ? "1 element matches" : `${actual} elements match`;
    return isNumber ? `the count is ${actual}` : some;
  }
  if ("state" in check && polls !== undefined)
    return `it is ${args[0] !== not ? "not " : ""}${check.state}`;
  if (on.calls.length === 0)
    return `the ${matcher === "toHaveTitle" ? "title" : "url"} is ${excerpt(actual)}`;
  if (reads === undefined)
    return `it is ${STATE_WORDS[String(actual)] ?? excerpt(actual).slice(1, -1)}`;
  if (actual === null || actual === "attribute not present") return `it has no ${reads}`;
  return `its ${reads} is ${excerpt(actual)}`;
}

const STATE_WORDS: Readonly<Record<string, string>> = {
  notEmpty: "not empty",
  inactive: "not focused",
  "viewport ratio 0": "outside the viewport",
  readOnly: "read-only",
};
