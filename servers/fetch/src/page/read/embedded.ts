/** The text of a page that only its scripts would show, from its data: the article of its JSON-LD, or the JSON in its scripts. */
import type { PageElement } from "../content/document.ts";
import { jsonScriptsIn } from "./data.ts";
import { type Thing, textIn } from "./json-ld.ts";

/** A shorter text is a message such as "Loading". */
const MIN_CHARS = 200;
const MAX_CHARS = 500_000;
const MAX_DEPTH = 60;
/** Names under which data has text for readers, and titles. */
const PROSE =
  /^(?:text|body|content|html|description|summary|articleBody|children|paragraph|excerpt|answer|markdown|value)/i;
const TITLE = /^(?:title|headline|heading|name)$/i;

/** That text as HTML; empty if there is none. */
export function embeddedHtml(things: readonly Thing[], scripts: Iterable<PageElement>): string {
  const article = things.find((thing) => (textIn(thing["articleBody"]) ?? "").length >= MIN_CHARS);
  const html =
    article === undefined
      ? proseIn(jsonScriptsIn(scripts).map(({ value }) => value))
      : proseIn({ title: article["headline"] ?? article["name"], body: article["articleBody"] });
  return html.length >= MIN_CHARS ? html : "";
}

/** The strings in data that are written for readers, as HTML, with the titles next to them. Each text once. */
function proseIn(data: unknown): string {
  const parts = new Map<string, string>();
  let chars = 0;
  const add = (text: string, tag: string): void => {
    const key = text.trim();
    if (key === "" || parts.has(key) || chars > MAX_CHARS) return;
    chars += key.length;
    const isHtml = /<(?:p|div|h[1-6]|ul|ol|pre|br|strong|em|a)\b[^<>]*>/i.test(key);
    const safe = isHtml ? key : key.replace(/&/g, "&amp;").replace(/</g, "&lt;");
    parts.set(
      key,
      isHtml ? safe : `<${tag}>${safe.replace(/\n\s*\n/g, `</${tag}><${tag}>`)}</${tag}>`,
    );
  };
  const walk = (value: unknown, name: string, depth: number): void => {
    if (typeof value === "string") {
      const hasWords =
        /\p{L}{2}.*\s/su.test(value.trim()) && !/^(?:https?:|data:|\/)\S*$/.test(value);
      if (hasWords && PROSE.test(name)) add(value, "p");
    } else if (typeof value === "object" && value !== null && depth < MAX_DEPTH) {
      const entries = Object.entries(value);
      const hasText = entries.some(([key, text]) => PROSE.test(key) || typeof text === "object");
      for (const [key, text] of Array.isArray(value) || !hasText ? [] : entries)
        if (TITLE.test(key) && typeof text === "string") add(text, "h2");
      for (const [key, text] of entries) walk(text, Array.isArray(value) ? name : key, depth + 1);
    }
  };
  walk(data, "", 0);
  return [...parts.values()].join("\n");
}
