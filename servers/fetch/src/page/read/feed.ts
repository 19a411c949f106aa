import { counted } from "@refmcp/boundary/answer";
import { decodeXML } from "entities";
import { DomUtils, parseDocument } from "htmlparser2";
import { dateOf } from "./date.ts";
import { plainText } from "./json-ld.ts";

type ChildNode = ReturnType<typeof parseDocument>["children"][number];
type Element = Extract<
  ChildNode,
  { readonly name: string; readonly children: unknown; readonly attribs: unknown }
>;

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

/** How far into a text its root is searched. */
const START = 4_100;
const SUMMARY_CHARS = 280;
/**
 * The fields of items by the names of RSS 2.0, RSS 1.0, Atom, Dublin Core, Media RSS and JSON Feed. The names of a field
 * are in the order of preference.
 */
const FIELDS: readonly (readonly [field: Field, names: readonly string[]])[] = [
  ["title", ["title"]],
  ["link", ["link", "url", "external_url", "guid", "id"]],
  ["date", ["published", "pubdate", "dc:date", "updated", "date_published", "date_modified"]],
  ["author", ["author", "dc:creator", "authors"]],
  [
    "summary",
    ["content:encoded", "content", "description", "summary", "content_text", "content_html"],
  ],
  ["categories", ["category", "tags"]],
  ["media", ["enclosure", "media:content", "image"]],
];

/**
 * A feed as its items, a sitemap as its URLs, in their order.
 *
 * @param format data: every field as JSON, otherwise one line for each item with the beginning of its text
 */
export function listOf(text: string, base: string, format: "markdown" | "text" | "data"): List {
  const needsJavascript = false;
  const sitemap = sitemapOf(text, base);
  if (sitemap !== undefined) return sitemap;
  const { items, title: given } = text.trimStart().startsWith("{") ? jsonFeed(text) : xmlList(text);
  const found = items.map((item) => itemOf(item, base));
  const title = given && plainText(given).slice(0, 300);
  const lines = found.map((item) =>
    format === "data" ? JSON.stringify(item) : itemLine(item, format),
  );
  const heading = title ? [format === "text" ? title : `# ${title}`, ""] : [];
  const extractor = `feed, ${counted(found.length, "item")}`;
  return { text: [...heading, ...lines].join("\n"), extractor, title, needsJavascript };
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
  const lines: string[] = [];
  for (const [, body = ""] of xml.matchAll(item)) {
    const url = decodeXML(loc.exec(body)?.[1] ?? "");
    const address = URL.canParse(url, base) ? new URL(url, base).href : url;
    lines.push([address, lastmod.exec(body)?.[1]].filter(Boolean).join(" "));
  }
  const isIndex = root === "sitemapindex";
  const extractor = `sitemap${isIndex ? " index" : ""}, ${counted(lines.length, isIndex ? "sitemap" : "URL")}`;
  return { text: lines.join("\n"), extractor, needsJavascript: false };
}

function itemLine(
  { title, link, date, author, summary = "" }: Item,
  format: "markdown" | "text",
): string {
  const name = title ?? summary.slice(0, 80);
  const linked =
    link === undefined || format === "text" ? name : `[${name.replace(/[[\]]/g, "")}](${link})`;
  const about = [date?.slice(0, 10), author].filter(Boolean).join(", ");
  const isCut = summary.length > SUMMARY_CHARS;
  const shown =
    title === undefined ? "" : summary.slice(0, SUMMARY_CHARS).replace(isCut ? /\s\S*$/ : "", "");
  return `- ${linked}${about && ` (${about})`}${shown && `: ${shown}`}${isCut ? "…" : ""}`;
}

type Values = ReadonlyMap<string, string>;
type Found = { items: Values[]; title: string | undefined };

function itemOf(values: Values, base: string): Item {
  const entries = FIELDS.map(([field, names]) => {
    const value = names
      .map((name) => plainText(values.get(name) ?? ""))
      .find((text) => text !== "");
    if (value === undefined || field === "date")
      return [field, dateOf(value) ?? value?.slice(0, 40)];
    if (field !== "link" && field !== "media") return [field, value];
    return [field, URL.canParse(value, base) ? new URL(value, base).href : undefined];
  });
  return Object.fromEntries(entries.filter(([, value]) => value !== undefined));
}

function xmlList(xml: string): Found {
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
    else if (known === undefined || name === "category")
      values.set(name, known === undefined ? text : `${known}, ${text}`);
  }
  // An Atom id is a name rather than an address.
  if (values.has("updated")) values.delete("id");
  return values;
}

/** A JSON Feed (jsonfeed.org). */
function jsonFeed(json: string): Found {
  const { title, items }: { title?: unknown; items?: unknown } = JSON.parse(json);
  const textOf = (value: unknown): string => {
    if (Array.isArray(value)) return value.map(textOf).join(", ");
    return String(
      typeof value === "object" && value !== null && "name" in value ? value.name : value,
    );
  };
  const values = (Array.isArray(items) ? items : []).map(
    (item: unknown) =>
      new Map(Object.entries(item ?? {}).map(([name, value]) => [name, textOf(value)] as const)),
  );
  return { items: values, title: typeof title === "string" ? title : undefined };
}
