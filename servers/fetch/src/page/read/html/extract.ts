import { isProbablyReaderable } from "@mozilla/readability";
import { dataOf } from "../../data/page-data.ts";
import { embeddedHtml } from "../../data/state.ts";
import { type Metadata, metadataIn } from "../metadata.ts";
import { decoded } from "../outline.ts";
import { readArticle } from "./article.ts";
import {
  boilerplateIn,
  isReference,
  mainOf,
  type PageDocument,
  type PageElement,
  parsePage,
  removeNavigation,
  textOf,
} from "./document.ts";
import { fragmentTarget, reduceTo, similarTo } from "./fragment.ts";
import { removeHiddenContent } from "./hidden.ts";
import { isParsable } from "./limits.ts";
import { formatHtml, type OutputOptions, simplify } from "./markdown.ts";
import { stripTags } from "./strip-tags.ts";
import { threadIn } from "./thread.ts";

/** The parameters of a conversion. */
export interface ConversionRequest {
  readonly html: string;
  /** The page's address, for relative links. */
  readonly url: string;
  /** links: only the page's links, one per line; data: its structured data and tables. */
  readonly format: "markdown" | "text" | "links" | "data";
  /** Only elements that match this CSS selector. */
  readonly selector?: string | undefined;
  /** Only the part that this fragment of the URL points to, percent-encoded or not. */
  readonly fragment?: string | undefined;
  readonly includeLinks: boolean;
}

export interface Conversion extends Metadata {
  readonly text: string;
  /** How the content was found: main content, the page without navigation, the whole page, or without a DOM. */
  readonly extractor:
    | "readability"
    | "thread"
    | "navigation removed"
    | "body"
    | "selector"
    | "fragment"
    | "stream"
    | "links"
    | "data"
    | "embedded";
  /** Whether the page has almost no text without JavaScript. */
  readonly needsJavascript: boolean;
  /** Whether it has text that the page hides from view. */
  readonly hasHidden?: boolean;
  /** What the fragment points to: its heading, otherwise the fragment. */
  readonly section?: string;
  /** If the fragment points to nothing: similar names. */
  readonly similar?: readonly string[];
  /** How many elements the selector matched. */
  readonly found?: number;
  /** Whether `#` and an id were meant, which CSS reads differently. */
  readonly isId?: boolean;
  /** Why the selector is invalid. */
  readonly selectorProblem?: string;
}

/** A shorter text is not an article. */
const LITTLE = 250;
/** If less text is left without the navigation, the page marks its content as navigation. Measured likewise. */
const LEFT = 200;
/**
 * An article with a smaller share of the page's content may be an entry of a list or a post of a thread. If the page
 * declares itself an article, it may have more comments, which don't count, but not ten times as much of other text. If the
 * content is mostly links, the rest may be teasers of other articles. Measured by `bench/content.mjs`.
 */
const SHARE = 0.4;
const SHARE_AMONG_LINKS = 0.2;
const DECLARED_SHARE = 0.1;
/**
 * Readability is made for prose: in a page with many blocks of code it drops signatures, headings and examples. It is still
 * used for posts (by their microdata or hAtom), but not if it loses more than a tenth of an article's blocks. Measured likewise,
 * and on Debian's documentation packages by `test/technical.long.test.ts`.
 */
const MUCH_CODE = 3;
const POSTS = "[itemtype$=Article], [itemtype$=BlogPosting], [itemtype$=Question], .hentry";
const KEPT_CODE = 0.9;

/**
 * Converts HTML to Markdown or text: the main content that Readability finds; if that is too small a part of the page,
 * `main` or the body without navigation; if that is almost empty, everything. A page that would hang a DOM parser is
 * converted as a stream of tags.
 */
export function convertHtml(request: ConversionRequest): Conversion {
  const { html, url, format, selector, fragment, includeLinks } = request;
  if (!isParsable(html)) {
    const plain = stripTags(html);
    const writing = {
      base: url,
      format: format === "text" ? format : "markdown",
      includeLinks,
    } as const;
    return {
      text: formatHtml(html, plain, writing),
      extractor: "stream",
      needsJavascript: false,
      ...titleOf(html),
    };
  }
  const document = parsePage(html);
  const base = baseOf(document, url);
  const { facts, isArticle } = metadataIn(document, html, base);
  const writing: OutputOptions = {
    base,
    format: format === "text" ? format : "markdown",
    includeLinks,
  };
  if (selector !== undefined)
    return { ...selected(document, selector, format === "data" ? format : writing), ...facts };
  if (format === "data")
    return { ...facts, text: dataOf(document), extractor: "data", needsJavascript: false };
  if (format === "links")
    return { ...facts, text: linksOf(document, base), extractor: "links", needsJavascript: false };
  const hasScript = document.querySelector("script") !== null;
  if (fragment !== undefined) {
    const named = fragmentTarget(document, fragment);
    const part = named && partAt(named, document, writing);
    const similar = named ? [] : similarTo(fragment, document);
    if (part === undefined) return { ...convertHtml({ ...request, fragment: undefined }), similar };
    const { text, heading = `#${decoded(fragment)}` } = part;
    return { ...facts, text, section: heading, extractor: "fragment", needsJavascript: false };
  }
  const isGenerated = isReference(document);
  const hasHidden = removeHiddenContent(document);
  const all = textOf(document.body);
  const about = {
    ...facts,
    ...(hasHidden ? { hasHidden } : {}),
    needsJavascript: hasScript && (all.length < 20 || (all.length < 200 && html.length > 500)),
  };
  const embedded = about.needsJavascript ? embeddedHtml(parsePage(html)) : "";
  if (embedded !== "")
    return {
      ...about,
      text: convertWhole(embedded, writing),
      extractor: "embedded",
      needsJavascript: false,
    };
  const thread = threadIn(document);
  if (thread !== undefined)
    return { ...about, text: convertElement(thread, document, writing), extractor: "thread" };
  removeNavigation(document);
  const withoutNavigation = textOf(document.body);
  const hasNavigation = withoutNavigation.length < all.length;
  const content = mainOf(document);
  const boilerplate = boilerplateIn(document, withoutNavigation.length);
  const contentChars =
    content === document.body ? withoutNavigation.length : textOf(content).length;
  const chars = boilerplate
    .filter((element) => content.contains(element))
    .reduce((rest, element) => rest - textOf(element).length, contentChars);
  const comments = isArticle ? commentsIn(content) : 0;
  const isOfLinks = linkedIn(content) > contentChars / 2;
  const code = codeIn(content);
  const isProse = (code < MUCH_CODE && !isGenerated) || document.querySelector(POSTS) !== null;
  // A product page has few paragraphs, and its price is outside them.
  const mayBeArticle =
    isArticle ||
    (isProse && (isOfLinks || isProbablyReaderable(document, { visibilityChecker: () => true })));
  const isTried = mayBeArticle && withoutNavigation.length >= LITTLE;
  // Readability changes the document.
  const untouched = isTried ? document.body.cloneNode(true) : document.body;
  const article = isTried ? readArticle(document) : undefined;
  const share = isOfLinks ? SHARE_AMONG_LINKS : SHARE;
  const least = isArticle ? DECLARED_SHARE * (isOfLinks ? 0 : chars - comments) : share * chars;
  const isEnough = article !== undefined && article.chars >= LITTLE && article.chars >= least;
  if (isEnough && codeIn(article.content) >= code * KEPT_CODE) {
    const text = convertElement(article.content, document, writing);
    return { ...article.facts, ...about, text, extractor: "readability" };
  }
  if (hasNavigation && withoutNavigation.length < Math.min(LEFT, all.length / 4)) {
    const whole = parsePage(html);
    removeHiddenContent(whole);
    return { ...about, text: convertElement(whole.body, whole, writing), extractor: "body" };
  }
  if (isTried) document.body.replaceWith(untouched);
  for (const element of isTried ? boilerplateIn(document, withoutNavigation.length) : boilerplate)
    element.remove();
  const text = convertElement(mainOf(document), document, writing);
  return { ...about, text, extractor: hasNavigation ? "navigation removed" : "body" };
}

/** The number of blocks of code. */
function codeIn(element: PageElement): number {
  let count = 0;
  for (const pre of element.querySelectorAll("pre")) if (textOf(pre) !== "") count += 1;
  return count;
}

/** The number of characters in comments on an article. */
function commentsIn(element: PageElement): number {
  let chars = 0;
  let last: PageElement | undefined;
  for (const comment of element.querySelectorAll("[id*=comment i], [class*=comment i]")) {
    if (last?.contains(comment)) continue;
    last = comment;
    chars += textOf(comment).length;
  }
  return chars;
}

/** The number of characters in links. */
function linkedIn(element: PageElement): number {
  let chars = 0;
  for (const link of element.querySelectorAll("a")) chars += textOf(link).length;
  return chars;
}

/** Converts a whole document to Markdown or text. */
export function convertWhole(html: string, writing: OutputOptions): string {
  if (!isParsable(html)) return formatHtml(html, stripTags(html), writing);
  const document = parsePage(html);
  return convertElement(document.body, document, writing);
}

function convertElement(
  element: PageElement,
  document: PageDocument,
  writing: OutputOptions,
): string {
  simplify(element, document);
  return formatHtml(element.outerHTML, element.textContent ?? "", writing);
}

/** The base of relative URLs (the HTML standard, "document base URL"). */
function baseOf(document: PageDocument, url: string): string {
  const href = document.querySelector("base[href]")?.getAttribute("href") ?? "";
  const base = URL.canParse(href, url) ? new URL(href, url) : undefined;
  return base?.protocol === "http:" || base?.protocol === "https:" ? base.href : url;
}

function selected(document: PageDocument, selector: string, writing: OutputOptions | "data") {
  const isId = selector.startsWith("#") && document.getElementById(selector.slice(1)) !== null;
  const facts = { extractor: "selector", needsJavascript: false, isId } as const;
  let elements: PageElement[];
  try {
    elements = [...document.querySelectorAll(selector)];
  } catch (error) {
    const selectorProblem = error instanceof Error ? error.message : String(error);
    return { ...facts, text: "", selectorProblem };
  }
  if (writing === "data")
    return { ...facts, text: dataOf(document, elements), found: elements.length };
  // Rows are converted as rows only inside a table.
  const tables = new Map<PageElement | null, PageElement>();
  const blocks = new Set<PageElement>();
  for (const element of elements) {
    const table = /^(?:TR|THEAD|TBODY|TFOOT)$/.test(element.tagName)
      ? element.closest("table")
      : undefined;
    const block =
      (table !== undefined && tables.get(table)) ||
      document.createElement(table === undefined ? "div" : "table");
    if (table !== undefined) tables.set(table, block);
    blocks.add(block);
    block.append(element.cloneNode(true));
  }
  const text = [...blocks]
    .map((block) => {
      const holder = document.createElement("div");
      holder.append(block);
      return convertElement(holder, document, writing);
    })
    .join("\n\n");
  return { ...facts, text, found: elements.length };
}

/** The visible part of a page that a fragment names, without the navigation around it. */
function partAt(named: PageElement, document: PageDocument, writing: OutputOptions) {
  const place = document.createElement("a");
  place.setAttribute("name", "place");
  // An empty anchor may be hidden, while what follows is not.
  if (textOf(named) === "") named.before(place);
  removeHiddenContent(document);
  const element = named.isConnected ? named : place;
  if (!element.isConnected) return undefined;
  removeNavigation(document, element);
  for (const around of boilerplateIn(document)) if (!around.contains(element)) around.remove();
  const heading = reduceTo(element, document);
  // Line numbers, for example.
  if (!/\p{L}/u.test(textOf(document.body))) return undefined;
  return { text: convertElement(document.body, document, writing), heading };
}

/** The page's links as lines of Markdown in document order, each URL once. */
function linksOf(document: PageDocument, base: string): string {
  const links = new Map<string, string>();
  for (const link of document.querySelectorAll("a[href], area[href]")) {
    const href = link.getAttribute("href") ?? "";
    if (/^\s*(?:#|javascript:|data:)/i.test(href) || !URL.canParse(href, base)) continue;
    const address = new URL(href, base).href;
    const words =
      textOf(link) ||
      link.getAttribute("aria-label") ||
      link.querySelector("img")?.getAttribute("alt") ||
      "";
    if (!links.get(address)) links.set(address, words.replace(/[[\]]/g, "").slice(0, 200));
  }
  return [...links].map(([address, words]) => `- [${words}](${address})`).join("\n");
}

function titleOf(html: string): { title?: string } {
  const title = /<title[^>]{0,200}>([^<]{1,300})/i
    .exec(html.slice(0, 100_000))?.[1]
    ?.replace(/\s+/g, " ")
    .trim();
  return title ? { title } : {};
}
