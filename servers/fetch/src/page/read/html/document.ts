import { parseHTML } from "linkedom";
import { replaceFormulas } from "./math.ts";
import { asWritten } from "./verbatim.ts";

export type PageDocument = ReturnType<typeof parseHTML>["document"];
export type PageElement = NonNullable<ReturnType<PageDocument["querySelector"]>>;

/** Elements and roles that are navigation or otherwise not content. */
const NAVIGATION =
  "nav, header, footer, aside, dialog, [role=navigation], [role=banner], [role=contentinfo], [role=search], [role=complementary], [role=menu], [role=menubar], [role=dialog], [role=alertdialog]";
/** Words in a class that mark navigation, ads and similar. An id marks nothing: `login` is also the name of a section. */
const BOILERPLATE_WORDS = new Set(
  (
    "ad ads advert advertisement breadcrumb breadcrumbs consent cookie cookies copyright drawer footer gdpr login " +
    "masthead megamenu menu modal nav navbar navigation newsletter offcanvas onetrust outbrain overlay pager pagination " +
    "popup promo recommendations recommended related share sharedaddy sharing sidebar signin signup skip social subscribe " +
    "subscription taboola toc"
  ).split(" "),
);
export const HEADINGS = "h1, h2, h3, h4, h5, h6";
/** An element with at least this share of the page's text is content, whatever its class. */
const MAX_BOILERPLATE_SHARE = 0.4;
/** A `main` with a smaller share of the page's text, or with less text, is not the entire content. */
const MAIN_SHARE = 0.3;
const MAIN_CHARS = 200;

/**
 * Parses a page with all its content in one body, as the HTML standard does: linkedom leaves elements where they are,
 * so content outside the body would be lost. It also skips CDATA sections, which HTML has only in SVG and MathML.
 * Streamed parts are moved into place, and formulas become TeX.
 */
export function parsePage(html: string): PageDocument {
  const content = html.replace(
    /<!doctype[^<>]*>|<\/?(?:html|head|body)(?:\s[^<>]*)?>|<!\[CDATA\[|\]\]>/gi,
    "",
  );
  const { document } = parseHTML(
    `<!doctype html><html><head></head><body>${content}</body></html>`,
  );
  // React streams late content as hidden elements at the end: S:1 replaces the template B:1.
  const streamed = html.includes('id="S:')
    ? [...document.querySelectorAll('div[hidden][id^="S:"]')]
    : [];
  const templates =
    streamed.length === 0 ? [] : [...document.querySelectorAll('template[id^="B:"]')];
  const places = new Map(templates.map((template) => [template.id.slice(1), template]));
  for (const part of streamed) {
    const place = places.get(part.id.slice(1));
    if (place === undefined) part.removeAttribute("hidden");
    else place.replaceWith(...part.childNodes);
    places.delete(part.id.slice(1));
  }
  replaceFormulas(document, html);
  return document;
}

/** An element's text, with every run of whitespace as one space. */
export function textOf(element: { textContent: string | null }): string {
  return asWritten(element.textContent ?? "")
    .replace(/\s+/g, " ")
    .trim();
}

/** A header in one of these is not the page's (the HTML standard). */
const SECTIONS = "article, main, section";

/** Removes menus and similar elements, except around `kept`; an article keeps its header. */
export function removeNavigation(document: PageDocument, kept?: PageElement): void {
  for (const element of [...document.querySelectorAll(NAVIGATION)])
    if (
      (!/^(?:HEADER|FOOTER)$/.test(element.tagName) || element.closest(SECTIONS) === null) &&
      !(kept && element.contains(kept))
    )
      element.remove();
}

/**
 * The outermost elements whose class marks them as navigation, ads or similar.
 *
 * @param chars the length of the page's text
 */
export function boilerplateIn(
  document: PageDocument,
  chars = textOf(document.body).length,
): PageElement[] {
  const most = chars * MAX_BOILERPLATE_SHARE;
  const found: PageElement[] = [];
  // In document order, so the descendants of a match come right after it.
  for (const element of document.body.querySelectorAll("[class]"))
    if (
      !found.at(-1)?.contains(element) &&
      isBoilerplate(element) &&
      textOf(element).length < most &&
      !isTitle(element) &&
      element.closest("pre, dt") === null &&
      element.querySelector("pre") === null
    )
      found.push(element);
  return found;
}

/** Whether an element is most of its heading: Sphinx marks links in headings as "toc-backref". */
function isTitle(element: PageElement): boolean {
  const heading = element.parentElement?.closest(HEADINGS);
  return (
    heading !== null && heading !== undefined && textOf(element).length > textOf(heading).length / 2
  );
}

/** Generators of references, which have few paragraphs and sometimes little code. */
const REFERENCE = ["javadoc", "Doxygen", "rustdoc", "gi-docgen", "GTK-Doc", "DocBook"]
  .map((name) => `meta[name="generator"][content^="${name}"]`)
  .join(", ");

/** Whether a generator of references made a page. */
export const isReference = (document: PageDocument): boolean =>
  document.querySelector(REFERENCE) !== null;

function isBoilerplate(element: PageElement): boolean {
  if (/^(?:BODY|MAIN|ARTICLE)$/.test(element.tagName)) return false;
  const names: string = (element.getAttribute("class") ?? "").slice(0, 500);
  return names
    .replace(/[0-9a-f]{16,}/g, "")
    .replace(/([a-z])([A-Z])/g, "$1-$2")
    .toLowerCase()
    .split(/[^a-z]+/)
    .some((word) => BOILERPLATE_WORDS.has(word));
}

/** The page's `main` if it has most of the content, otherwise the body. */
export function mainOf(document: PageDocument): PageElement {
  const mains = document.querySelectorAll("main, [role=main]");
  const all = mains.length > 0 ? textOf(document.body).length : 0;
  for (const main of mains) {
    const { length } = textOf(main);
    if (length >= MAIN_CHARS && length >= all * MAIN_SHARE) return main;
  }
  return document.body;
}
