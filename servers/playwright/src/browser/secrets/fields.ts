import { randomBytes } from "node:crypto";
import type { ElementHandle, Frame, Locator, Page } from "playwright";
import type { Act } from "../language/ast.ts";
import { framesOf, playwright } from "../library.ts";
import type { Secrets, SecretsInRun } from "./secrets.ts";

// Which elements hold or show a secret is found by our own selector engine. It runs in the isolated world where
// Playwright reads a page, so no script of the page sees it, and works as a locator: for masks, and inside others.

const ENGINE = `secret${randomBytes(8).toString("hex")}`;

interface Order {
  /** `hold` marks the root as a field with a secret; `read` finds what a check of the root would read. */
  readonly do: "hold" | "show" | "read";
  readonly values: readonly string[];
}

/** Runs in the page, once for each document. */
function engine() {
  const held = new WeakSet<Node>();
  const isField = (element: Element) =>
    element instanceof HTMLInputElement || element instanceof HTMLTextAreaElement;
  const elementsOf = (root: ParentNode): Element[] =>
    [...root.querySelectorAll("*")].flatMap((element) =>
      element.shadowRoot === null ? [element] : [element, ...elementsOf(element.shadowRoot)],
    );
  const textsOf = (el: Element): string[] => [
    ...(el instanceof HTMLInputElement || el instanceof HTMLTextAreaElement ? [el.value] : []),
    ...el.getAttributeNames().map((name) => el.getAttribute(name) ?? ""),
    ...[el, ...(el.shadowRoot === null ? [] : [el.shadowRoot])].map((node) =>
      [...node.childNodes].map((part) => (part.nodeType === 3 ? part.nodeValue : "")).join(""),
    ),
  ];
  const queryAll = (root: Document | Element, body: string): Element[] => {
    const bytes = Uint8Array.from(body.match(/../g) ?? [], (byte) => Number.parseInt(byte, 16));
    const order: Order = JSON.parse(new TextDecoder().decode(bytes));
    if (order.do === "hold") held.add(root);
    const shows = (element: Element) =>
      held.has(element) ||
      textsOf(element).some((text) => order.values.some((value) => text.includes(value)));
    const elements = [...(root instanceof Element ? [root] : []), ...elementsOf(root)];
    // The text of an element does not have the values of the fields in it.
    return elements.filter(
      (node) => (order.do !== "read" || node === root || !isField(node)) && shows(node),
    );
  };
  return {
    queryAll,
    query: (root: Document | Element, body: string) => queryAll(root, body)[0] ?? null,
  };
}

let registered: Promise<void> | undefined;

/** Adds the engine to Playwright, before the first context is created. */
export function registerEngine(): Promise<void> {
  registered ??= playwright().selectors.register(
    ENGINE,
    { content: `(${engine})()` },
    { contentScript: true },
  );
  return registered;
}

function selectorFor(what: Order["do"], { values }: Secrets): string {
  // Of a shorter value, the elements that show it would be almost all.
  const order: Order = { do: what, values: values.filter(({ length }) => length >= 3) };
  return `${ENGINE}=${Buffer.from(JSON.stringify(order)).toString("hex")}`;
}

/** The elements of a page that hold or show a secret: masked in pictures. */
export const masksOn = (page: Page, secrets: SecretsInRun): Locator[] =>
  secrets.isInUse
    ? framesOf(page).map((frame) => frame.locator(selectorFor("show", secrets.all)))
    : [];

/** Whether a check of these elements would read a secret. */
export const readsSecret = async (on: Locator, secrets: SecretsInRun): Promise<boolean> =>
  secrets.isInUse && (await on.locator(selectorFor("read", secrets.all)).count()) > 0;

/** Keys that leave a field's value unchanged. */
const HARMLESS = /^(?:Shift\+)?(?:Enter|Tab|Escape|F\d+)$/;

/** Whether keys would edit or copy a field with a secret, so that a part of it could be read. */
export async function editsSecret(
  page: Page,
  field: Locator | undefined,
  { method, args: [key] }: Pick<Act, "method" | "args">,
  secrets: SecretsInRun,
): Promise<boolean> {
  const isKeys = /(?:^|\.)(?:press|type|pressSequentially)$/.test(method);
  if (!secrets.isInUse || !isKeys || HARMLESS.test(String(key))) return false;
  const fields = field === undefined ? framesOf(page).map((doc) => doc.locator(":focus")) : [field];
  const readings = fields.map((input) => readsSecret(input, secrets).catch(() => false));
  return (await Promise.all(readings)).includes(true);
}

/**
 * Writes a secret only into the element whose origin was checked, even if the page navigates in between, and holds it:
 * from now on, its value is never read or pictured.
 */
export async function writeSecret(
  name: string,
  field: ElementHandle,
  method: string,
  args: readonly unknown[],
  secrets: SecretsInRun,
  timeout: number,
): Promise<void> {
  secrets.use();
  secrets.all.check(name, await documentOf(await field.ownerFrame()));
  await field.$(selectorFor("hold", secrets.all));
  const action = method === "pressSequentially" ? "type" : method;
  await Reflect.apply(Reflect.get(field, action), field, [...args, { timeout }]);
}

/** The URL of the document that decides where an element's content is sent. */
async function documentOf(frame: Frame | null): Promise<string> {
  let owner = frame;
  // A document without its own URL has its parent's origin.
  while (owner !== null && /^about:/.test(owner.url()) && owner.parentFrame() !== null)
    owner = owner.parentFrame();
  return owner?.url() ?? "";
}
