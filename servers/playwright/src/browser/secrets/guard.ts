import type { BrowserContext, ElementHandle, Locator, Page } from "playwright";
import { playwright } from "../library.ts";
import { ENGINE, guardEngine, hiderOf, type Order } from "./guard-engine.ts";
import type { SecretsInRun } from "./secrets.ts";

/** The start of each refusal that the engine throws; `refusedComparison` finds it in Playwright's message. */
const REFUSED = "to protect a secret, ";
/** Contexts whose pages may show a secret. */
const guarded = new WeakMap<BrowserContext, SecretsInRun>();
let registered: Promise<void> | undefined;

/** Adds the engine to Playwright, before the first context is created. */
export function registerGuard(): Promise<void> {
  registered ??= playwright().selectors.register(
    ENGINE,
    { content: `(${guardEngine})(${hiderOf})` },
    { contentScript: true },
  );
  return registered;
}

export function guard(context: BrowserContext, secrets: SecretsInRun): void {
  guarded.set(context, secrets);
}

/** The secrets that a page may show; undefined if there are none. */
export const secretsOn = (page: Page): SecretsInRun | undefined => guarded.get(page.context());

/** The engine's selector for an order on a page; undefined if there are no secrets. */
function selectorOn(page: Page, order: Order): string | undefined {
  const secrets = secretsOn(page);
  if (secrets === undefined) return undefined;
  const { hidden, isWritten, pieces } = secrets;
  const body = JSON.stringify({ ...order, hidden, isWritten, pieces });
  return `${ENGINE}=${Buffer.from(body).toString("hex")}`;
}

/** Where a locator starts: at the page or frame, or at its guarded document. */
export function startOf(page: Page, on: object, css: readonly string[]): object {
  const selector = selectorOn(page, { do: "start", ...comparedIn(css) });
  return selector === undefined
    ? on
    : Object(Reflect.apply(Reflect.get(on, "locator"), on, [selector]));
}

/** What CSS selectors compare with a text; the browser compares that itself, unguarded. */
function comparedIn(css: readonly string[]): Pick<Order, "attributes" | "refused"> {
  const all = css.join("\n");
  if (/(?:^|>>|\n)\s*(?:xpath=|_react=|_vue=|\.\.|\(?\/\/)/.test(all))
    return {
      refused: `${REFUSED}XPath and component selectors are not used; name the element by its role`,
    };
  if (/\[[^\]]*\\/.test(all))
    return { refused: `${REFUSED}attribute selectors with a backslash are not used` };
  if (/:(?:user-)?(?:in)?valid\b|-range\b/.test(all))
    return { refused: `${REFUSED}selectors do not test whether a field is valid` };
  const attributes = [
    ...[...all.matchAll(/\[\s*(?:[\w-]*\|)?([\w:.-]+)\s*[~|^$*]?=/g)].flatMap(
      ([, name]) => name ?? [],
    ),
    ...(/\.[\w\\-]/.test(all) ? ["class"] : []),
    ...(/#[\w\\-]/.test(all) ? ["id"] : []),
    ...(all.includes(":lang(") ? ["lang"] : []),
  ];
  if (attributes.length === 0) return {};
  const names = attributes.join(", ");
  return {
    attributes: attributes.map((name) => name.toLowerCase()),
    refused: `${REFUSED}selectors do not compare ${names}: on this page it contains a part of the secret`,
  };
}

/** The engine's refusal in a message of Playwright; undefined if it is about something else. */
export function refusedComparison(message: string): string | undefined {
  const at = message.indexOf(REFUSED);
  return at < 0 ? undefined : message.slice(at).split("\n")[0];
}

/** The elements that an order finds in each document of a page. */
function inFrames(page: Page, order: Order): Locator[] {
  const selector = selectorOn(page, order);
  return selector === undefined ? [] : page.frames().map((frame) => frame.locator(selector));
}

/** How many those are together; documents that are going away are skipped. */
async function countInFrames(page: Page, order: Order): Promise<number> {
  const counts = await Promise.all(
    inFrames(page, order).map((found) => found.count().catch(() => 0)),
  );
  return counts.reduce((sum, one) => sum + one, 0);
}

/** Guards the documents that a page has now, for what reads them without a locator. */
export const guardDocuments = (page: Page): Promise<unknown> =>
  countInFrames(page, { do: "start" });

/** The elements of a page that hold or show a secret: masked in pictures. */
export const masksOn = (page: Page): Locator[] => inFrames(page, { do: "shown" });

/** Where those are; never twice the same for one that an animation moves. */
export const whereShown = (page: Page): Promise<unknown> =>
  Promise.all(masksOn(page).map((found) => onAll(found, placesOf).catch(() => undefined)));

/** Runs in the page. */
function placesOf(all: Element[]) {
  const unmoving = /^(?:offset|computedOffset|easing|composite|opacity|color|backgroundColor)$/;
  const moves = ({ playState, effect }: Animation) =>
    playState === "running" &&
    effect instanceof KeyframeEffect &&
    effect.getKeyframes().some((frame) => Object.keys(frame).some((name) => !unmoving.test(name)));
  return all.map((one) => {
    // The engine found no smaller element around all that is drawn, so it may be drawn outside the root, too.
    if (one === document.documentElement) return { isEverywhere: true };
    for (let at: Element | null = one; at !== null; at = at.parentElement)
      if (at.getAnimations().some(moves)) return { movedAt: performance.now() };
    return one.getBoundingClientRect();
  });
}

/**
 * Runs a function in the page on all elements of a locator. Playwright's `evaluateAll` finds them in the world of the
 * page's scripts: the guard would run there, and the page itself would read `[secret NAME]` from its fields.
 *
 * @returns what the function returns; undefined if there are no elements.
 */
async function onAll<Value>(
  locator: Locator,
  work: (all: Element[]) => Value,
): Promise<Value | undefined> {
  const all = await locator.elementHandles();
  try {
    const frame = await all[0]?.ownerFrame();
    if (!frame) return undefined;
    const run = await frame.evaluateHandle<typeof work>(`(${work})`);
    return await run.evaluate<Value, object>(
      (one, given) => Reflect.apply(one, undefined, [given]),
      all,
    );
  } finally {
    await Promise.all(all.map((one) => one.dispose()));
  }
}

/** Whether an order finds anything at an element. */
async function matches(page: Page, element: Locator, order: Order): Promise<boolean> {
  const selector = selectorOn(page, order);
  return selector !== undefined && (await element.locator(selector).count()) > 0;
}

/** Whether a field holds a secret; without a field: whether the focused one does. */
export const isHeld = async (page: Page, field?: Locator): Promise<boolean> =>
  field === undefined
    ? (await countInFrames(page, { do: "focused" })) > 0
    : matches(page, field, { do: "held" });

/** How long clearing a half-written field may take. */
const CLEAR_MS = 1_000;

/**
 * Writes a secret only into the element whose origin was checked, even if the page navigates in between, and holds it:
 * from now on, its value is never read or pictured.
 */
export async function writeSecret(
  name: string,
  field: Locator | ElementHandle,
  method: string,
  given: readonly unknown[],
  { page, secrets }: { readonly page: Page; readonly secrets: SecretsInRun },
  timeout: number,
): Promise<void> {
  if ("elementHandle" in field) await field.waitFor({ state: "attached", timeout });
  const element = "elementHandle" in field ? await field.elementHandle({ timeout }) : field;
  if (element === null) throw new Error("the field disappeared");
  if (secrets.all.isBound(name)) secrets.all.check(name, await documentOf(element));
  if (!secrets.hasWritten(name)) secrets.written(name, await textsOf(page));
  // To find out which fields a secret changes: also those that the page fills from the written one are held.
  await countInFrames(page, { do: "note" });
  const action = method === "pressSequentially" ? "type" : method;
  try {
    await Reflect.apply(Reflect.get(element, action), element, [...given, { timeout }]);
  } catch (error) {
    // Its first letters are too short to be recognized elsewhere on the page.
    await element.fill("", { timeout: CLEAR_MS }).catch(() => undefined);
    throw error;
  } finally {
    if ((await countInFrames(page, { do: "changed", name })) > 0)
      secrets.pieces = `[secret ${name}]`;
  }
}

/** The URL of the document that decides where an element's content is sent. */
async function documentOf(element: ElementHandle): Promise<string> {
  let frame = await element.ownerFrame();
  // A document without its own URL has its parent's origin.
  while (frame !== null && /^about:/.test(frame.url()) && frame.parentFrame() !== null)
    frame = frame.parentFrame();
  return frame?.url() ?? "";
}

/** The HTML of a page and its frames. */
async function textsOf(page: Page): Promise<string> {
  const texts = await Promise.all(page.frames().map((frame) => frame.content().catch(() => "")));
  return texts.join("\n");
}

/** The field with the focus, in any frame, even after it loses it; undefined if none has it. */
export async function focused(page: Page): Promise<ElementHandle | undefined> {
  for (const frame of page.frames()) {
    const field = await frame
      .$("input:focus, textarea:focus, [contenteditable]:focus")
      .catch(() => null);
    if (field !== null) return field;
  }
  return undefined;
}

/** Whether the clipboard or the page may have a secret, as far as is known. */
const mayCopy = async (page: Page): Promise<boolean> =>
  secretsOn(page)?.isWritten === true || (await countInFrames(page, { do: "shown" })) > 0;

/** Keys that copy, cut, paste and undo: with them a part of a secret could get anywhere. */
const CLIPBOARD =
  /(?:Control|Meta|ControlOrMeta)\+(?:.*\+)?(?:(?:Key)?[CXVZY]|Insert)$|Shift\+(?:.*\+)?(?:Insert|Delete)$/i;
/** Keys that leave a field's value unchanged. */
const HARMLESS = /^(?:Shift\+)?(?:Enter|Tab|Escape|F\d+)$/;

/**
 * Refuses to copy a secret or to change a part of it: what remains could be read letter by letter.
 *
 * @returns why not, with the steps that are allowed instead; undefined if nothing is refused.
 */
export async function refusedEdit(
  page: Page,
  field: Locator | undefined,
  method: string,
  [first]: readonly unknown[],
): Promise<string | undefined> {
  if (secretsOn(page) === undefined) return undefined;
  const isPress = /(?:^|\.)press$/.test(method);
  if (isPress && CLIPBOARD.test(String(first)) && (await mayCopy(page)))
    return `${REFUSED}${String(first)} is not pressed: it could copy a part of it`;
  const isEdit =
    (isPress && !HARMLESS.test(String(first))) ||
    /(?:^|\.)(?:type|pressSequentially)$/.test(method);
  if (isEdit && (await isHeld(page, field)))
    return "the field holds a secret, so only Enter, Tab, Escape and function keys are pressed in it; fill or clear it";
  if (method === "dragTo" && field !== undefined && (await matches(page, field, { do: "dragged" })))
    return "the element holds or shows a secret, so it is not dragged: its text could be dropped anywhere";
  return undefined;
}
