import { ToolError } from "@refmcp/boundary/answer";
import type { NetworkGuard } from "@refmcp/boundary/forward-proxy";
import type { Page } from "playwright";
import { parseTargetUrl } from "../address.ts";
import { type CheckScope, holds, until } from "../check/check.ts";
import type { Act, Target } from "../language/ast.ts";
import { isAnswer, isChain, isMatch } from "../language/locator.ts";
import { actsOf, type Step } from "../language/sentences.ts";
import {
  ambiguity,
  isMissing,
  plain,
  reasonOf,
  receivedAtClose,
  refuseSelector,
  shown,
} from "../library.ts";
import { editsSecret, writeSecret } from "../secrets/fields.ts";
import { urlMatcher } from "../text.ts";
import type { RunArtifacts } from "./artifacts.ts";
import { locatorOf, targetOn } from "./locate.ts";
import { missing } from "./miss.ts";
import { handlerOf, type MockScope, replay } from "./mock.ts";

export interface StepScope extends CheckScope, MockScope {
  readonly url: URL;
  readonly stepMs?: number | undefined;
  readonly guard: NetworkGuard;
  readonly artifacts: RunArtifacts;
}

/** A step that failed: a finding about the page, not an error. */
export class StepFailed extends Error {
  override readonly name = "StepFailed";
}

/** Default maximum wait of one action for its element, and its share of the run's time. */
const STEP_MS = 10_000;
const ACTING_SHARE = 0.7;
/** A network counts as idle after this long without a request, as in Playwright. */
const IDLE_MS = 500;
const LOOK_MS = 50;

/**
 * Performs one step on the current tab.
 *
 * @throws StepFailed if the page prevents it.
 * @throws ToolError if the step itself is at fault (a refused URL, an unknown secret, a file out of bounds).
 */
export async function perform({ action }: Step, scope: StepScope): Promise<void> {
  const { page, deadline, events } = scope;
  const { tabs } = events;
  const context = page.context();
  // Leaves some of the run's time for the verdict.
  const timeout = Math.max(1, Math.min(scope.stepMs ?? STEP_MS, deadline.leftMs * ACTING_SHARE));
  switch (action.kind) {
    case "goto":
      return goto(action.url, scope);
    case "wait":
      return deadline.sleep(action.duration);
    case "wait for":
    case "expect": {
      const hold = action.kind === "expect" ? holds : until;
      const { passed, actual } = await hold(action.assertion, scope);
      if (!passed) throw new StepFailed(actual);
      return;
    }
    case "wait for idle":
      if (!(await scope.settling.settled(deadline, { quietMs: IDLE_MS, atMostMs: timeout })))
        throw new StepFailed(`requests kept the network busy for ${Math.round(timeout / 1_000)} s`);
      return;
    case "scroll":
      return page.evaluate(
        (edge) => window.scrollTo(0, edge === "top" ? 0 : document.documentElement.scrollHeight),
        action.edge,
      );
    case "accept dialog":
      events.answers.push({ text: action.text });
      return;
    case "dismiss dialog":
      events.answers.push(undefined);
      return;
    case "back": {
      const before = page.url();
      await page.goBack({ timeout });
      // Navigation within a page has no response either, but the address changes.
      if (page.url() === before) throw new StepFailed("there is no page to go back to");
      return;
    }
    case "screenshot": {
      const { name, target } = action;
      const of = target === undefined ? undefined : targetOn(page, target);
      const screenshot = scope.artifacts.takeScreenshot({ page, deadline }, name, of);
      return target === undefined ? screenshot : explained(page, target, screenshot, scope);
    }
    case "switch to tab": {
      const ends = performance.now() + timeout;
      let tab = tabs.find(action.tab);
      while (tab === undefined && performance.now() < ends) {
        await deadline.sleep(LOOK_MS);
        tab = tabs.find(action.tab);
      }
      if (tab === undefined) throw new StepFailed(`there is no open ${action.tab} tab`);
      await tabs.switchTo(tab);
      const remaining = Math.max(1, ends - performance.now());
      await tab.waitForLoadState("load", { timeout: remaining }).catch(() => undefined);
      return;
    }
    case "cookie": {
      const { name, value } = action;
      // The page, or the one that is opened next.
      const { origin } = new URL(page.url() === "about:blank" ? scope.url : page.url());
      return context.addCookies([{ name, value, url: origin }]);
    }
    case "har":
      if (!scope.secrets.allowCode())
        throw new StepFailed("the run uses a secret, so no HAR file is used");
      return replay(action.file, scope);
    default:
      for (const plan of actsOf(action) ?? []) await act(plan, scope, timeout);
  }
}

/** Executes a plan on the current tab, which may close itself on the input or before it, as sign-in popups do. */
async function act(plan: Act, scope: StepScope, timeout: number): Promise<void> {
  const { page, events, deadline } = scope;
  try {
    await actOn(page, plan, scope, timeout);
  } catch (error) {
    const received = scope.page === page ? undefined : receivedAtClose(error);
    if (received === undefined) throw error;
    if (received === "nothing") await act(plan, scope, timeout);
  }
  // A tab that closes itself on the input is known to have closed after another answer; the next step must not use it.
  if (events.tabs.all.length > 1)
    await deadline.within(timeout, page.evaluate(SOON)).catch(() => undefined);
}

const SOON = "new Promise((done) => setTimeout(done, 50))";
const HOLDS = "the field holds a secret: fill or clear it; only Enter, Tab and Escape are pressed";

/** Executes a plan: one call of Playwright with a strict locator. */
async function actOn(page: Page, plan: Act, scope: StepScope, timeout: number): Promise<void> {
  const { on, method, args, options, target } = plan;
  const values = await Promise.all(args.map((arg) => resolved(arg, scope)));
  const { secrets } = scope;
  const [secret] = args.flatMap((arg) => Object(arg).secret ?? []).map(String);
  if (target === undefined) {
    if (secret !== undefined) throw new StepFailed("a secret is only typed into a field: add into");
    if (await editsSecret(page, undefined, plan, secrets)) throw new StepFailed(HOLDS);
    return call(page, method, method === "reload" ? [{ timeout }] : values);
  }
  const locator = locatorOf(page, on);
  const perform = async () => {
    await locator.waitFor({ state: "attached", timeout });
    const field = secret === undefined ? null : await locator.elementHandle({ timeout });
    if (secret !== undefined && field !== null)
      return writeSecret(secret, field, method, values, secrets, timeout);
    if (await editsSecret(page, locator, plan, secrets)) throw new StepFailed(HOLDS);
    const last = { ...Object(options), timeout };
    return Reflect.apply(Reflect.get(locator, method), locator, [...values, last]);
  };
  await explained(page, target, perform(), scope);
}

/** Calls a method by its path: `keyboard.press`, `context().route`. */
async function call(page: Page, path: string, args: readonly unknown[]): Promise<void> {
  const parts = path.split(".");
  const method = parts.pop() ?? "";
  let on: object = page;
  for (const part of parts) {
    const member: unknown = Reflect.get(on, part.replace("()", ""));
    on = Object(typeof member === "function" ? Reflect.apply(member, on, []) : member);
  }
  await Reflect.apply(Reflect.get(on, method), on, args);
}

/** An argument for Playwright; secrets and files are read when needed. */
async function resolved(arg: unknown, scope: StepScope): Promise<unknown> {
  if (typeof arg !== "object" || arg === null || arg instanceof RegExp) return arg;
  if (isChain(arg)) return locatorOf(scope.page, arg);
  if (Array.isArray(arg)) return Promise.all(arg.map((each) => resolved(each, scope)));
  if (isMatch(arg)) {
    const matches = urlMatcher(arg.glob);
    return (url: URL) => matches(url.href);
  }
  if (isAnswer(arg)) return handlerOf(arg, scope);
  if ("secret" in arg) return scope.secrets.all.value(String(arg.secret));
  return "file" in arg ? scope.readUpload(String(arg.file)) : arg;
}

async function goto(text: string, { page, guard, deadline }: StepScope): Promise<void> {
  const url = parseTargetUrl(text, page.url());
  if (typeof url === "string")
    throw new ToolError("denied", `goto ${shown(text)}: ${url}.`, {
      hint: "Pass an http or https URL, or a path.",
    });
  await guard.check(url);
  await page.goto(url.href, { waitUntil: "domcontentloaded", timeout: 0 });
  const timeout = Math.max(1, Math.min(STEP_MS, deadline.leftMs));
  await page.waitForLoadState("load", { timeout }).catch(() => undefined);
}

/** Explains in one sentence why an action failed. */
async function explained(
  page: Page,
  target: Target,
  work: Promise<unknown>,
  { secrets }: Pick<StepScope, "secrets">,
): Promise<void> {
  try {
    await work;
  } catch (error) {
    if (error instanceof ToolError || page.isClosed()) throw error;
    if (error instanceof StepFailed) throw error;
    const message = secrets.all.redact(plain(error));
    refuseSelector(message);
    const name = target.text;
    const reason = () => (isMissing(message) ? missing(page, target) : reasonOf(error, name));
    throw new StepFailed(ambiguity(message, name) ?? (await reason()));
  }
}
