/**
 * A page as a DOM: parsed once, with all its content in one body. Everything else in this folder decides which of its
 * elements are worth reading; `write/` turns these into Markdown.
 */
import { parseHTML } from "linkedom";

export type PageDocument = ReturnType<typeof parseHTML>["document"];
export type PageElement = NonNullable<ReturnType<PageDocument["querySelector"]>>;
export type PageNode = PageElement["childNodes"][number];

export const HEADINGS = "h1, h2, h3, h4, h5, h6";

/**
 * Parses a page as the HTML standard does: linkedom leaves elements where they are, so content outside the body would
 * be lost, and it skips CDATA sections, which HTML has only in SVG and MathML.
 */
export function parsePage(html: string): PageDocument {
  const content = html.replace(
    /<!doctype[^<>]*>|<\/?(?:html|head|body)(?:\s[^<>]*)?>|<!\[CDATA\[|\]\]>/gi,
    "",
  );
  const { document } = parseHTML(
    `<!doctype html><html><head></head><body>${content}</body></html>`,
  );
  if (html.includes('id="S:')) moveStreamedParts(document);
  return document;
}

/** React streams late content as hidden elements at the end: `S:1` replaces the template `B:1`. */
function moveStreamedParts(document: PageDocument): void {
  const templates = [...document.querySelectorAll('template[id^="B:"]')];
  const places = new Map(templates.map((place) => [place.id.slice(1), place]));
  for (const part of document.querySelectorAll('div[hidden][id^="S:"]')) {
    const place = places.get(part.id.slice(1));
    if (place === undefined) part.removeAttribute("hidden");
    else place.replaceWith(...part.childNodes);
    places.delete(part.id.slice(1));
  }
}

export const isElement = (node: PageNode): node is PageElement => node.nodeType === 1;
export const isText = ({ nodeType }: PageNode): boolean => nodeType === 3;
export const isHeading = ({ localName }: PageElement): boolean => /^h[1-6]$/.test(localName);

/** An element's text, with every run of whitespace as one space. */
export const textOf = ({ textContent }: { textContent: string | null }): string =>
  (textContent ?? "").replace(/\s+/g, " ").trim();

/** The class of an element; of a hostile length only the beginning. */
export const classOf = (element: PageElement): string =>
  (element.getAttribute("class") ?? "").slice(0, 500);

/** The outermost of elements that are in document order. */
export function outermost(elements: Iterable<PageElement>): PageElement[] {
  const matches: PageElement[] = [];
  // The descendants of a match come right after it.
  for (const element of elements) if (!matches.at(-1)?.contains(element)) matches.push(element);
  return matches;
}

/**
 * The outermost element that an element fills alone, without siblings or text next to it: a heading's frame, for example.
 *
 * @param isEnd where to stop, at the latest in the body
 */
export function frameOf(
  element: PageElement,
  isEnd: (parent: PageElement) => boolean,
): PageElement {
  let frame = element;
  for (let parent = frame.parentElement; parent !== null; parent = frame.parentElement) {
    const sides = [frame.previousSibling, frame.nextSibling];
    const isAlone =
      frame.previousElementSibling === null &&
      frame.nextElementSibling === null &&
      sides.every((side) => !side?.textContent?.trim());
    if (!isAlone || parent.localName === "body" || isEnd(parent)) break;
    frame = parent;
  }
  return frame;
}
