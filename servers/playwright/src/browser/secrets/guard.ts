import type { BrowserContext, ElementHandle, Frame, Locator, Page } from "playwright";
import { playwright } from "../library.ts";
import { ENGINE, guardEngine, hiderOf, type Order } from "./guard-engine.ts";
import type { SecretsInRun } from "./secrets.ts";

/** The start of each refusal that the engine throws; `refusedComparison` finds it in Playwright's message. */
const REFUSED = "after a secret was written, ";
/** Contexts in which a secret was written. */
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

/** The secrets written in a page's context; undefined if there are none. */
export const secretsOn = (page: Page): SecretsInRun | undefined => guarded.get(page.context());

const selectorOf = (secrets: SecretsInRun, order: Order) =>
  `${ENGINE}=${Buffer.from(JSON.stringify({ ...order, hidden: secrets.hidden })).toString("hex")}`;

/** Where a locator starts: at the page, or at its guarded document. */
export function rootOf(page: Page, css: readonly string[]): Page | Locator {
  const secrets = secretsOn(page);
  return secrets === undefined
    ? page
    : page.locator(selectorOf(secrets, { do: "start", ...comparedIn(css) }));
}

/** The same for a frame's document. */
export function insideOf(page: Page, frame: object, css: readonly string[]): object {
  const secrets = secretsOn(page);
  if (secrets === undefined) return frame;
  const selector = selectorOf(secrets, { do: "start", ...comparedIn(css) });
  return Object(Reflect.apply(Reflect.get(frame, "locator"), frame, [selector]));
}

/** Which attributes CSS selectors compare with a text; the browser compares those itself, unguarded. */
function comparedIn(css: readonly string[]): Pick<Order, "attributes" | "refused"> {
  const all = css.join("\n");
  if (/(?:^|>>|\n)\s*(?:xpath=|_react=|_vue=|\.\.|\(?\/\/)/.test(all))
    return { refused: `${REFUSED}XPath and component selectors are not used; name the element by its role` };
  if (/\[[^\]]*\\/.test(all))
    return { refused: `${REFUSED}attribute selectors with a backslash are not used` };
  const attributes = [...all.matchAll(/\[\s*(?:[\w-]*\|)?([\w:.-]+)\s*[~|^$*]?=/g)].flatMap(
    ([, name]) => name ?? [],
  );
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

/** Runs an order in every document of a page; documents that are going away are skipped. */
async function inFrames(page: Page, order: Order): Promise<number> {
  const secrets = secretsOn(page);
  if (secrets === undefined) return 0;
  const count = (frame: Frame) =>
    frame
      .locator(selectorOf(secrets, order))
      .count()
      .catch(() => 0);
  return (await Promise.all(page.frames().map(count))).reduce((sum, one) => sum + one, 0);
}

/** Guards the documents that a page has now, for what reads them without a locator. */
export const guardDocuments = (page: Page): Promise<unknown> => inFrames(page, { do: "start" });

/** The elements of a page that hold or show a secret: masked in pictures. */
export function masksOn(page: Page): Locator[] {
  const secrets = secretsOn(page);
  if (secrets === undefined) return [];
  return page.frames().map((frame) => frame.locator(selectorOf(secrets, { do: "shown" })));
}

/** Remembers the fields' values, to find out which of them a secret changes. */
export const noteFields = (page: Page): Promise<unknown> => inFrames(page, { do: "note" });

/** Holds the fields whose value changed since then: also those that the page filled from the written one. */
export const holdChanged = (page: Page, name: string): Promise<unknown> =>
  inFrames(page, { do: "changed", name });

/** Holds a field: whatever the page does with its label or place, its value is never read or pictured. */
export async function hold(page: Page, field: ElementHandle, name: string): Promise<void> {
  const secrets = secretsOn(page);
  if (secrets !== undefined) await field.$(selectorOf(secrets, { do: "hold", name }));
}

/** Whether an element or one inside it holds or shows a secret; selected text is deselected, because a drag takes it along. */
export async function showsSecret(page: Page, element: Locator): Promise<boolean> {
  const secrets = secretsOn(page);
  if (secrets === undefined) return false;
  return (await element.locator(selectorOf(secrets, { do: "dragged" })).count()) > 0;
}

/** Whether a field holds a secret; without a field: whether the focused one does. */
export async function isHeld(page: Page, field?: Locator): Promise<boolean> {
  const secrets = secretsOn(page);
  if (secrets === undefined) return false;
  if (field === undefined) return (await inFrames(page, { do: "focused" })) > 0;
  return (await field.locator(selectorOf(secrets, { do: "held" })).count()) > 0;
}

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
  guard(page.context(), secrets);
  await guardDocuments(page);
  await noteFields(page);
  await hold(page, element, name);
  const action = method === "pressSequentially" ? "type" : method;
  try {
    await Reflect.apply(Reflect.get(element, action), element, [...given, { timeout }]);
  } catch (error) {
    // Its first letters are too short to be recognized elsewhere on the page.
    await element.fill("", { timeout: CLEAR_MS }).catch(() => undefined);
    throw error;
  } finally {
    await holdChanged(page, name);
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
    const field = await frame.$("input:focus, textarea:focus, [contenteditable]:focus").catch(() => null);
    if (field !== null) return field;
  }
  return undefined;
}

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
  if (isPress && CLIPBOARD.test(String(first)))
    return `after a secret was written, ${String(first)} is not pressed: it could copy a part of the secret`;
  const isEdit =
    (isPress && !HARMLESS.test(String(first))) || /(?:^|\.)(?:type|pressSequentially)$/.test(method);
  if (isEdit && (await isHeld(page, field)))
    return "the field holds a secret, so only Enter, Tab, Escape and function keys are pressed in it; fill or clear it";
  if (method === "dragTo" && field !== undefined && (await showsSecret(page, field)))
    return "the element holds or shows a secret, so it is not dragged: its text could be dropped anywhere";
  return undefined;
}
