/** What a page says about itself: title, author, dates, the canonical URL, the next page. */
import { webAddress } from "../content/address.ts";
import type { PageDocument } from "../content/document.ts";
import { dateOf } from "./date.ts";
import { nextPageIn } from "./next.ts";

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
}

const MAX_CHARS: Readonly<Record<string, number>> = { title: 300, byline: 200, language: 20 };
const MAX_VALUE_CHARS = 2_000;

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
  const meta = metasIn(document);
  const article = articleIn(document);
  const own = (key: string): string | undefined => textIn(article?.[key]);
  const title = document.querySelector("title")?.textContent?.replace(/\s+/g, " ").trim();
  const refresh = /^\s*\d[\d.]*\s*[;,]\s*(?:url\s*=\s*)?["']?([^"']+)/i.exec(meta("refresh") ?? "");
  const canonical = document.querySelector("link[rel=canonical i]")?.getAttribute("href");
  const author = meta("author", "article:author", "dc.creator")?.replace(/^https?:\S+$/, "");
  const published = dateOf(meta("article:published_time", "date", "dc.date"));
  const modified = dateOf(meta("article:modified_time", "og:updated_time", "last-modified"));
  const texts = {
    title: title || meta("og:title"),
    byline: author || own("author"),
    published: published ?? dateOf(own("datePublished")),
    modified: modified ?? dateOf(own("dateModified")),
    language: /<html\b[^>]{0,1000}?\slang\s*=\s*["']?([\w-]+)/i.exec(html.slice(0, 20_000))?.[1],
    description: meta("description", "og:description")?.slice(0, 500),
    canonical: webAddress(canonical, base),
    refresh: webAddress(refresh?.[1]?.trim(), base),
    next: nextPageIn(document, base),
  };
  const facts = Object.fromEntries(
    Object.entries(texts).flatMap(([name, text]) =>
      text ? [[name, text.slice(0, MAX_CHARS[name] ?? MAX_VALUE_CHARS)]] : [],
    ),
  );
  return { facts, isArticle: article !== undefined || meta("og:type") === "article" };
}

/** Finds the content of the first `meta` element with one of some names, in the order of the names. */
function metasIn(document: PageDocument): (...names: string[]) => string | undefined {
  const metas = new Map<string, string>();
  for (const element of document.querySelectorAll("meta")) {
    const content = element.getAttribute("content")?.replace(/\s+/g, " ").trim();
    for (const key of ["name", "property", "http-equiv"]) {
      const name = element.getAttribute(key)?.toLowerCase();
      if (content && name !== undefined && !metas.has(name)) metas.set(name, content);
    }
  }
  return (...names) =>
    names.map((name) => metas.get(name)).find((content) => content !== undefined);
}

type Thing = Readonly<Record<string, unknown>>;
/** Longer JSON-LD is ignored. */
const MAX_JSON = 500_000;

/** The article that a page's JSON-LD describes (schema.org). */
function articleIn(document: PageDocument): Thing | undefined {
  for (const script of document.querySelectorAll('script[type="application/ld+json"]')) {
    const json = script.textContent ?? "";
    try {
      const value: unknown = json.length > MAX_JSON ? undefined : JSON.parse(json);
      const article = [value, isThing(value) ? value["@graph"] : undefined]
        .flat()
        .filter(isThing)
        .find((thing) => /(?:Article|BlogPosting|Recipe)\b/.test(String(thing["@type"])));
      if (article !== undefined) return article;
    } catch {
      // Many pages have invalid JSON-LD.
    }
  }
  return undefined;
}

const isThing = (value: unknown): value is Thing => typeof value === "object" && value !== null;

/** A value as text; of persons the names. */
function textIn(value: unknown): string | undefined {
  if (typeof value === "string") return value.replace(/\s+/g, " ").trim();
  if (Array.isArray(value)) return value.slice(0, 20).map(textIn).filter(Boolean).join(", ");
  return isThing(value) ? textIn(value["name"]) : undefined;
}
