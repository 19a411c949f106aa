import type { Locator } from "playwright";

/** What a check may want to know of an element. */
export interface Facts {
  readonly text: string;
  readonly visible: boolean;
  readonly enabled: boolean;
  readonly checked: boolean;
  readonly checkable: boolean;
  readonly editable: boolean;
  readonly readonly: boolean;
  readonly focused: boolean;
  readonly empty: boolean;
  readonly inViewport: boolean;
  readonly value: string;
  readonly class: string;
  readonly id: string;
  readonly name: string;
  readonly attribute: string | null;
  readonly style: string;
}

/** Elements that are looked at, and characters of each that are read: a page can have any number of both. */
const MOST_ELEMENTS = 100;
export const MOST_CHARS = 200_000;

/** How many elements a locator finds, and the facts of the first hundred. */
export async function factsOf(
  locator: Locator,
  wanted: { readonly attribute?: string; readonly style?: string } = {},
): Promise<{ count: number; facts: Facts[] }> {
  return locator.evaluateAll(look, {
    attribute: wanted.attribute ?? "",
    style: wanted.style ?? "",
    elements: MOST_ELEMENTS,
    chars: MOST_CHARS,
  });
}

/** Runs in the page, so it uses nothing from outside itself. */
function look(
  elements: Element[],
  wanted: { attribute: string; style: string; elements: number; chars: number },
): { count: number; facts: Facts[] } {
  const textOf = (element: Element): string => {
    if (
      element instanceof HTMLInputElement ||
      element instanceof HTMLTextAreaElement ||
      element instanceof HTMLSelectElement
    )
      return element.value.slice(0, wanted.chars);
    let text = "";
    const walker = document.createTreeWalker(element, NodeFilter.SHOW_TEXT);
    for (
      let node = walker.nextNode();
      node !== null && text.length < wanted.chars;
      node = walker.nextNode()
    ) {
      if (!/^(?:SCRIPT|STYLE|NOSCRIPT|TEMPLATE)$/.test(node.parentElement?.tagName ?? ""))
        text += (node.nodeValue ?? "").slice(0, wanted.chars - text.length);
    }
    return text;
  };
  const facts = elements.slice(0, wanted.elements).map((element) => {
    const box = element.getBoundingClientRect();
    const isInput = element instanceof HTMLInputElement;
    const isField = isInput || element instanceof HTMLTextAreaElement || element instanceof HTMLSelectElement;
    const aria = (name: string) => element.getAttribute(`aria-${name}`) === "true";
    const enabled = !element.matches(":disabled") && element.closest('[aria-disabled="true"]') === null;
    const readonly =
      aria("readonly") || ((isInput || element instanceof HTMLTextAreaElement) && element.readOnly);
    const checkable = isInput && /^(?:checkbox|radio)$/.test(element.type);
    const text = textOf(element);
    const editable =
      enabled && !readonly && (isField || (element instanceof HTMLElement && element.isContentEditable));
    return {
      text,
      visible: box.width > 0 && box.height > 0 && element.checkVisibility({ visibilityProperty: true }),
      enabled,
      checked: checkable ? element.checked : aria("checked") || aria("selected") || aria("pressed"),
      checkable:
        checkable ||
        /^(?:checkbox|radio|switch|menuitemcheckbox|menuitemradio|option|tab|button)$/.test(
          element.getAttribute("role") ?? "",
        ),
      editable,
      readonly,
      focused: document.activeElement === element,
      empty: text.trim() === "" && (isField || element.children.length === 0),
      inViewport:
        box.width > 0 &&
        box.height > 0 &&
        box.bottom > 0 &&
        box.right > 0 &&
        box.top < window.innerHeight &&
        box.left < window.innerWidth,
      value: isField ? element.value.slice(0, wanted.chars) : "",
      class: element.getAttribute("class") ?? "",
      id: element.id,
      name: element.getAttribute("name") ?? "",
      attribute:
        wanted.attribute === ""
          ? null
          : (element.getAttribute(wanted.attribute)?.slice(0, wanted.chars) ?? null),
      style:
        wanted.style === "" ? "" : getComputedStyle(element).getPropertyValue(wanted.style).slice(0, 2_000),
    };
  });
  return { count: elements.length, facts };
}
