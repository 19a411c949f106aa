import { highlightsIn, jsonLdIn, textIn, typesOf } from "../data/things.ts";
import { dateOf } from "./date.ts";
import type { PageDocument } from "./html/document.ts";
import { nextPageIn } from "./html/next.ts";

/** The metadata of a page. */
export interface Metadata {
  readonly title?: string | undefined;
  readonly byline?: string | undefined;
  /** In ISO 8601, as `modified`. */
  readonly published?: string | undefined;
  readonly modified?: string | undefined;
  readonly language?: string;
  readonly description?: string;
  /** The canonical URL that the page names. */
  readonly canonical?: string;
  /** Where the page redirects to (`<meta http-equiv="refresh">`). */
  readonly refresh?: string;
  /** The URL of the next page. */
  readonly next?: string;
  /** Prices, times, recipes and videos that the page's data has; the parts of a line each. */
  readonly highlights?: readonly (readonly string[])[];
}

const MAX_CHARS: Readonly<Record<string, number>> = {
  title: 300,
  byline: 200,
  language: 20,
  description: 500,
  canonical: 2_000,
  refresh: 2_000,
};
const ARTICLE = /(?:Article|BlogPosting|Recipe)$/;

/**
 * The page's metadata, read before its head is removed, and whether it declares itself an article (Open Graph or
 * JSON-LD).
 *
 * @param base the page's URL, or that of its `<base>`
 */
export function metadataIn(
  document: PageDocument,
  html: string,
  base: string,
): { facts: Metadata; isArticle: boolean } {
  const metas = new Map<string, string>();
  for (const element of document.querySelectorAll("meta")) {
    const content = element.getAttribute("content")?.replace(/\s+/g, " ").trim();
    const names = ["name", "property", "http-equiv"].flatMap(
      (key) => element.getAttribute(key) ?? [],
    );
    for (const name of names)
      if (content && !metas.has(name.toLowerCase())) metas.set(name.toLowerCase(), content);
  }
  const meta = (...names: string[]): string | undefined =>
    names.map((name) => metas.get(name)).find((content) => content !== undefined);
  const things = jsonLdIn(document);
  const article = things.find((thing) => typesOf(thing).some((type) => ARTICLE.test(type)));
  const own = (key: string): string | undefined => textIn(article?.[key]);
  const title = document.querySelector("title")?.textContent?.replace(/\s+/g, " ").trim();
  const refresh = /^\s*\d[\d.]*\s*[;,]\s*(?:url\s*=\s*)?["']?([^"']+)/i.exec(
    meta("refresh") ?? "",
  )?.[1];
  const found = {
    title: title || meta("og:title"),
    byline:
      meta("author", "article:author", "dc.creator")?.replace(/^https?:\S+$/, "") || own("author"),
    published:
      dateOf(meta("article:published_time", "date", "dc.date")) ?? dateOf(own("datePublished")),
    modified:
      dateOf(meta("article:modified_time", "og:updated_time", "last-modified")) ??
      dateOf(own("dateModified")),
    language: /<html\b[^>]{0,1000}?\slang\s*=\s*["']?([\w-]+)/i.exec(html.slice(0, 20_000))?.[1],
    description: meta("description", "og:description"),
    canonical: addressOf(
      document.querySelector("link[rel=canonical i]")?.getAttribute("href"),
      base,
    ),
    refresh: addressOf(refresh?.trim(), base),
  };
  const facts = Object.fromEntries(
    Object.entries(found).flatMap(([name, value]) =>
      value ? [[name, value.slice(0, MAX_CHARS[name])]] : [],
    ),
  );
  const highlights = highlightsIn(document, things);
  const next = nextPageIn(document, base);
  return {
    facts: {
      ...facts,
      ...(next === undefined ? {} : { next }),
      ...(highlights.length > 0 ? { highlights } : {}),
    },
    isArticle: article !== undefined || meta("og:type") === "article",
  };
}

/** An absolute HTTP URL. */
function addressOf(href: string | null | undefined, base: string): string | undefined {
  if (!href || !URL.canParse(href, base)) return undefined;
  const url = new URL(href, base);
  return url.protocol === "http:" || url.protocol === "https:" ? url.href : undefined;
}
