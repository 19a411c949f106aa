/** Feeds (RSS, Atom) and sitemaps as lists. */
import { countOf } from "@refmcp/boundary/answer";
import { decodeXML } from "entities";
import { DomUtils, parseDocument } from "htmlparser2";
import { dateOf } from "./date.ts";
import { plainText } from "./strip-tags.ts";

type ChildNode = ReturnType<typeof parseDocument>["children"][number];
type Element = Extract<
  ChildNode,
  { readonly name: string; readonly children: unknown; readonly attribs: unknown }
>;

export interface ListRequest {
  readonly text: string;
  /** For relative links. */
  readonly url: string;
}

/** A feed or sitemap as text. */
export interface List {
  readonly text: string;
  /** What it is, with the number of its items. */
  readonly extractor: string;
  readonly title?: string | undefined;
  readonly needsJavascript: false;
}

/** How far into a text its root is searched. */
const START = 4_100;
const SUMMARY_CHARS = 280;

/** A feed as its items, a sitemap as its URLs, in their order. */
export function listOf({ text, url }: ListRequest): List {
  return sitemapOf(text, url) ?? feedOf(text, url);
}

/** A sitemap (sitemaps.org), which may have 50,000 URLs, so it is read without a document. */
function sitemapOf(xml: string, base: string): List | undefined {
  const [, prefix = "", root] =
    /<(\w+:)?(urlset|sitemapindex)[\s>]/.exec(xml.slice(0, START)) ?? [];
  if (root === undefined) return undefined;
  const item = new RegExp(`<${prefix}(?:url|sitemap)>(.*?)</${prefix}(?:url|sitemap)>`, "gs");
  const field = (name: string) =>
    new RegExp(`<${prefix}${name}>(?:<!\\[CDATA\\[)?\\s*([^<\\s\\]]+)`);
  const [loc, lastmod] = [field("loc"), field("lastmod")];
  const lines = Array.from(xml.matchAll(item), ([, body = ""]) => {
    const address = absolute(decodeXML(loc.exec(body)?.[1] ?? ""), base);
    return [address, lastmod.exec(body)?.[1]].filter(Boolean).join(" ");
  });
  const isIndex = root === "sitemapindex";
  const extractor = `sitemap${isIndex ? " index" : ""}, ${countOf(lines.length, isIndex ? "sitemap" : "URL")}`;
  return { text: lines.join("\n"), extractor, needsJavascript: false };
}

/** A feed: one line for each item, with its link, date and author, and the beginning of its text. */
function feedOf(xml: string, base: string): List {
  const [root] = elementsIn(parseDocument(xml, { xmlMode: true }));
  const channel = elementsIn(root).find(({ name }) => name === "channel") ?? root;
  const title = textsIn(channel, base)("title")?.slice(0, 300);
  const items = [...new Set([channel, root])]
    .flatMap(elementsIn)
    .filter(({ name }) => /^(?:\w+:)?(?:item|entry)$/.test(name));
  const lines = items.map((item) => itemLine(textsIn(item, base)));
  return {
    text: [...(title ? [`# ${title}`, ""] : []), ...lines].join("\n"),
    extractor: `feed, ${countOf(items.length, "item")}`,
    title,
    needsJavascript: false,
  };
}

const elementsIn = (parent: { readonly children: ChildNode[] } | undefined): Element[] =>
  (parent?.children ?? []).filter(DomUtils.isTag);

/** The first text of an element's children with one of some names, in the order of the names; of a link its address. */
function textsIn(parent: Element | undefined, base: string) {
  const children = elementsIn(parent);
  return (...names: string[]): string | undefined => {
    for (const name of names)
      for (const child of children) {
        const { rel = "alternate", href, isPermaLink } = child.attribs;
        if (child.name.replace(/^atom:/, "").toLowerCase() !== name) continue;
        if (rel !== "alternate" || isPermaLink === "false") continue;
        const person = elementsIn(child).find((part) => part.name === "name");
        const text = plainText(href ?? DomUtils.textContent(person ?? child));
        const isLink = name === "link" || name === "guid";
        const value = isLink ? absolute(text, base) : text;
        if (value) return value;
      }
    return undefined;
  };
}

const absolute = (url: string, base: string): string | undefined =>
  URL.canParse(url, base) ? new URL(url, base).href : undefined;

/** An item by the names of RSS, Atom and Dublin Core. */
function itemLine(textOf: ReturnType<typeof textsIn>): string {
  const title = textOf("title");
  const link = textOf("link", "guid");
  const published = textOf("published", "pubdate", "dc:date", "updated");
  const date = (dateOf(published) ?? published)?.slice(0, 10);
  const summary = textOf("content:encoded", "content", "description", "summary") ?? "";
  const name = title ?? summary.slice(0, 80);
  const linked = link === undefined ? name : `[${name.replace(/[[\]]/g, "")}](${link})`;
  const about = [date, textOf("author", "dc:creator")].filter(Boolean).join(", ");
  const isCut = summary.length > SUMMARY_CHARS;
  const start = summary.slice(0, SUMMARY_CHARS).replace(isCut ? /\s\S*$/ : "", "");
  const excerpt = title === undefined ? "" : start;
  return `- ${linked}${about && ` (${about})`}${excerpt && `: ${excerpt}`}${isCut ? "…" : ""}`;
}
