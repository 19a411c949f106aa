/** The part of a page that the fragment of a URL names: a section, a term with its description, a row, an element. */
import { decode } from "./address.ts";
import {
  HEADINGS,
  isElement,
  isHeading,
  isText,
  type PageDocument,
  type PageElement,
  type PageNode,
  textOf,
} from "./document.ts";

const INLINE = /^(?:A|ABBR|B|CODE|DFN|EM|I|IMG|KBD|SAMP|SMALL|SPAN|STRONG|SUB|SUP|VAR)$/;
/** An element with such content is more than the frame of its heading. */
const CONTENT = "p, pre, ul, ol, dl, table, blockquote, figure";
/** Next to a heading, links to the source and versions are shorter, and content is longer. */
const MAX_LABEL = 80;

/**
 * The element that a fragment names (the HTML standard, "find a potential indicated element"). GitHub prefixes the ids in
 * a README, but not the links to them.
 */
export function fragmentTarget(document: PageDocument, fragment: string): PageElement | undefined {
  const names = [fragment, decode(fragment)].flatMap((name) => [name, `user-content-${name}`]);
  for (const name of names) {
    const named =
      document.getElementById(name) ??
      [...document.querySelectorAll("a[name]")].find(
        (anchor) => anchor.getAttribute("name") === name,
      );
    if (named && document.body.contains(named)) return named;
  }
  return undefined;
}

/**
 * Removes everything from a page except the part that an element marks: the section under a heading, a term with its
 * description, what follows an empty anchor, otherwise the element or the block around it.
 *
 * @returns the heading, if the part begins with one.
 */
export function reduceTo(element: PageElement, document: PageDocument): string | undefined {
  const isEmpty = isEmptyAnchor(element);
  const next = isEmpty ? firstAfter(element, (item) => isHeading(item)) : undefined;
  const heading =
    element.closest(HEADINGS) ??
    headingIn(element) ??
    (next?.hasTextBefore === false ? next.element : undefined);
  const start = heading ?? blockOf(element);
  const end = document.createElement("a");
  if (heading !== undefined) {
    const level = levelOf(heading);
    const after = firstAfter(heading, (item) => isHeading(item) && levelOf(item) <= level);
    putBefore(after?.element, end, start);
  } else if (start.localName === "dt") lastOfTerm(start).after(end);
  else if (isEmpty) {
    const isSame = (item: PageElement) =>
      item.localName === element.localName && isEmptyAnchor(item);
    const after = firstAfter(
      element,
      (item, hasText) => hasText && (isHeading(item) || isSame(item)),
    );
    putBefore(after?.element, end, start);
  } else {
    // Without the lists and boxes around it, unless it needs them.
    if (!/^(?:body|li|tr)$/.test(start.localName)) document.body.replaceChildren(start);
    start.after(end);
  }
  if (!end.isConnected) document.body.append(end);
  const head =
    start.localName === "tr" ? start.closest("table")?.querySelector("thead") : undefined;
  for (let at = start; at !== document.body && at.parentElement !== null; at = at.parentElement)
    while (at.previousSibling !== null) at.previousSibling.remove();
  for (let at = end; at !== document.body && at.parentElement !== null; at = at.parentElement)
    while (at.nextSibling !== null) at.nextSibling.remove();
  if (head) start.before(head);
  return heading && textOf(heading).slice(0, 200);
}

const levelOf = (heading: PageElement): number => Number(heading.localName.slice(1));

/** Whether an element with a name only marks a place. */
const isEmptyAnchor = (element: PageElement): boolean =>
  (element.id !== "" || element.hasAttribute("name")) &&
  textOf(element) === "" &&
  element.localName !== "img" &&
  element.querySelector("img") === null;

/** The heading of an element that is only its frame. */
function headingIn(element: PageElement): PageElement | undefined {
  const heading = element.querySelector(HEADINGS);
  if (heading === null || element.querySelector(CONTENT) !== null) return undefined;
  return textOf(element).length - textOf(heading).length <= MAX_LABEL ? heading : undefined;
}

/** The smallest block around an element that can be understood alone. */
function blockOf(element: PageElement): PageElement {
  let block = element;
  while (
    INLINE.test(block.tagName) &&
    block.parentElement &&
    block.parentElement.tagName !== "BODY"
  )
    block = block.parentElement;
  const whole = block.closest("dt, summary, tr");
  return (whole?.localName === "summary" ? whole.parentElement : whole) ?? block;
}

/** The last description of a term. */
function lastOfTerm(term: PageElement): PageElement {
  let last = term;
  for (let next = term.nextElementSibling; next !== null; next = next.nextElementSibling) {
    if (next.localName === "dt" && last.localName === "dd") break;
    last = next;
  }
  return last;
}

/** The first matching element after the end of another, and whether there is text in between. */
function firstAfter(
  element: PageElement,
  matches: (item: PageElement, hasTextBefore: boolean) => boolean,
): { element: PageElement; hasTextBefore: boolean } | undefined {
  let hasTextBefore = false;
  let at: PageNode = element;
  let next = at.nextSibling;
  while (at.parentElement !== null) {
    if (next === null) {
      at = at.parentElement;
      next = at.nextSibling;
      continue;
    }
    at = next;
    if (isElement(at) && matches(at, hasTextBefore)) return { element: at, hasTextBefore };
    hasTextBefore ||= isText(at) && at.textContent?.trim() !== "";
    next = at.firstChild ?? at.nextSibling;
  }
  return undefined;
}

/** Puts the end of a part before an element, or before the outermost element that begins with it. */
function putBefore(element: PageElement | undefined, end: PageElement, start: PageElement): void {
  if (element === undefined) return;
  let at = element;
  for (
    let outer = at.parentElement;
    outer !== null && !outer.contains(start);
    outer = at.parentElement
  ) {
    const isFirst = at.previousElementSibling === null && !at.previousSibling?.textContent?.trim();
    if (!isFirst && headingIn(outer) !== element) break;
    at = outer;
  }
  at.before(end);
}
