import { ToolError } from "@refmcp/boundary/answer";
import type { NetworkGuard } from "@refmcp/boundary/forward-proxy";
import type { Page } from "playwright";
import { type CheckScope, holds, until } from "../check/check.ts";
import { parseTargetUrl } from "../language/address.ts";
import { NETWORK_SPEEDS, type Step, type Target } from "../language/ast.ts";
import { urlMatcher } from "../language/matching.ts";
import { type Act, type Argument, isAnswer, isChain, isMatch } from "../language/plan.ts";
import { rowOf } from "../language/script.ts";
import { CONDITIONS, CPU } from "../language/steps-around.ts";
import { describeTarget } from "../language/target.ts";
import {
  ambiguity,
  isMissing,
  plain,
  reasonOf,
  receivedAtClose,
  refuseSelector,
  shown,
} from "../library.ts";
import { focused, refusedComparison, refusedEdit, writeSecret } from "../secrets/guard.ts";
import type { RunArtifacts } from "./artifacts.ts";
import type { Upload } from "./downloads.ts";
import { missing } from "./miss.ts";
import { handlerOf } from "./routes.ts";
import { isMarked, locatorOf, noteFound, noteNamed, targetOn } from "./targets.ts";

export interface StepScope extends CheckScope {
  readonly url: URL;
  readonly stepMs?: number | undefined;
  readonly guard: NetworkGuard;
  readonly readUpload: (path: string) => Promise<Upload>;
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
      const { passed, actual } = await (action.kind === "expect" ? holds : until)(
        action.assertion,
        scope,
      );
      if (!passed) throw new StepFailed(actual);
      return;
    }
    case "wait for load":
      return page.waitForLoadState("load", { timeout });
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
      events.answers.push({ accept: true, text: action.text });
      return;
    case "dismiss dialog":
      events.answers.push({ accept: false, text: undefined });
      return;
    case "back":
    case "forward": {
      const before = page.url();
      await (action.kind === "back" ? page.goBack({ timeout }) : page.goForward({ timeout }));
      // Navigation within a page has no response either, but the address changes.
      if (page.url() === before) throw new StepFailed(`there is no page to go ${action.kind} to`);
      return;
    }
    case "screenshot": {
      const { name, target } = action;
      const of = target === undefined ? undefined : targetOn(page, target);
      const taken = scope.artifacts.takeScreenshot({ page, deadline, name, of });
      return target === undefined ? taken : explained(page, target, taken);
    }
    case "switch to new tab":
    case "switch to tab": {
      const wanted = action.kind === "switch to tab" ? action.position : "new";
      const ends = performance.now() + timeout;
      let tab = tabs.find(wanted);
      while (tab === undefined && performance.now() < ends) {
        await deadline.sleep(LOOK_MS);
        tab = tabs.find(wanted);
      }
      const none =
        wanted === "new"
          ? "no new tab opened"
          : `there is no open tab ${wanted} of ${tabs.all.length}`;
      if (tab === undefined) throw new StepFailed(none);
      await tabs.switchTo(tab);
      const left = Math.max(1, ends - performance.now());
      await tab.waitForLoadState("load", { timeout: left }).catch(() => undefined);
      return;
    }
    case "close tab":
      if (tabs.all.filter((tab) => !tab.isClosed()).length === 1)
        throw new StepFailed("it is the only tab");
      return page.close();
    case "cookie": {
      const { name, value } = action;
      return context.addCookies([{ name, value, url: siteOf(scope) }]);
    }
    case "local storage":
      return store(page, siteOf(scope), action.name, action.value);
    case "throttle cpu":
      return throttle(page, CPU, { rate: action.rate });
    case "throttle network":
      return throttle(page, CONDITIONS, { offline: false, ...NETWORK_SPEEDS[action.speed] });
    case "time zone":
    case "locale":
      // Context options, set when the context was created.
      return;
    default:
      for (const one of rowOf(action).acts?.(action) ?? []) await act(one, scope, timeout);
  }
}

/** The origin that a setup step is about: that of the page, or of the one that is opened next. */
const siteOf = ({ page, url }: StepScope): string =>
  new URL(page.url() === "about:blank" ? url : page.url()).origin;

/** Sets an item of the local storage, also before its page is opened: then once, when it is. */
async function store(page: Page, origin: string, name: string, value: string): Promise<void> {
  const item = { origin, name, value };
  await page.addInitScript(({ origin: site, name: key, value: text }) => {
    if (location.origin === site && localStorage.getItem(key) === null)
      localStorage.setItem(key, text);
  }, item);
  if (page.url() !== "about:blank")
    await page.evaluate(({ name: key, value: text }) => localStorage.setItem(key, text), item);
}

/** Sends a command of the Chrome DevTools Protocol. */
async function throttle(page: Page, command: string, params: object): Promise<void> {
  if (page.context().browser()?.browserType().name() !== "chromium")
    throw new StepFailed("only Chromium can be throttled");
  const session = await page.context().newCDPSession(page);
  // The protocol's types tie each command to its parameters; here both come from one place.
  await Reflect.apply(session.send, session, [command, params]);
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
    await deadline
      .within(
        timeout,
        page.evaluate(() => undefined),
      )
      .catch(() => undefined);
}

/** Executes a plan: one call of Playwright with a strict locator. */
async function actOn(page: Page, plan: Act, scope: StepScope, timeout: number): Promise<void> {
  const { on, method, args, options, timed = false, target } = plan;
  const given = await Promise.all(args.map((one) => resolved(one, scope)));
  const [secret] = args.flatMap((one) =>
    typeof one === "object" && "secret" in one ? [String(one.secret)] : [],
  );
  if (target === undefined) {
    if (secret !== undefined) {
      const field = await focused(page);
      if (field === undefined)
        throw new StepFailed("no field has the focus; use type … into, or click the field first");
      const writing = writeSecret(secret, field, "pressSequentially", given, scope, timeout);
      return explained(page, undefined, writing);
    }
    await checkEdit(page, undefined, method, given);
    return call(page, method, timed ? [...given, { timeout }] : given);
  }
  const locator = locatorOf(page, on);
  const perform = async () => {
    const { kind } = target.base;
    const isNoted = kind === "quoted" || kind === "field";
    if (isNoted || secret !== undefined || isMarked(target))
      await locator.waitFor({ state: "attached", timeout });
    // If there are several, the step itself says so.
    if (isNoted) await noteFound(page, on, target, scope.found).catch(() => undefined);
    else if (isMarked(target)) await noteNamed(page, locator, target, scope).catch(() => undefined);
    if (secret !== undefined) return writeSecret(secret, locator, method, given, scope, timeout);
    await checkEdit(page, locator, method, given);
    return Reflect.apply(Reflect.get(locator, method), locator, [
      ...given,
      { ...options, timeout },
    ]);
  };
  await explained(page, target, perform());
}

async function checkEdit(...edit: Parameters<typeof refusedEdit>): Promise<void> {
  const refusal = await refusedEdit(...edit);
  if (refusal !== undefined) throw new StepFailed(refusal);
}

/** Calls a method by its path: `keyboard.press`, `context().route`. */
async function call(page: Page, path: string, given: readonly unknown[]): Promise<void> {
  const parts = path.split(".");
  const method = parts.pop() ?? "";
  let on: object = page;
  for (const part of parts) {
    const found: unknown = Reflect.get(on, part.replace("()", ""));
    on = Object(typeof found === "function" ? Reflect.apply(found, on, []) : found);
  }
  await Reflect.apply(Reflect.get(on, method), on, given);
}

/** An argument for Playwright; secrets and files are read when needed. */
async function resolved(one: Argument, scope: StepScope): Promise<unknown> {
  if (isChain(one)) return locatorOf(scope.page, one);
  if (Array.isArray(one)) return Promise.all(one.map((each) => resolved(each, scope)));
  if (isMatch(one)) {
    const matches = urlMatcher(one.glob);
    // With a pattern such as **/?q=h* a mock would tell whether the secret begins with this letter.
    return (url: URL) => matches(scope.secrets.seen(url.href));
  }
  if (isAnswer(one)) return handlerOf(one, scope);
  if (typeof one === "object" && "secret" in one)
    return scope.secrets.all.value(String(one.secret));
  if (typeof one === "object" && "file" in one) return scope.readUpload(String(one.file));
  return one;
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
  target: Target | undefined,
  work: Promise<unknown>,
): Promise<void> {
  try {
    await work;
  } catch (error) {
    if (error instanceof ToolError || page.isClosed()) throw error;
    const message = plain(error);
    const refused = refusedComparison(message);
    if (refused !== undefined) throw new StepFailed(refused);
    refuseSelector(message);
    if (target === undefined) throw new StepFailed(reasonOf(error, "the field"));
    const name = describeTarget(target);
    const reason = () => (isMissing(message) ? missing(page, target) : reasonOf(error, name));
    throw new StepFailed(ambiguity(message, name) ?? (await reason()));
  }
}
