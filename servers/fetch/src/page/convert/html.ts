/**
 * From HTML to text: parses a page once, decides which part of it answers the request, and writes that part. Runs in another
 * process (`convert.worker.ts`), because a page decides how long it takes.
 */
import { isProbablyReaderable } from "@mozilla/readability";
import { oneLine } from "@refmcp/boundary/answer";
import { decode, webAddress } from "../content/address.ts";
import { articleIn } from "../content/article.ts";
import {
  outermost,
  type PageDocument,
  type PageElement,
  parsePage,
  textOf,
} from "../content/document.ts";
import { fragmentTarget, reduceTo } from "../content/fragment.ts";
import { isParsable } from "../content/limits.ts";
import { boilerplateIn, isReference, mainOf, navigationIn } from "../content/navigation.ts";
import { markedPage, type ReadPage, readPage } from "../content/page.ts";
import { threadIn } from "../content/thread.ts";
import { markFormulas } from "../write/formulas.ts";
import { writeMarkdown } from "../write/markdown.ts";
import type { OutputOptions } from "../write/writing.ts";
import { dateOf } from "./date.ts";
import { type Metadata, metadataIn } from "./metadata.ts";
import { stripTags } from "./strip-tags.ts";

/** The parameters of a conversion. */
export interface ConversionRequest {
  readonly html: string;
  /** The page's address, for relative links. */
  readonly url: string;
  /** Only elements that match this CSS selector. */
  readonly selector?: string | undefined;
  /** Only the part that this fragment of the URL points to, percent-encoded or not. */
  readonly fragment?: string | undefined;
  readonly includeLinks: boolean;
}

/** The text of a page, how it was found, and what the page says about itself. */
export interface Conversion extends Metadata {
  readonly text: string;
  /** How the content was found. */
  readonly extractor:
    | "main content"
    | "posts of a thread"
    | "page without navigation"
    | "whole page"
    | "selected elements"
    | "part of the page"
    | "tags removed";
  /** Whether the page has almost no text without JavaScript. */
  readonly needsJavascript: boolean;
  /** Whether it has text that the page hides from view. */
  readonly hasHidden?: boolean;
  /** What the fragment points to: its heading, otherwise the fragment. */
  readonly section?: string;
  /** Why a selector has no result. */
  readonly problem?: { readonly kind: "invalid" | "not_found"; readonly message: string };
}

/** Converts a page; one that would hang a DOM is read without its tags. */
export function convertHtml(request: ConversionRequest): Conversion {
  const { html, url, selector, fragment, includeLinks } = request;
  if (!isParsable(html)) return withoutTags(html);
  const document = parsePage(html);
  markFormulas(document, html);
  const base = baseOf(document, url);
  const { facts, isArticle } = metadataIn(document, html, base);
  const options: OutputOptions = { base, includeLinks };
  if (selector !== undefined) return { ...facts, ...selected(document, selector, options) };
  const target = fragment === undefined ? undefined : fragmentTarget(document, fragment);
  if (target === undefined)
    return { ...contentOf(document, { html, isArticle }, options), ...facts };
  const { text, heading } = partAt(target, document, options);
  if (text === "") return convertHtml({ ...request, fragment: undefined });
  const section = heading ?? `#${decode(fragment ?? "")}`;
  return { ...facts, text, section, extractor: "part of the page", needsJavascript: false };
}

/** A page that cannot be parsed. */
const withoutTags = (html: string): Conversion => ({
  text: stripTags(html),
  extractor: "tags removed",
  needsJavascript: false,
});

/** Converts a whole document to Markdown. */
export function convertWhole(html: string, options: OutputOptions): string {
  if (!isParsable(html)) return stripTags(html);
  const page = readPage(parsePage(html));
  return writeMarkdown([page.document.body], page, options);
}

/** A page with less text needs JavaScript; so does one with little more, if its HTML is much longer. */
const ALMOST_NOTHING = 20;
const LITTLE = 200;
/** If less text is left without the navigation, the page marks its content as navigation. */
const MIN_CONTENT = 200;

/** The content of a page: the posts of a thread, an article, or all but its navigation. */
function contentOf(
  document: PageDocument,
  { html, isArticle }: { html: string; isArticle: boolean },
  options: OutputOptions,
): Conversion {
  const hasScript = document.querySelector("script") !== null;
  const isGenerated = isReference(document);
  const page = readPage(document);
  const all = textOf(document.body).length;
  const isEmpty = all < ALMOST_NOTHING || (all < LITTLE && html.length > 500);
  const needsJavascript = hasScript && isEmpty;
  const about = { ...(page.hasHidden ? { hasHidden: true } : {}), needsJavascript };
  const thread = threadIn(document);
  if (thread !== undefined)
    return {
      ...about,
      text: writeMarkdown([thread], page, options),
      extractor: "posts of a thread",
    };
  const navigation = navigationIn(page);
  const rest = navigation.reduce((chars, element) => chars - textOf(element).length, all);
  const whole = () => writeMarkdown([document.body], page, options);
  if (navigation.length > 0 && rest < Math.min(MIN_CONTENT, all / 4))
    return { ...about, text: whole(), extractor: "whole page" };
  for (const element of navigation) element.remove();
  const article = isGenerated ? undefined : chooseArticle(page, isArticle);
  const most = article === undefined ? Number.POSITIVE_INFINITY : article.chars * MAX_NOISE;
  for (const element of boilerplateIn(page)) if (textOf(element).length < most) element.remove();
  if (article !== undefined) {
    const text = writeMarkdown([document.body], page, options, article.selection);
    const { byline } = article;
    const published = dateOf(article.published);
    return { byline, published, ...about, text, extractor: "main content" };
  }
  const text = writeMarkdown([mainOf(document)], page, options);
  const extractor = rest < all ? "page without navigation" : "whole page";
  return { ...about, text, extractor };
}

/** What has the name of an advertisement or similar in an article is one if it has a smaller share of it. */
const MAX_NOISE = 0.1;
/** A shorter text is not an article. */
const MIN_ARTICLE = 250;
/**
 * An article with a smaller share of the page's content may be an entry of a list or a post of a thread. If the page declares
 * itself an article, it may have more comments, which don't count, but not ten times as much of other text. If the content is
 * mostly links, the rest may be teasers of other articles. Measured by `bench/content.mjs`.
 */
const SHARE = 0.4;
const SHARE_AMONG_LINKS = 0.2;
const DECLARED_SHARE = 0.1;
/** Readability is made for prose, so a page with as many blocks of code is read whole, unless it says that it is a post. */
const MUCH_CODE = 3;
const POSTS = "[itemtype$=Article], [itemtype$=BlogPosting], [itemtype$=Question], .hentry";

/** The article of a page without its navigation, if the page is one and it is most of what the page has. */
function chooseArticle(page: ReadPage, isDeclared: boolean) {
  const { document } = page;
  const content = mainOf(document);
  const whole = textOf(content).length;
  const linked = sumOf(content.querySelectorAll("a"));
  const isOfLinks = linked > whole / 2;
  const code = [...content.querySelectorAll("pre")].filter((pre) => textOf(pre) !== "").length;
  const isProse = code < MUCH_CODE || document.querySelector(POSTS) !== null;
  // A product page has few paragraphs, and its price is outside them.
  const isReadable = () => isProbablyReaderable(document, { visibilityChecker: () => true });
  if (!isDeclared && !(isProse && (isOfLinks || isReadable()))) return undefined;
  if (textOf(document.body).length < MIN_ARTICLE) return undefined;
  const article = articleIn(page);
  if (article === undefined || article.chars < MIN_ARTICLE) return undefined;
  const around = boilerplateIn(page).filter((element) => content.contains(element));
  const chars = whole - sumOf(around);
  const comments = content.querySelectorAll("[id*=comment i], [class*=comment i]");
  const declared = isOfLinks ? 0 : DECLARED_SHARE * (chars - sumOf(outermost(comments)));
  const least = isDeclared ? declared : (isOfLinks ? SHARE_AMONG_LINKS : SHARE) * chars;
  return article.chars >= least ? article : undefined;
}

const sumOf = (elements: Iterable<PageElement>): number =>
  [...elements].reduce((sum, element) => sum + textOf(element).length, 0);

/** The base of relative URLs (the HTML standard, "document base URL"). */
function baseOf(document: PageDocument, url: string): string {
  return webAddress(document.querySelector("base[href]")?.getAttribute("href"), url) ?? url;
}

/** The elements that a selector matches, with nothing left out. */
function selected(document: PageDocument, selector: string, options: OutputOptions): Conversion {
  const facts = { extractor: "selected elements", needsJavascript: false } as const;
  const quoted = JSON.stringify(selector);
  try {
    const elements = [...document.querySelectorAll(selector)];
    if (elements.length > 0)
      return { ...facts, text: writeMarkdown(elements, markedPage(document, false), options) };
    const message = `The selector ${quoted} matches nothing in the page.`;
    return { ...facts, text: "", problem: { kind: "not_found", message } };
  } catch (error) {
    const reason = error instanceof Error ? oneLine(error.message) : "";
    const message = `${quoted} is not a valid CSS selector: ${reason}.`;
    return { ...facts, text: "", problem: { kind: "invalid", message } };
  }
}

/** The visible part of a page that a fragment names, without the navigation around it; empty if it has no words. */
function partAt(named: PageElement, document: PageDocument, options: OutputOptions) {
  const place = document.createElement("a");
  place.setAttribute("name", "place");
  // An empty anchor may be hidden, while what follows is not.
  if (textOf(named) === "") named.before(place);
  const page = readPage(document);
  const element = named.isConnected ? named : place;
  if (!element.isConnected) return { text: "", heading: undefined };
  for (const around of navigationIn(page, element)) around.remove();
  for (const around of boilerplateIn(page)) if (!around.contains(element)) around.remove();
  const heading = reduceTo(element, document);
  // Line numbers, for example.
  const hasWords = /\p{L}/u.test(textOf(document.body));
  return { text: hasWords ? writeMarkdown([document.body], page, options) : "", heading };
}
