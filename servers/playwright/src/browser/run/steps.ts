import { ToolError } from "@refmcp/core/answer";
import type { Locator, Page } from "playwright";
import { parseTargetUrl } from "../address.ts";
import type { Assertion, FillValue, Step, Target } from "../language/ast.ts";
import { describeTarget } from "../language/target.ts";
import type { Gate } from "../network/gate.ts";
import { type Outcome, shown } from "./checks.ts";
import type { Deadline } from "./deadline.ts";
import { locatorOf } from "./locate.ts";
import type { Quiet } from "./quiet.ts";
import type { PageRecord } from "./record.ts";
import type { Secrets } from "./secrets.ts";

/** What steps work with. */
export interface Stage {
  readonly page: Page;
  readonly record: PageRecord;
  readonly quiet: Quiet;
  readonly deadline: Deadline;
  /** The longest that one action waits for its element. */
  readonly stepMs: number | undefined;
  readonly secrets: Secrets;
  readonly gate: Gate;
  /** Reads a file that may be uploaded. */
  readonly file: (path: string) => Promise<{ name: string; mimeType: string; buffer: Buffer }>;
  /** Waits until an assertion holds, for a step that expects it. */
  readonly until: (assertion: Assertion) => Promise<Outcome>;
  readonly screenshot: (name: string | undefined, of: Locator | undefined) => Promise<void>;
  /** Fields that a secret was written into: they are masked in screenshots. */
  readonly secretFields: Locator[];
}

/** A step that could not be done: a finding about the page, not a fault. */
export class StepFailed extends Error {
  override readonly name = "StepFailed";
}

/** The longest that one action waits for its element without another limit, and its share of the run's time. */
const STEP_MS = 10_000;
const ACTING_SHARE = 0.7;
/** A network counts as idle after this long without a request, as in Playwright. */
const IDLE_MS = 500;

/**
 * Does one step.
 *
 * @throws StepFailed where the page does not let it.
 * @throws ToolError where the step itself is at fault (a refused URL, an unknown secret, a file out of bounds).
 */
export async function perform({ action }: Step, stage: Stage): Promise<void> {
  const { page, deadline } = stage;
  // One budget for finding the element and acting on it; a part of the run's time is left for its verdict.
  const until = performance.now() + Math.min(stage.stepMs ?? STEP_MS, deadline.leftMs * ACTING_SHARE);
  const left = (): number => Math.max(1, until - performance.now());
  const timeout = left();
  const one = (all: Locator): Promise<Locator> => firstVisible(all, left());
  const on = (target: Target, field = false) => locatorOf(page, target, field);
  switch (action.kind) {
    case "goto":
      return goto(action.url, stage);
    case "click": {
      const options = { button: action.button, clickCount: action.count };
      return acted(
        action.target,
        one(on(action.target)).then((it) => it.click({ ...options, timeout: left() })),
      );
    }
    case "fill": {
      const text = writtenText(action.value, stage);
      const field = await one(on(action.target, true));
      if ("secret" in action.value) stage.secretFields.push(field);
      return acted(action.target, field.fill(text, { timeout: left() }));
    }
    case "type":
      return page.keyboard.insertText(writtenText(action.value, stage));
    case "press":
      if (action.target === undefined) return page.keyboard.press(action.key);
      return acted(action.target, on(action.target, true).first().press(action.key, { timeout }));
    case "check": {
      const box = await one(on(action.target, true));
      return acted(action.target, box.setChecked(action.checked, { timeout: left() }));
    }
    case "select": {
      const list = await one(on(action.target, true));
      const chosen = list.selectOption([...action.options], { timeout: left() });
      return acted(
        action.target,
        chosen.then(() => undefined),
      );
    }
    case "upload": {
      const files = await Promise.all(action.files.map((path) => stage.file(path)));
      const field = await one(on(action.target, true));
      return acted(action.target, field.setInputFiles(files, { timeout: left() }));
    }
    case "hover":
    case "focus":
    case "clear": {
      const it = await one(on(action.target, action.kind !== "hover"));
      return acted(action.target, it[action.kind]({ timeout: left() }));
    }
    case "wait":
      return deadline.sleep(action.milliseconds);
    case "wait for":
    case "expect": {
      const { passed, actual } = await stage.until(action.assertion);
      if (!passed) throw new StepFailed(actual);
      return;
    }
    case "wait for load":
      if (action.state === "load") return page.waitForLoadState("load", { timeout });
      if (!(await stage.quiet.settled({ quietMs: IDLE_MS, atMostMs: timeout })))
        throw new StepFailed(`requests kept the network busy for ${Math.round(timeout / 1_000)} s`);
      return;
    case "scroll":
      if (typeof action.to !== "string")
        return acted(action.to, on(action.to).first().scrollIntoViewIfNeeded({ timeout }));
      return page.evaluate(
        (edge) => window.scrollTo(0, edge === "top" ? 0 : document.documentElement.scrollHeight),
        action.to,
      );
    case "drag": {
      const from = await one(on(action.from));
      return acted(action.from, from.dragTo(await one(on(action.to)), { timeout }));
    }
    case "dialog":
      stage.record.answers.push({ accept: action.accept, text: action.text });
      return;
    case "history": {
      const before = page.url();
      await (action.direction === "back" ? page.goBack({ timeout }) : page.goForward({ timeout }));
      // Within a page there is no response either, but the address changes.
      if (page.url() === before) throw new StepFailed(`there is no page to go ${action.direction} to`);
      return;
    }
    case "reload":
      await page.reload({ timeout });
      return;
    case "viewport":
      return page.setViewportSize({ width: action.width, height: action.height });
    case "screenshot":
      return stage.screenshot(
        action.name,
        action.target === undefined ? undefined : on(action.target).first(),
      );
  }
}

/** Goes to a URL: absolute, or relative to where the page is. */
async function goto(text: string, { page, gate, deadline }: Stage): Promise<void> {
  const url = parseTargetUrl(text, page.url());
  if (typeof url === "string")
    throw new ToolError("denied", `goto ${shown(text)}: ${url}.`, {
      hint: "Give a URL of http or https, or a path.",
    });
  await gate.check(url);
  await page.goto(url.href, { waitUntil: "domcontentloaded", timeout: 0 });
  await page
    .waitForLoadState("load", { timeout: Math.max(1, Math.min(STEP_MS, deadline.leftMs)) })
    .catch(() => undefined);
}

function writtenText(value: FillValue, { secrets }: Stage): string {
  return "secret" in value ? secrets.value(value.secret) : value.text;
}

/**
 * One element to act on: of several the first that is visible, as a person would take it. It waits for one to
 * appear.
 */
async function firstVisible(all: Locator, timeout: number): Promise<Locator> {
  await all
    .first()
    .waitFor({ state: "attached", timeout })
    .catch(() => undefined);
  const count = await all.count();
  for (let i = 0; count > 1 && i < Math.min(count, 50); i++)
    if (await all.nth(i).isVisible()) return all.nth(i);
  return all.first();
}

/** Says in one sentence why an action was not possible. */
async function acted(target: Target, work: Promise<void>): Promise<void> {
  try {
    await work;
  } catch (error) {
    throw new StepFailed(reasonOf(error, describeTarget(target)));
  }
}

/** The reason in a Playwright error, without its call log's repetitions. */
export function reasonOf(error: unknown, target: string): string {
  const text = error instanceof Error ? error.message : String(error);
  const intercepts = /(<[^\n]{0,200}) intercepts pointer events/.exec(text)?.[1];
  if (intercepts !== undefined) return `${target} is covered by ${shown(intercepts)}`;
  if (/element is not enabled/.test(text)) return `${target} is disabled`;
  if (/element is not visible/.test(text)) return `${target} is not visible`;
  if (/did not find some options/.test(text)) return `${target} has no such option`;
  if (/Timeout .*exceeded/.test(text)) return `nothing matches ${target}, or it cannot be used yet`;
  const [first = ""] = text.split("\n");
  return shown(first.replace(/^[\w.]+: (?:Error: )?/, ""), 300).slice(1, -1);
}
