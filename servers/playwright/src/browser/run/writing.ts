import type { ElementHandle, Locator, Page } from "playwright";
import {
  guard,
  guardDocuments,
  hold,
  holdChanged,
  isHeld,
  noteFields,
  secretsOn,
  showsSecret,
} from "./guard.ts";
import type { SecretsInRun } from "./secrets-in-run.ts";

/** A step that failed: a finding about the page, not an error. */
export class StepFailed extends Error {
  override readonly name = "StepFailed";
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
  if (secrets.isBound(name)) secrets.check(name, await documentOf(element));
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

/** The field with the focus, in any frame, even after it loses it. */
export async function focused(page: Page): Promise<ElementHandle> {
  for (const frame of page.frames()) {
    const field = await frame.$("input:focus, textarea:focus, [contenteditable]:focus").catch(() => null);
    if (field !== null) return field;
  }
  throw new StepFailed("no field has the focus; use type … into, or click the field first");
}

/** Keys that copy, cut, paste and undo: with them a part of a secret could get anywhere. */
const CLIPBOARD =
  /(?:Control|Meta|ControlOrMeta)\+(?:.*\+)?(?:(?:Key)?[CXVZY]|Insert)$|Shift\+(?:.*\+)?(?:Insert|Delete)$/i;
/** Keys that leave a field's value unchanged. */
const HARMLESS = /^(?:Shift\+)?(?:Enter|Tab|Escape|F\d+)$/;

/**
 * Refuses to copy a secret or to change a part of it: what remains could be read letter by letter.
 *
 * @throws StepFailed with the steps that are allowed instead.
 */
export async function refuseEdit(
  page: Page,
  field: Locator | undefined,
  method: string,
  [first]: readonly unknown[],
): Promise<void> {
  if (secretsOn(page) === undefined) return;
  const isPress = /(?:^|\.)press$/.test(method);
  if (isPress && CLIPBOARD.test(String(first)))
    throw new StepFailed(
      `after a secret was written, ${String(first)} is not pressed: it could copy a part of the secret`,
    );
  const isEdit =
    (isPress && !HARMLESS.test(String(first))) || /(?:^|\.)(?:type|pressSequentially)$/.test(method);
  if (isEdit && (await isHeld(page, field)))
    throw new StepFailed(
      "the field holds a secret, so only Enter, Tab, Escape and function keys are pressed in it; fill or clear it",
    );
  if (method === "dragTo" && field !== undefined && (await showsSecret(page, field)))
    throw new StepFailed(
      "the element holds or shows a secret, so it is not dragged: its text could be dropped anywhere",
    );
}
