/**
 * The text of a paragraph, a heading or a cell as Markdown: emphasis, links, images, code, formulas and marks of notes.
 * Blocks in a heading or cell are flattened, since these have one line.
 */
import {
  HEADINGS,
  isElement,
  isText,
  type PageElement,
  type PageNode,
  textOf,
} from "../content/document.ts";
import { codeIn } from "./code.ts";
import { codeSpan, collapseSpaces, escapeLabel, escapeText } from "./text.ts";
import { hasText, isWritten, type Writing } from "./writing.ts";

/** Blocks that a cell or heading may contain. */
const FLATTENED =
  /^(?:p|ul|ol|dl|dt|dd|h[1-6]|table|tr|section|article|blockquote|figure|figcaption|hr)$/;

/** The Markdown of nodes in one line, or in several where the page breaks it. */
export function inlineOf(nodes: Iterable<PageNode>, writing: Writing): string {
  const parts: string[] = [];
  let last: string | undefined;
  let isBold = false;
  for (const node of nodes) {
    let part = inlineNode(node, writing);
    // HTML shows spaces between elements as one.
    if (part.startsWith(" ") && (last === " " || last === "\n")) part = part.slice(1);
    if (part === "") continue;
    const wasBold = isBold;
    isBold = /^\*\*.*\*\*$/s.test(part) && /^(?:B|STRONG)$/.test(node.nodeName);
    // In Markdown, the end of one of two adjacent bold texts would be ambiguous.
    if (isBold && wasBold) part = (parts.pop() ?? "").slice(0, -2) + part.slice(2);
    parts.push(part);
    last = part.at(-1);
  }
  return parts.join("");
}

function inlineNode(node: PageNode, writing: Writing): string {
  if (isText(node)) {
    if (!hasText(node.parentElement, writing)) return "";
    const text: string = node.textContent ?? "";
    const escapes = writing.isLink ? escapeLabel : escapeText;
    const escaped = (part: string): string => escapes(collapseSpaces(part));
    // One with pictures, such as a list of files, is not code, but has lines.
    const isLined = node.parentElement?.localName === "pre";
    return isLined ? text.split("\n").map(escaped).join(lineBreak(writing)) : escaped(text);
  }
  if (!isElement(node) || !isWritten(node, writing)) return "";
  const label = writing.notes.marks.get(node);
  return label === undefined ? elementText(node, writing) : `[^${label}]`;
}

function elementText(element: PageElement, writing: Writing): string {
  const inner = (change: Partial<Writing> = {}): string =>
    inlineOf(element.childNodes, { ...writing, ...change });
  switch (element.localName) {
    case "br":
      return lineBreak(writing);
    case "math":
      return formula(element, writing);
    case "a":
      return link(element, writing);
    case "img":
      return image(element, writing);
    case "code":
    case "kbd":
    case "tt":
    case "var":
      return code(element, writing);
    case "pre":
      return codeLines(element, writing);
    case "strong":
    case "b":
      return writing.isStrong ? inner() : withMarks("**", inner({ isStrong: true }));
    case "em":
    case "i":
    case "cite":
      return writing.isStrong ? inner() : withMarks("*", inner());
    case "del":
    case "s":
    case "strike":
      return withMarks("~~", inner());
    case "q":
      return `"${inner()}"`;
    case "sup":
      return superscript(inner());
    case "input":
      return checkbox(element);
    case "li":
      return `${element.previousElementSibling?.localName === "li" ? "; " : " "}${inner()} `;
    case "button":
    case "select":
    case "option":
      return ` ${inner()} `;
    case "div":
      return codeIn(element) === undefined ? ` ${inner()} ` : codeLines(element, writing);
    default:
      return FLATTENED.test(element.localName) ? ` ${inner()} ` : inner();
  }
}

/** Puts marks around a text, without the spaces at its ends. */
function withMarks(mark: string, inner: string): string {
  const text = inner.trim();
  if (text === "") return inner;
  const [before, after] = [inner.startsWith(" ") ? " " : "", inner.endsWith(" ") ? " " : ""];
  return `${before}${mark}${text}${mark}${after}`;
}

const lineBreak = ({ place }: Writing): string =>
  ({ heading: " ", cell: "<br>", paragraph: "  \n" })[place];

/** TeX with its dollar signs; a displayed formula is on a separate line. */
function formula(element: PageElement, { place }: Writing): string {
  const tex = element.textContent ?? "";
  const isBlock = element.getAttribute("display") === "block";
  if (place === "paragraph") return isBlock ? `\n${tex}\n` : tex;
  // A bar would end the cell of a table.
  return tex.replace(/\\\|\s*/g, "\\Vert ").replace(/\|\s*/g, "\\vert ");
}

/** A longer URL carries a program or a state that a reader does not need. */
const MAX_HREF = 300;
/** Text of a link to the place where it is. */
const PERMALINK = /^[¶#§◆🔗ⓘ\s\p{C}]+\ufe0f?$/u;

/** A link, or only its text: if it points into the page or to a program, or is in code. */
function link(element: PageElement, writing: Writing): string {
  if (isPermalink(element)) return "";
  const code = element.closest("code");
  const text = inlineOf(element.childNodes, { ...writing, isLink: true });
  const address = addressOf(element, writing);
  if (address === undefined || writing.isLink || code !== null || text.trim() === "")
    return address === undefined || code !== null ? inlineOf(element.childNodes, writing) : text;
  return linkTo(text, address, element.getAttribute("title"));
}

/** A text as a link, without the spaces at its ends. */
function linkTo(inner: string, address: string, tooltip: string | null): string {
  const text = inner.replace(/\s*\n\s*/g, " ").trim();
  const title = collapseSpaces(tooltip ?? "")
    .trim()
    .replace(/"/g, '\\"');
  const suffix = title === "" || title === text ? "" : ` "${title}"`;
  const [before, after] = [inner.startsWith(" ") ? " " : "", inner.endsWith(" ") ? " " : ""];
  return `${before}[${text}](${address}${suffix})${after}`;
}

/** The absolute URL of a link that a reader may follow. */
export function addressOf(
  link: PageElement,
  { base, includeLinks }: Pick<Writing, "base" | "includeLinks">,
): string | undefined {
  const href = link.getAttribute("href")?.trim() ?? "";
  if (!includeLinks || href === "" || href.length > MAX_HREF) return undefined;
  return /^(?:#|javascript:|data:)/i.test(href) ? undefined : absolute(href, base);
}

function absolute(href: string, base: string): string | undefined {
  if (!URL.canParse(href, base)) return undefined;
  const address = new URL(href, base).href;
  // Markdown ends an address at a bracket without its pair.
  return /^[^()]*(?:\([^()]*\)[^()]*)*$/.test(address)
    ? address
    : address.replace(/[()]/g, (sign) => (sign === "(" ? "%28" : "%29"));
}

/** Whether a link only marks the place where it is, shows the source of a heading, or runs an example. */
function isPermalink(element: PageElement): boolean {
  const href = element.getAttribute("href") ?? "";
  const text = element.textContent ?? "";
  if (href.startsWith("#") && text !== "" && PERMALINK.test(text)) return true;
  if (/^\s*run\s*$/i.test(text)) return href.length > MAX_HREF || /[?&]code=/.test(href);
  const heading = element.closest(HEADINGS);
  if (heading === null) return false;
  if (/^\s*\[(?:src|source)\]\s*$/.test(text)) return true;
  return heading.id !== "" && href === `#${heading.id}` && textOf(element) !== textOf(heading);
}

/** An image with its address, also if a script would load it later; of one that is only decoration, nothing. */
function image(element: PageElement, writing: Writing): string {
  const alt = collapseSpaces(element.getAttribute("alt") ?? "").trim();
  const label = escapeLabel(alt);
  const sources = ["src", "data-src", "data-original", "data-lazy-src"].map(
    (name) => element.getAttribute(name)?.trim() ?? "",
  );
  const source = sources.find((address) => address !== "" && !/^data:/i.test(address));
  const address = source === undefined ? undefined : absolute(source, writing.base);
  // Without a description, the HTML standard calls it decoration (4.8.4.4).
  const isDecoration = alt === "" && element.hasAttribute("alt");
  if (address === undefined || isDecoration) return label;
  return `!${linkTo(label, address, element.getAttribute("title"))}`;
}

/** Inline code; the link around all of it stays, as Markdown has no links in code, but code in links. */
function code(element: PageElement, writing: Writing): string {
  const text = collapseSpaces(element.textContent ?? "").trim();
  const span = codeSpan(text);
  const inner = element.querySelector("a[href]");
  const isWhole =
    inner !== null && !writing.isLink && collapseSpaces(inner.textContent ?? "").trim() === text;
  const address = isWhole && element.closest("a") === null ? addressOf(inner, writing) : undefined;
  return address === undefined || span === "" ? span : linkTo(span, address, null);
}

/** A block of code in a cell: lines of inline code. */
function codeLines(element: PageElement, writing: Writing): string {
  const text: string = codeIn(element)?.text ?? element.textContent ?? "";
  return text.split("\n").map(codeSpan).join(lineBreak(writing));
}

const SUPERSCRIPT = new Map(
  [..."0123456789+-=()n"].map((sign, index) => [sign, [..."⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁼⁽⁾ⁿ"][index] ?? sign]),
);

/** 10<sup>2</sup> becomes 10²; what has no such sign, such as the link of a note, stays. */
function superscript(inner: string): string {
  const signs = Array.from(inner.trim(), (sign) => SUPERSCRIPT.get(sign));
  return signs.includes(undefined) ? inner : signs.join("");
}

/** The state of a task. */
function checkbox(element: PageElement): string {
  const isBox = /^checkbox$/i.test(element.getAttribute("type") ?? "");
  if (!isBox || element.closest("li") === null) return "";
  return element.hasAttribute("checked") ? "[x] " : "[ ] ";
}
