import { htmlToMarkdown } from "@mdream/js";
import { isProbablyReaderable, Readability } from "@mozilla/readability";
import { parseHTML } from "linkedom";
import { isModest } from "./shape.ts";
import { withoutTags } from "./without-tags.ts";

type Document = ReturnType<typeof parseHTML>["document"];

/** What a conversion is asked for. */
export interface ConversionRequest {
  readonly html: string;
  /** The page's address, for relative links. */
  readonly url: string;
  readonly format: "markdown" | "text";
  /** Only what this CSS selector finds. */
  readonly selector?: string | undefined;
  readonly includeLinks: boolean;
}

export interface Conversion {
  readonly text: string;
  /** How the content was found: main content, the page without its frame, the whole page, or without a DOM. */
  readonly extractor: "readability" | "frameless" | "body" | "selector" | "stream";
  readonly title?: string;
  readonly byline?: string;
  readonly published?: string;
  readonly language?: string;
  readonly description?: string;
  /** Whether the page has next to no text without JavaScript. */
  readonly needsJavascript: boolean;
  /** How many elements the selector found. */
  readonly found?: number;
  /** Why the selector cannot be read. */
  readonly selectorProblem?: string;
}

/** Less text than this is no article. */
const LITTLE = 250;
/** Content that is less than this share of the page without its frame is not trusted to be all that matters. */
const SHARE = 0.7;
const FRAME =
  "nav, header, footer, aside, [role=navigation], [role=banner], [role=contentinfo], [role=search], form[role=search]";
const DEAD =
  "script, style, template, noscript, iframe, object, embed, svg, canvas, link, meta, title, base, [hidden], [aria-hidden=true]";

/**
 * HTML → markdown or text. Main content by Readability; where that loses too much, the body without its frame; where that
 * is empty, everything. A page whose shape would hang a DOM is converted as a stream of tags.
 */
export function convertHtml(request: ConversionRequest): Conversion {
  const { html, selector } = request;
  if (!isModest(html)) {
    const text = rendered(html, lettersIn(withoutTags(html)), request);
    return { text, extractor: "stream", needsJavascript: false, ...titleOf(html) };
  }
  const { document } = parseHTML(inOneBody(html));
  const facts = factsOf(document, html);
  if (selector !== undefined) return { ...selected(document, selector, request), ...facts };
  removeDead(document);
  const all = textOf(document.body);
  const needsJavascript = all.length < 200 && /<script\b/i.test(html) && html.length > 500;
  removeFrame(document);
  const frameless = textOf(document.body);
  const hasFrame = frameless.length < all.length;
  if (frameless.length >= LITTLE && isProbablyReaderable(document, { visibilityChecker: () => true })) {
    const article = readable(document);
    if (article !== undefined && article.text.length >= frameless.length * SHARE) {
      const text = rendered(article.content, lettersIn(article.text), request);
      return { text, extractor: "readability", needsJavascript, ...facts, ...article.facts };
    }
    // Readability has taken the document apart.
    return { ...withoutArticle(html, hasFrame, all, frameless, request), needsJavascript, ...facts };
  }
  if (hasFrame && frameless.length < all.length / 4)
    return { ...withoutArticle(html, hasFrame, all, frameless, request), needsJavascript, ...facts };
  const text = rendered(document.body.outerHTML, lettersIn(frameless), request);
  return { text, extractor: hasFrame ? "frameless" : "body", needsJavascript, ...facts };
}

/** The page as it was sent, without its frame unless that is most of it. */
function withoutArticle(
  html: string,
  hasFrame: boolean,
  all: string,
  frameless: string,
  request: ConversionRequest,
) {
  const { document } = parseHTML(inOneBody(html));
  removeDead(document);
  const isFrameless = hasFrame && frameless.length >= all.length / 4;
  if (isFrameless) removeFrame(document);
  const text = rendered(document.body.outerHTML, lettersIn(isFrameless ? frameless : all), request);
  return { text, extractor: isFrameless ? "frameless" : "body" } as const;
}

function removeDead(document: Document): void {
  for (const element of [...document.querySelectorAll(DEAD)]) element.remove();
}

/** Menus and the like; the header of an article belongs to it. */
function removeFrame(document: Document): void {
  for (const element of [...document.querySelectorAll(FRAME)])
    if (!/^(?:header|footer)$/i.test(element.tagName) || element.closest("article, main") === null)
      element.remove();
}

/**
 * The same page with all its content in one body, as the HTML standard's tree has it: the parser leaves elements where it
 * finds them, and what stands outside of the body, or in a page without one, would be lost.
 */
function inOneBody(html: string): string {
  const content = html.replace(/<!doctype[^<>]*>|<\/?(?:html|head|body)(?:\s[^<>]*)?>/gi, "");
  return `<!doctype html><html><head></head><body>${content}</body></html>`;
}

function selected(document: Document, selector: string, request: ConversionRequest) {
  const facts = { extractor: "selector", needsJavascript: false } as const;
  try {
    const elements = [...document.querySelectorAll(selector)];
    const text = elements
      .map((element) => rendered(element.outerHTML, lettersIn(textOf(element)), request))
      .join("\n\n");
    return { ...facts, text, found: elements.length };
  } catch (error) {
    const selectorProblem = error instanceof Error ? error.message : String(error);
    return { ...facts, text: "", selectorProblem };
  }
}

/** The main content; the document is of no use afterwards. */
function readable(document: Document) {
  try {
    const article = new Readability(document, {
      charThreshold: LITTLE,
      nbTopCandidates: 8,
      keepClasses: true,
    }).parse();
    if (article === null || typeof article.content !== "string") return undefined;
    const { content, byline, publishedTime } = article;
    return {
      content,
      text: (article.textContent ?? "").replace(/\s+/g, " ").trim(),
      facts: {
        ...(byline ? { byline: byline.trim().slice(0, 200) } : {}),
        ...(publishedTime ? { published: publishedTime.slice(0, 40) } : {}),
      },
    };
  } catch {
    return undefined;
  }
}

/**
 * HTML as markdown or text. The writer leaves out what it cannot lay out (text in tables of tables of tables) and writes
 * much where lists are deep; both are noticed here, and the plain text is given instead.
 *
 * @param letters how many letters and digits the text has
 */
function rendered(html: string, letters: number, { url, format, includeLinks }: ConversionRequest): string {
  // Without `<` and `>` inside, so that text of nothing but `<a ` costs no more than its length.
  const shown = includeLinks ? html : html.replace(/<\/?a(?:\s[^<>]*)?>/gi, "");
  const text = htmlToMarkdown(shown, { origin: url, format, clean: { blankLines: true } })
    .replace(/(?<!!)\[[ \t]{0,20}\]\([^()\s]*\)/g, "")
    .trim();
  const isBlownUp = text.length > html.length * 3 + 1_000;
  // Tables in tables stay tags, whose letters are not the page's.
  return isBlownUp || lettersIn(text.replace(/<[^<>]*>/g, "")) < letters * KEPT_SHARE
    ? withoutTags(html)
    : text;
}

/** Markdown that has less than this share of the text's letters has lost some. */
const KEPT_SHARE = 0.9;

const lettersIn = (text: string): number => text.replace(/[^\p{L}\p{N}]+/gu, "").length;

function textOf(element: { textContent: string | null }): string {
  return (element.textContent ?? "").replace(/\s+/g, " ").trim();
}

function factsOf(document: Document, html: string) {
  const meta = (name: string): string | undefined =>
    document
      .querySelector(`meta[name="${name}"], meta[property="${name}"]`)
      ?.getAttribute("content")
      ?.trim() || undefined;
  const title = document.querySelector("title")?.textContent?.replace(/\s+/g, " ").trim() || meta("og:title");
  const published = meta("article:published_time") ?? meta("date");
  const language = /<html\b[^>]{0,1000}?\slang\s*=\s*["']?([\w-]+)/i.exec(html.slice(0, 20_000))?.[1];
  const description = meta("description") ?? meta("og:description");
  return {
    ...(title ? { title: title.slice(0, 300) } : {}),
    ...(published ? { published: published.slice(0, 40) } : {}),
    ...(language ? { language: language.slice(0, 20) } : {}),
    ...(description ? { description: description.slice(0, 500) } : {}),
  };
}

function titleOf(html: string): { title?: string } {
  const title = /<title[^>]{0,200}>([^<]{1,300})/i
    .exec(html.slice(0, 100_000))?.[1]
    ?.replace(/\s+/g, " ")
    .trim();
  return title ? { title } : {};
}
