import { ToolError } from "@refmcp/boundary/answer";
import type { NetworkGuard } from "@refmcp/boundary/forward-proxy";
import type { Locator, Page, Route } from "playwright";
import { contentTypeOf } from "../export/print.ts";
import type { Assertion, Step, Target } from "../language/ast.ts";
import type { Found } from "../language/explicit.ts";
import {
  type Act,
  type Answer,
  type Argument,
  actsOf,
  isAnswer,
  isChain,
  isMatch,
} from "../language/plan.ts";
import { describeTarget } from "../language/target.ts";
import { urlMatcher } from "../language/values.ts";
import { parseTargetUrl } from "../network/address.ts";
import { changeEnvironment, type EnvironmentScope } from "./environment.ts";
import { type Outcome, refuseSelector } from "./expectation.ts";
import { refusedComparison } from "./guard.ts";
import { locatorOf, noteFound, targetOn } from "./locate.ts";
import type { Quiet } from "./quiet.ts";
import type { SecretsInRun } from "./secrets-in-run.ts";
import { ambiguity, missing, plain, shown } from "./strict.ts";
import { focused, refuseEdit, StepFailed, writeSecret } from "./writing.ts";

/** The dependencies of steps. */
export interface StepScope extends EnvironmentScope {
  readonly secrets: SecretsInRun;
  /** The current tab. */
  readonly page: Page;
  readonly quiet: Quiet;
  /** Maximum wait of one action for its element. */
  readonly stepMs: number | undefined;
  readonly guard: NetworkGuard;
  /** Reads a file that may be uploaded. */
  readonly file: (path: string) => Promise<{ name: string; mimeType: string; buffer: Buffer }>;
  /** Waits for an assertion, for `wait for` steps. */
  readonly until: (assertion: Assertion) => Promise<Outcome>;
  /** Checks an assertion, for `expect` steps. */
  readonly holds: (assertion: Assertion) => Promise<Outcome>;
  readonly screenshot: (name: string | undefined, of: Locator | undefined) => Promise<void>;
  readonly found: Found;
}

/** Default maximum wait of one action for its element, and its share of the run's time. */
const STEP_MS = 10_000;
const ACTING_SHARE = 0.7;
/** A network counts as idle after this long without a request, as in Playwright. */
const IDLE_MS = 500;

/**
 * Performs one step.
 *
 * @throws StepFailed if the page prevents it.
 * @throws ToolError if the step itself is at fault (a refused URL, an unknown secret, a file out of bounds).
 */
export async function perform({ action }: Step, scope: StepScope): Promise<void> {
  const { page, deadline } = scope;
  // Leaves some of the run's time for the verdict.
  const timeout = Math.max(1, Math.min(scope.stepMs ?? STEP_MS, deadline.leftMs * ACTING_SHARE));
  switch (action.kind) {
    case "goto":
      return goto(action.url, scope);
    case "wait":
      return deadline.sleep(action.milliseconds);
    case "wait for":
    case "expect": {
      const { assertion } = action;
      const { passed, actual } = await (action.kind === "expect" ? scope.holds : scope.until)(assertion);
      if (!passed) throw new StepFailed(actual);
      return;
    }
    case "wait for load":
      if (action.state === "load") return page.waitForLoadState("load", { timeout });
      if (!(await scope.quiet.settled({ quietMs: IDLE_MS, atMostMs: timeout })))
        throw new StepFailed(`requests kept the network busy for ${Math.round(timeout / 1_000)} s`);
      return;
    case "scroll": {
      if (typeof action.to !== "string") {
        const { to } = action;
        return explained(page, to, targetOn(page, to).scrollIntoViewIfNeeded({ timeout }));
      }
      return page.evaluate(
        (edge) => window.scrollTo(0, edge === "top" ? 0 : document.documentElement.scrollHeight),
        action.to,
      );
    }
    case "dialog":
      scope.record.answers.push({ accept: action.accept, text: action.text });
      return;
    case "history": {
      const before = page.url();
      await (action.direction === "back" ? page.goBack({ timeout }) : page.goForward({ timeout }));
      // Navigation within a page has no response either, but the address changes.
      if (page.url() === before) throw new StepFailed(`there is no page to go ${action.direction} to`);
      return;
    }
    case "reload":
      await page.reload({ timeout });
      return;
    case "viewport":
      return page.setViewportSize({ width: action.width, height: action.height });
    case "screenshot": {
      const { name, target } = action;
      const of = target === undefined ? undefined : targetOn(page, target);
      const taken = scope.screenshot(name, of);
      return target === undefined ? taken : explained(page, target, taken);
    }
    case "switch tab":
    case "close tab":
    case "throttle cpu":
    case "throttle network":
    case "save state":
    case "use state":
    case "time zone":
    case "locale": {
      const refusal = await changeEnvironment(action, scope, timeout);
      if (refusal !== undefined) throw new StepFailed(refusal);
      return;
    }
    default:
      for (const one of actsOf(action)) await act(one, scope, timeout);
  }
}

/** Executes a plan: one call of Playwright with a strict locator. */
async function act(
  { on, method, args, options, target }: Act,
  scope: StepScope,
  timeout: number,
): Promise<void> {
  const { page } = scope;
  const given = await Promise.all(args.map((one) => resolved(one, scope)));
  const secret = args.flatMap((one) =>
    typeof one === "object" && "secret" in one ? [String(one.secret)] : [],
  )[0];
  if (target === undefined) {
    if (secret !== undefined) {
      const field = await focused(page);
      return explained(
        page,
        undefined,
        writeSecret(secret, field, "pressSequentially", given, scope, timeout),
      );
    }
    await refuseEdit(page, undefined, method, given);
    await call(page, method, given);
    return;
  }
  const locator = locatorOf(page, on);
  const perform = async () => {
    if (target.base.kind === "quoted") {
      await locator.waitFor({ state: "attached", timeout });
      await noteFound(page, on, target, scope.found);
    }
    if (secret !== undefined) return writeSecret(secret, locator, method, given, scope, timeout);
    await refuseEdit(page, locator, method, given);
    return Reflect.apply(Reflect.get(locator, method), locator, [...given, { ...options, timeout }]);
  };
  await explained(page, target, perform());
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
  if (typeof one === "object" && "secret" in one) return scope.secrets.value(String(one.secret));
  if (typeof one === "object" && "file" in one) return scope.file(String(one.file));
  return one;
}

/** Requests whose response a page does not run by itself, and content that it may run all the same. */
const DATA = /^(?:fetch|xhr|image|media|font)$/;
const CODE = /html|xml|svg|script|css/;

/** Responds to mocked requests; the file is read once, before the first. */
async function handlerOf(
  { method, reply }: Answer,
  scope: StepScope,
): Promise<(route: Route) => Promise<void>> {
  if (reply === "blocked") return (route) => route.abort();
  const { status, body, file } = reply;
  const content = file === undefined ? undefined : await scope.file(file);
  const answer = {
    status,
    ...(body === undefined ? {} : { body, contentType: contentTypeOf(body) }),
    ...(content === undefined ? {} : { body: content.buffer, contentType: content.mimeType }),
  };
  const type = content?.mimeType ?? (body === undefined ? "" : contentTypeOf(body));
  return (route) => {
    const request = route.request();
    if (method !== undefined && request.method() !== method) return route.fallback();
    const isCode = type !== "" && (!DATA.test(request.resourceType()) || CODE.test(type));
    if (isCode && !scope.secrets.allowCode()) {
      scope.record.notes.add("a mock with a page, script or style sheet was not used: a secret was written");
      return route.abort();
    }
    return route.fulfill(answer);
  };
}

/** Opens a URL: absolute, or relative to the current page. */
async function goto(text: string, { page, guard, deadline }: StepScope): Promise<void> {
  const url = parseTargetUrl(text, page.url());
  if (typeof url === "string")
    throw new ToolError("denied", `goto ${shown(text)}: ${url}.`, {
      hint: "Pass an http or https URL, or a path.",
    });
  await guard.check(url);
  await page.goto(url.href, { waitUntil: "domcontentloaded", timeout: 0 });
  await page
    .waitForLoadState("load", { timeout: Math.max(1, Math.min(STEP_MS, deadline.leftMs)) })
    .catch(() => undefined);
}

/** Explains in one sentence why an action failed. */
async function explained(page: Page, target: Target | undefined, work: Promise<unknown>): Promise<void> {
  try {
    await work;
  } catch (error) {
    if (error instanceof ToolError || page.isClosed()) throw error;
    const message = plain(error);
    const refused = refusedComparison(message);
    if (refused !== undefined) throw new StepFailed(refused);
    refuseSelector(message);
    const isMissing = /Timeout .*exceeded/.test(message) && !/locator resolved to/.test(message);
    if (target === undefined) throw new StepFailed(reasonOf(error, "the field"));
    throw new StepFailed(
      ambiguity(message, target) ??
        (isMissing ? await missing(page, target) : reasonOf(error, describeTarget(target))),
    );
  }
}

/** The reason in a Playwright error, without its call log's repetitions. */
export function reasonOf(error: unknown, target: string): string {
  const text = plain(error);
  const intercepts = /(<[^\n]{0,200}) intercepts pointer events/.exec(text)?.[1];
  if (intercepts !== undefined) return `${target} is covered by ${shown(intercepts)}`;
  const state = /element is (not (?:enabled|visible|editable|stable)|outside (?:of )?the viewport)/.exec(
    text,
  )?.[1];
  if (state === "not enabled") return `${target} is disabled`;
  if (state !== undefined) return `${target} is ${state.replace("editable", "editable (read-only)")}`;
  if (/did not find some options/.test(text)) return `${target} has no such option`;
  if (/Timeout .*exceeded/.test(text)) return `${target} was found, but the action timed out`;
  const [first = ""] = text.split("\n");
  return shown(first.replace(/^[\w.]+: (?:Error: )?/, ""), 300).slice(1, -1);
}
