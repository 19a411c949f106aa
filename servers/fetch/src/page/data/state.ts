import type { PageDocument } from "../read/html/document.ts";
import { jsonLdIn, textIn } from "./things.ts";

/** The data with which a page's script starts. */
export interface State {
  readonly name: string;
  readonly value: unknown;
}

const MAX_STATES = 20;
/** Assignments in one script: each may have to be read to the script's end. */
const MAX_TRIES = 100;
const ASSIGNED =
  /(?:window|self|globalThis)(?:\.|\[["'])(__\w{1,60}|\w{0,40}(?:STATE|state|Data|DATA|Props)\w{0,40})(?:["']\])?\s*=\s*(JSON\.parse\(\s*)?/g;
/**
 * The data in a page's scripts, as JSON: `__NEXT_DATA__`, `__NUXT_DATA__` and other elements of JSON, and variables such
 * as `window.__INITIAL_STATE__`. Nothing is executed.
 */
export function statesIn(document: PageDocument): State[] {
  const states: State[] = [];
  for (const script of document.querySelectorAll("script")) {
    const code = script.textContent ?? "";
    if (/^application\/json\b/.test(script.getAttribute("type") ?? "")) {
      const { value } = jsonAt(code, 0) ?? {};
      const name = script.id || script.getAttribute("data-target") || "application/json";
      if (typeof value === "object" && value !== null && states.length < MAX_STATES)
        states.push({ name, value: name === "__NUXT_DATA__" ? revived(value) : pageProps(value) });
      continue;
    }
    if (
      script.hasAttribute("src") ||
      (!code.includes("__") && !/STATE|state|Data|DATA|Props/.test(code))
    )
      continue;
    const assignments = [...code.matchAll(ASSIGNED)].slice(0, MAX_TRIES);
    for (const { 0: found, 1: name = "", 2: isParsed, index } of assignments) {
      const { value: given } = jsonAt(code, index + found.length) ?? {};
      const value =
        isParsed !== undefined && typeof given === "string" ? jsonAt(given, 0)?.value : given;
      if (typeof value === "object" && value !== null && states.length < MAX_STATES)
        states.push({ name, value });
    }
  }
  return states;
}

/** Next.js has a page's data among settings. */
function pageProps(value: object): unknown {
  const props: unknown = "props" in value && "buildId" in value ? value.props : undefined;
  return typeof props === "object" && props !== null && "pageProps" in props
    ? props.pageProps
    : value;
}

/** The JSON string, object or array that begins in a text at `at`, whatever follows it. */
function jsonAt(text: string, at: number): { value: unknown } | undefined {
  const tokens = /"[^"\\]*(?:\\.[^"\\]*)*"|[[\]{}]/gs;
  tokens.lastIndex = at;
  let depth = 0;
  for (let found = tokens.exec(text); found !== null; found = tokens.exec(text)) {
    // Something else than JSON, such as a call.
    if (depth === 0 && text.slice(at, found.index).trim() !== "") return undefined;
    if (/^[[{]/.test(found[0])) depth += 1;
    else if (/^[\]}]/.test(found[0])) depth -= 1;
    if (depth > 0) continue;
    try {
      return { value: JSON.parse(text.slice(at, tokens.lastIndex)) };
    } catch {
      return undefined;
    }
  }
  return undefined;
}

const MAX_DEPTH = 30;
/** References can repeat a value, so a small page could become a large one. */
const MAX_VALUES = 20_000;

/** Nuxt's format (devalue): a list in which objects and arrays have their members' positions; special types are tagged. */
function revived(values: unknown): unknown {
  if (!Array.isArray(values)) return values;
  let left = MAX_VALUES;
  const at = (position: unknown, depth: number): unknown => {
    const value = typeof position === "number" ? values[position] : undefined;
    left -= 1;
    if (typeof value !== "object" || value === null) return value;
    if (depth > MAX_DEPTH || left < 0) return undefined;
    if (!Array.isArray(value))
      return Object.fromEntries(
        Object.entries(value).map(([key, member]) => [key, at(member, depth + 1)]),
      );
    return typeof value[0] === "string"
      ? at(value[1], depth + 1)
      : value.map((member) => at(member, depth + 1));
  };
  return at(0, 0);
}

/** A shorter text is a message such as "Loading". */
const MIN_TEXT_CHARS = 200;

/**
 * The text that a page without its scripts does not show, but has in its data, as HTML: the article of its JSON-LD, else the
 * texts in the data of its scripts. Empty if it has none.
 */
export function embeddedHtml(document: PageDocument): string {
  const isLong = (text = "") => text.length >= MIN_TEXT_CHARS;
  const article = jsonLdIn(document).find((thing) => isLong(textIn(thing["articleBody"])));
  const { headline, name, articleBody } = article ?? {};
  const states = () => statesIn(document).map(({ value }) => value);
  const html = proseIn(article ? { title: headline ?? name, articleBody } : states());
  return isLong(html) ? html : "";
}

/** Names under which data has text for readers, and titles. */
const PROSE =
  /^(?:text|body|content|html|description|summary|articleBody|children|paragraph|excerpt|answer|markdown|value)/i;
const TITLE = /^(?:title|headline|heading|name)$/i;
const MIN_PROSE_CHARS = 60;
const MAX_PROSE_CHARS = 500_000;

/**
 * The text for readers in a page's data, as HTML: long strings, and those under names such as `text` or `body`, with the
 * titles next to them. Each text once.
 */
function proseIn(value: unknown): string {
  const seen = new Set<string>();
  const parts: string[] = [];
  let chars = 0;
  const add = (text: string, tag: string): void => {
    const key = text.trim();
    if (key === "" || seen.has(key) || chars > MAX_PROSE_CHARS) return;
    seen.add(key);
    chars += key.length;
    const isHtml = /<(?:p|div|h[1-6]|ul|ol|pre|br|strong|em|a)\b[^<>]*>/i.test(key);
    const safe = isHtml ? key : key.replace(/&/g, "&amp;").replace(/</g, "&lt;");
    const tagged = safe.replace(/\n\s*\n/g, `</${tag}>\n<${tag}>`);
    parts.push(isHtml && tag === "p" ? safe : `<${tag}>${tagged}</${tag}>`);
  };
  const walk = (one: unknown, name: string, depth: number): void => {
    if (depth > MAX_DEPTH * 2 || parts.length > 10_000) return;
    if (typeof one === "string") {
      const isProse = PROSE.test(name)
        ? /\p{L}{2}/u.test(one) && /\s/.test(one.trim())
        : isSentence(one);
      if (isProse && !/^(?:https?:|data:|\/)\S*$/.test(one)) add(one, "p");
    } else if (Array.isArray(one)) {
      for (const item of one) walk(item, name, depth + 1);
    } else if (typeof one === "object" && one !== null) {
      const entries = Object.entries(one);
      const hasText = entries.some(([key, text]) =>
        typeof text === "string" ? PROSE.test(key) && /\s/.test(text) : typeof text === "object",
      );
      for (const [key, text] of entries)
        if (hasText && TITLE.test(key) && typeof text === "string") add(text, "h2");
      for (const [key, text] of entries) walk(text, key, depth + 1);
    }
  };
  walk(value, "", 0);
  return parts.join("\n");
}

/** Whether a text is written for people: several words, and few signs of code. */
function isSentence(text: string): boolean {
  if (text.length < MIN_PROSE_CHARS) return false;
  const words = text.match(/\p{L}+(?=[\s,.;:!?])/gu)?.length ?? 0;
  return words >= 8 && words * 12 > text.replace(/<[^<>]*>/g, "").length;
}
