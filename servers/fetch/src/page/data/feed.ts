import { Parser } from "htmlparser2";
import { dateOf } from "../read/date.ts";
import { stripTags } from "../read/html/strip-tags.ts";
import { isList } from "../read/media-type.ts";
import { linesOf } from "./lines.ts";

/** A feed or sitemap as text. */
export interface List {
  readonly text: string;
  /** What it is, with the number of its items. */
  readonly extractor: string;
  readonly title?: string | undefined;
  readonly needsJavascript: false;
}

interface Item {
  title?: string;
  link?: string;
  date?: string;
  author?: string;
  summary?: string;
  categories?: string;
  media?: string;
}

const SUMMARY_CHARS = 280;
const MAX_FIELD = 20_000;

/**
 * A feed as its items, a sitemap as its URLs, in their order; with format data, any other JSON as lines.
 *
 * @param format data: every field, otherwise one line for each item with the beginning of its text
 */
export function listOf(text: string, base: string, format: "markdown" | "text" | "data"): List {
  if (!isList(text))
    return { text: linesOf(JSON.parse(text)).join("\n"), extractor: "JSON as lines", needsJavascript: false };
  const { kind, items, channel } = text.trimStart().startsWith("{") ? jsonFeed(text) : xmlList(text);
  const found = items.slice(0, 100_000).map((item) => clean(item, base));
  const title = channel.title === undefined ? undefined : line(channel.title, 300);
  const isSitemap = kind !== "feed";
  const what = kind === "sitemap index" ? "sitemap" : isSitemap ? "URL" : "item";
  const extractor = `${kind}, ${found.length} ${what}${found.length === 1 ? "" : "s"}`;
  const lines = isSitemap
    ? found.map(({ link, date }) => `${link ?? ""}${date ? ` ${date}` : ""}`)
    : format === "data"
      ? linesOf(found)
      : found.map((item) => itemLine(item, format));
  const heading = title && !isSitemap ? [format === "text" ? title : `# ${title}`, ""] : [];
  return { text: [...heading, ...lines].join("\n"), extractor, title, needsJavascript: false };
}

function itemLine({ title, link, date, author, summary = "" }: Item, format: "markdown" | "text"): string {
  const name = title ?? summary.slice(0, 80);
  const linked = link === undefined || format === "text" ? name : `[${name.replace(/[[\]]/g, "")}](${link})`;
  const about = [date?.slice(0, 10), author].filter((one) => one !== undefined).join(", ");
  const isCut = summary.length > SUMMARY_CHARS;
  const shown = title === undefined ? "" : summary.slice(0, SUMMARY_CHARS).replace(isCut ? /\s\S*$/ : "", "");
  return `- ${linked}${about && ` (${about})`}${shown && `: ${shown}`}${isCut ? "…" : ""}`;
}

function clean(item: Item, base: string): Item {
  const { title, link, date, author, summary, categories, media } = item;
  const address = (href: string | undefined) => {
    const url = href?.trim();
    return url && URL.canParse(url, base) ? new URL(url, base).href : undefined;
  };
  const found = {
    title: title && line(title, 500),
    date: dateOf(date) ?? date?.trim().slice(0, 40),
    author: author && line(author, 200),
    link: address(link),
    summary: summary && line(summary, MAX_FIELD),
    categories: categories && line(categories, 500),
    media: address(media),
  };
  return Object.fromEntries(Object.entries(found).filter(([, value]) => value));
}

const line = (text: string, max: number): string =>
  (/[<&]/.test(text) ? stripTags(text) : text).replace(/\s+/g, " ").trim().slice(0, max);

/** The fields of items by the names of RSS 2.0, RSS 1.0, Atom, Dublin Core, Media RSS and sitemaps. */
const FIELDS: Readonly<Record<string, keyof Item>> = {
  title: "title",
  link: "link",
  guid: "link",
  loc: "link",
  pubdate: "date",
  published: "date",
  updated: "date",
  "dc:date": "date",
  lastmod: "date",
  author: "author",
  name: "author",
  "dc:creator": "author",
  description: "summary",
  summary: "summary",
  content: "summary",
  "content:encoded": "summary",
  category: "categories",
};
/** Fields that replace an earlier one. */
const BETTER = new Set(["published", "link", "content:encoded"]);

type Found = { kind: "feed" | "sitemap" | "sitemap index"; items: Item[]; channel: Item };

/** Reads XML as a stream, so that neither its depth nor its size matters. */
function xmlList(xml: string): Found {
  const items: Item[] = [];
  const channel: Item = {};
  let kind: Found["kind"] = "feed";
  let item: Item | undefined;
  /** The field being read, at which depth, and its text. */
  let field: { readonly name: string; readonly depth: number } | undefined;
  let text = "";
  let depth = 0;
  let itemDepth = 0;
  const store = (name: string, value: string): void => {
    const key = FIELDS[name];
    const into = item ?? channel;
    if (key === undefined || value.trim() === "") return;
    if (key === "categories") into[key] = into[key] === undefined ? value : `${into[key]}, ${value}`;
    else if (into[key] === undefined || BETTER.has(name)) into[key] = value;
  };
  const parser = new Parser(
    {
      onopentag(given, attributes) {
        depth += 1;
        const name = given.replace(/^atom:/, "").toLowerCase();
        if (depth === 1) {
          const root = name.split(":").at(-1) ?? "";
          kind = root === "urlset" ? "sitemap" : root === "sitemapindex" ? "sitemap index" : "feed";
        }
        if (/^(?:item|entry|url|sitemap)$/.test(name) && item === undefined && depth > 1) {
          item = {};
          itemDepth = depth;
          field = undefined;
          return;
        }
        const { href, url, rel = "alternate", term, isPermaLink } = attributes;
        if (name === "link" && href !== undefined) {
          if (rel === "alternate") store("link", href);
          if (rel === "enclosure" && item !== undefined) item.media ??= href;
        } else if (name === "category" && term !== undefined) store("category", term);
        else if (/^(?:enclosure|media:content)$/.test(name) && url !== undefined && item !== undefined)
          item.media ??= url;
        // Only direct children, and the name of an author: a source has a title too.
        else if (
          field === undefined &&
          name in FIELDS &&
          !(name === "guid" && isPermaLink === "false") &&
          (item === undefined ? depth <= 3 : depth === itemDepth + 1)
        ) {
          field = { name, depth };
          text = "";
        } else if (field?.name === "author" && /^(?:name|email)$/.test(name)) text = "";
      },
      ontext(data) {
        if (field !== undefined && text.length < MAX_FIELD * 3) text += data;
      },
      onclosetag(given) {
        const name = given.replace(/^atom:/, "").toLowerCase();
        if (field?.name === "author" && name === "name") {
          store("author", text);
          text = "";
        }
        if (field?.depth === depth) {
          if (!(item === undefined && field.name === "link" && channel.link !== undefined))
            store(field.name, text);
          field = undefined;
        }
        if (item !== undefined && depth === itemDepth) {
          items.push(item);
          item = undefined;
        }
        depth -= 1;
      },
    },
    { xmlMode: true },
  );
  parser.end(xml);
  return { kind, items, channel };
}

/** A JSON Feed (jsonfeed.org). */
function jsonFeed(json: string): Found {
  const feed: Readonly<Record<string, unknown>> = JSON.parse(json);
  const given: readonly unknown[] = Array.isArray(feed["items"]) ? feed["items"] : [];
  const items = given.flatMap((one): Item[] => {
    if (typeof one !== "object" || one === null) return [];
    const entry: Readonly<Record<string, unknown>> = { ...one };
    const text = (...keys: string[]) =>
      keys.map((key) => entry[key]).find((value) => typeof value === "string");
    const { authors, author = Array.isArray(authors) ? authors[0] : undefined, tags } = entry;
    const fields = {
      title: text("title"),
      link: text("url", "external_url", "id"),
      date: text("date_published", "date_modified"),
      author: typeof author === "object" && author !== null && "name" in author ? author.name : undefined,
      summary: text("summary", "content_text", "content_html"),
      categories: Array.isArray(tags) ? tags.join(", ") : undefined,
      media: text("image"),
    };
    return [Object.fromEntries(Object.entries(fields).filter(([, value]) => typeof value === "string"))];
  });
  const { title } = feed;
  return { kind: "feed", items, channel: typeof title === "string" ? { title } : {} };
}
