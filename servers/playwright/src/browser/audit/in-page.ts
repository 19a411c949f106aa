import type { Page } from "playwright";

type CssOf = (element: Element) => string;

/** Runs a function in the page that describes elements as CSS. */
export const evaluateWithCss = <Value>(
  page: Page,
  work: (css: CssOf) => Promise<Value>,
): Promise<Value> => page.evaluate<Value>(`(${work})(${cssOf})`);

/** Runs in the page: CSS that finds only this element. */
function cssOf(element: Element): string {
  const parts: string[] = [];
  for (let one: Element | null = element; one !== null; one = one.parentElement) {
    const tag = one.localName;
    const id = CSS.escape(one.id);
    if (one.id !== "" && document.querySelectorAll(`#${id}`).length === 1) {
      parts.unshift(`#${id}`);
      break;
    }
    const alike = [...(one.parentElement?.children ?? [])].filter(
      (other) => other.localName === tag,
    );
    parts.unshift(alike.length > 1 ? `${tag}:nth-of-type(${alike.indexOf(one) + 1})` : tag);
  }
  return parts.join(" > ");
}
