/** What surrounds the content of a page: menus, headers, advertisements. */
import {
  classOf,
  HEADINGS,
  outermost,
  type PageDocument,
  type PageElement,
  textOf,
} from "./document.ts";
import type { ReadPage } from "./page.ts";

/** Elements and roles that are navigation or otherwise not content. */
const NAVIGATION =
  "nav, header, footer, aside, dialog, [role=navigation], [role=banner], [role=contentinfo], [role=search], [role=complementary], " +
  "[role=menu], [role=menubar], [role=dialog], [role=alertdialog]";
/** A header in one of these is not the page's (the HTML standard). */
const SECTIONS = "article, main, section";
/** Words in a class that mark navigation, ads and similar. An id marks nothing: `login` is also the name of a section. */
const WORDS = new Set(
  (
    "ad ads advert advertisement breadcrumb breadcrumbs consent cookie cookies copyright drawer footer gdpr login " +
    "masthead megamenu menu modal nav navbar navigation newsletter offcanvas onetrust outbrain overlay pager pagination " +
    "popup promo recommendations recommended related share sharedaddy sharing sidebar signin signup skip social subscribe " +
    "subscription taboola toc"
  ).split(" "),
);
/** An element with at least this share of the page's text is content, with any class. */
const MAX_SHARE = 0.4;
/** A `main` with a smaller share of the page's text, or with less text, is not the entire content. */
const MAIN_SHARE = 0.3;
const MAIN_CHARS = 200;

/** The menus and similar elements of a page, except around `content`; an article keeps its header, and boxes are content. */
export function navigationIn({ document, boxes }: ReadPage, content?: PageElement): PageElement[] {
  const isOwn = (element: PageElement): boolean =>
    /^(?:header|footer)$/.test(element.localName) && element.closest(SECTIONS) !== null;
  const matches = [...document.body.querySelectorAll(NAVIGATION)].filter(
    (element) => !isOwn(element) && !boxes.has(element) && !(content && element.contains(content)),
  );
  return outermost(matches);
}

/**
 * The outermost elements whose class marks them as navigation, ads or similar.
 *
 * @param chars the length of the page's text
 */
export function boilerplateIn(
  { document, boxes }: ReadPage,
  chars = textOf(document.body).length,
): PageElement[] {
  const most = chars * MAX_SHARE;
  const matches = [...document.body.querySelectorAll("[class]")].filter(
    (element) =>
      hasWord(element) &&
      !boxes.has(element) &&
      textOf(element).length < most &&
      !isTitle(element) &&
      element.closest("pre, dt") === null &&
      element.querySelector("pre") === null,
  );
  return outermost(matches);
}

function hasWord(element: PageElement): boolean {
  if (/^(?:body|main|article)$/.test(element.localName)) return false;
  return classOf(element)
    .replace(/[0-9a-f]{16,}/g, "")
    .replace(/([a-z])([A-Z])/g, "$1-$2")
    .toLowerCase()
    .split(/[^a-z]+/)
    .some((word) => WORDS.has(word));
}

/** Whether an element is a heading, little more than one, or most of the one that it is in: Sphinx links those as "toc-backref". */
function isTitle(element: PageElement): boolean {
  const heading = element.closest(HEADINGS) ?? element.querySelector(HEADINGS);
  if (heading === null) return false;
  const [inner, outer] = [textOf(element).length, textOf(heading).length];
  return Math.min(inner, outer) > Math.max(inner, outer) / 2;
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

/** Generators of references, which have few paragraphs and sometimes little code. */
const GENERATORS = ["javadoc", "Doxygen", "rustdoc", "gi-docgen", "GTK-Doc", "DocBook"]
  .map((name) => `meta[name="generator"][content^="${name}"]`)
  .join(", ");

/** Whether a generator of references made a page. */
export const isReference = (document: PageDocument): boolean =>
  document.querySelector(GENERATORS) !== null;
