/** Feeds (RSS, Atom, JSON Feed) and sitemaps as lists. */
import { counted } from "@refmcp/boundary/answer";
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
  /** data: every field as JSON, otherwise one line for each item with the beginning of its text. */
  readonly format: "markdown" | "text" | "data";
}

/** A feed or sitemap as text. */
export interface List {
  readonly text: string;
  /** What it is, with the number of its items. */
  readonly extractor: string;
  readonly title?: string | undefined;
  readonly needsJavascript: false;
}

type Field = "title" | "link" | "date" | "author" | "summary" | "categories" | "media";
type Item = Partial<Record<Field, string>>;
/** The texts of an item by their names. */
type Values = ReadonlyMap<string, string>;

/** How far into a text its root is searched. */
const START = 4_100;
const SUMMARY_CHARS = 280;
/**
 * The fields of items by the names of RSS 2.0, RSS 1.0, Atom, Dublin Core, Media RSS and JSON Feed, in the order of
 * preference.
 */
const FIELDS: Readonly<Record<Field, string>> = {
  title: "title",
  link: "link url external_url guid id",
  date: "published pubdate dc:date updated date_published date_modified",
  author: "author dc:creator authors",
  summary: "content:encoded content description summary content_text content_html",
  categories: "category tags",
  media: "enclosure media:content image",
};

/** A feed as its items, a sitemap as its URLs, in their order. */
export function listOf({ text, url, format }: ListRequest): List {
  const sitemap = sitemapOf(text, url);
  if (sitemap !== undefined) return sitemap;
  const feed = text.trimStart().startsWith("{") ? jsonFeed(text) : xmlFeed(text);
  const items = feed.items.map((item) => itemOf(item, url));
  const title = feed.title && plainText(feed.title).slice(0, 300);
  const lines = items.map((item) =>
    format === "data" ? JSON.stringify(item) : itemLine(item, format === "text"),
  );
  const heading = title ? [format === "text" ? title : `# ${title}`, ""] : [];
  return {
    text: [...heading, ...lines].join("\n"),
    extractor: `feed, ${counted(items.length, "item")}`,
    title,
    needsJavascript: false,
  };
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
  const extractor = `sitemap${isIndex ? " index" : ""}, ${counted(lines.length, isIndex ? "sitemap" : "URL")}`;
  return { text: lines.join("\n"), extractor, needsJavascript: false };
}

const absolute = (url: string, base: string): string | undefined =>
  URL.canParse(url, base) ? new URL(url, base).href : undefined;

function itemLine({ title, link, date, author, summary = "" }: Item, isText: boolean): string {
  const name = title ?? summary.slice(0, 80);
  const linked = link === undefined || isText ? name : `[${name.replace(/[[\]]/g, "")}](${link})`;
  const about = [date?.slice(0, 10), author].filter(Boolean).join(", ");
  const isCut = summary.length > SUMMARY_CHARS;
  const start = summary.slice(0, SUMMARY_CHARS).replace(isCut ? /\s\S*$/ : "", "");
  const shown = title === undefined ? "" : start;
  return `- ${linked}${about && ` (${about})`}${shown && `: ${shown}`}${isCut ? "…" : ""}`;
}

function itemOf(values: Values, base: string): Item {
  const entries = Object.entries(FIELDS).map(([field, names]) => {
    const texts = names.split(" ").map((name) => plainText(values.get(name) ?? ""));
    const text = texts.find((value) => value !== "");
    if (text === undefined) return [field, undefined];
    if (field === "date") return [field, dateOf(text) ?? text.slice(0, 40)];
    return [field, field === "link" || field === "media" ? absolute(text, base) : text];
  });
  return Object.fromEntries(entries.filter(([, value]) => value !== undefined));
}

function xmlFeed(xml: string): { items: Values[]; title: string | undefined } {
  const elementsIn = (parent: { readonly children: ChildNode[] } | undefined) =>
    (parent?.children ?? []).filter(DomUtils.isTag);
  const [root] = elementsIn(parseDocument(xml, { xmlMode: true }));
  const channel = elementsIn(root).find(({ name }) => name === "channel") ?? root;
  const items = [...new Set([channel, root])]
    .flatMap(elementsIn)
    .filter(({ name }) => /^(?:\w+:)?(?:item|entry)$/.test(name))
    .map((item) => valuesOf(elementsIn(item)));
  const titles = elementsIn(channel).filter(({ name }) => /^(?:\w+:)?title$/.test(name));
  return { items, title: valuesOf(titles).get("title") };
}

/** The texts of elements by their names, or what their attributes have instead. */
function valuesOf(elements: readonly Element[]): Values {
  const values = new Map<string, string>();
  for (const element of elements) {
    const name = element.name.replace(/^atom:/, "").toLowerCase();
    const { rel = "alternate", href, url, term, isPermaLink } = element.attribs;
    const person = element.children.filter(DomUtils.isTag).find((child) => child.name === "name");
    const text = href ?? url ?? term ?? DomUtils.textContent(person ?? element);
    const known = values.get(name);
    if (name === "link" && rel === "enclosure") values.set("enclosure", text);
    else if ((name === "link" && rel !== "alternate") || isPermaLink === "false") continue;
    else if (known === undefined) values.set(name, text);
    else if (name === "category") values.set(name, `${known}, ${text}`);
  }
  // An Atom id is a name rather than an address.
  if (values.has("updated")) values.delete("id");
  return values;
}

/** A JSON Feed (jsonfeed.org). */
function jsonFeed(json: string): { items: Values[]; title: string | undefined } {
  const { title, items }: { title?: unknown; items?: unknown } = JSON.parse(json);
  const textOf = (value: unknown): string => {
    if (Array.isArray(value)) return value.map(textOf).join(", ");
    const isNamed = typeof value === "object" && value !== null && "name" in value;
    return String(isNamed ? value.name : value);
  };
  const values = (Array.isArray(items) ? items : []).map(
    (item: unknown) =>
      new Map(Object.entries(item ?? {}).map(([name, value]) => [name, textOf(value)] as const)),
  );
  return { items: values, title: typeof title === "string" ? title : undefined };
}
