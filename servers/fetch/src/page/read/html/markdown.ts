import { htmlToMarkdown } from "@mdream/js";
import { writeFirst } from "./code.ts";
import { HEADINGS, type PageDocument, type PageElement, textOf } from "./document.ts";
import { writeNotes } from "./notes.ts";
import { stripTags } from "./strip-tags.ts";
import { asWritten, verbatim } from "./verbatim.ts";

/** How HTML is converted. */
export interface OutputOptions {
  readonly format: "markdown" | "text";
  /** The base of relative URLs. */
  readonly base: string;
  readonly includeLinks: boolean;
}

/** If the Markdown has a smaller share of the text's letters, the conversion lost content. */
const KEPT_SHARE = 0.9;

/**
 * Converts HTML to Markdown or text. mdream omits what it cannot lay out, inflates deep lists, and throws for parts of
 * tables outside a table. All three are detected, and the plain text is returned instead.
 *
 * @param text the text of the HTML, or a text of the same length
 */
export function formatHtml(html: string, text: string, options: OutputOptions): string {
  return asWritten(formatted(html, text, options));
}

function formatted(
  html: string,
  text: string,
  { base, format, includeLinks }: OutputOptions,
): string {
  // Excluding `<` and `>` keeps this linear for a text that repeats `<a `.
  const linked = includeLinks ? html : html.replace(/<\/?a(?:\s[^<>]*)?>/gi, "");
  // Data URLs are useless to a reader.
  const shown = linked.replace(
    /\s(?:src|srcset|href|poster)\s*=\s*(?:"\s*data:[^"<>]*"|'\s*data:[^'<>]*')/gi,
    "",
  );
  let result: string;
  try {
    // mdream's search for trailing whitespace is quadratic in a run of it.
    result = htmlToMarkdown(
      shown.replace(/[ \t\r\n]{200,}/g, (run) => run.slice(0, 200)),
      { origin: base, format, clean: { blankLines: true } },
    );
  } catch {
    return stripTags(html);
  }
  result = result
    .replace(/!\[([^[\]\n]{0,500})\]\((?:\s*data:[^()\s]*)?\)/g, "$1")
    .replace(/\[([^[\]\n]{0,500})\]\(javascript:[^()\s]*(?:\([^()\s]*\)[^()\s]*)*\)/gi, "$1")
    .replace(/(?<![!\\])\[[ \t]{0,20}\]\([^()\s]*\)/g, "")
    .replace(/^([ \t]*(?:[-*]|\d+\.) )\\\[([ x])\\?\]/gm, "$1[$2]")
    .trim();
  const isBlownUp = result.length > html.length * 3 + 1_000;
  // Letters in leftover tags are not page text, but `<string>` may be.
  return isBlownUp || lettersIn(result.replace(LEFT_TAG, "")) < lettersIn(text) * KEPT_SHARE
    ? stripTags(html)
    : result;
}

/** The number of letters and digits. ASCII comes first, because a class of Unicode is slow to search for. */
const lettersIn = (text: string): number =>
  text.replace(/[\0-/:-@[-`{-\x7f]+/g, "").replace(/[^\0-\x7f\p{L}\p{N}]+/gu, "").length;

/** A tag that the conversion has left. A text such as `<string>` is not one. */
const LEFT_TAG =
  /<\/?(?:a|article|b|code|d[dlt]|div|em|h[1-6]|i|li|main|ol|p|pre|section|span|strong|table|tbody|tfoot|t[dhr]|thead|ul)(?:\s[^<>]*)?>|<[^<>=]{1,100}=[^<>]*>/gi;

/** Elements without a Markdown equivalent, whose content reads well without them. */
const BARE = "mark, u, ins, abbr, address, small, font, center, time, big, rp, ruby, rt";
const BLOCK =
  "div, p, ul, ol, dl, pre, blockquote, section, article, h1, h2, h3, h4, h5, h6, table, hr, form, figure";
const SUPERSCRIPT: Readonly<Record<string, string>> = Object.fromEntries(
  [..."0123456789+-=()n"].map((sign, index) => [sign, [..."⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁼⁽⁾ⁿ"][index] ?? sign]),
);

/** Deeper quotes join the one above, because mdream copies a quote once for each level. */
const MAX_QUOTES = 20;

/** Replaces elements that have no Markdown equivalent or that mdream does not support. */
export function simplify(root: PageElement, document: PageDocument): void {
  writeNotes(root, document);
  writeFirst(root, document);
  const names = new Set(Array.from(root.querySelectorAll("*"), ({ localName }) => localName));
  /** Elements that match a selector. For speed, skips parts with an element that does not occur in the page. */
  const all = (selector: string): PageElement[] => {
    const parts = selector
      .split(", ")
      .filter((part) => part.split(" ").every((name) => names.has(name.replace(/\[.*/, ""))));
    return parts.length === 0 ? [] : [...root.querySelectorAll(parts.join(", "))];
  };
  const renamed = (element: PageElement, name: string): PageElement => {
    const other = document.createElement(name);
    other.append(...element.childNodes);
    element.replaceWith(other);
    return other;
  };
  for (const link of all("a")) simplifyLink(link);
  for (const grid of names.has("div") ? [...root.querySelectorAll(".summary-table")] : [])
    gridToTable(grid, document);
  for (const heading of all("li h1, li h2, li h3, li h4"))
    for (let item = heading.closest("li"); item !== null && item !== root && root.contains(item); )
      item = unlist(item, renamed)?.closest("li") ?? null;
  if (names.has("div")) names.add("table").add("tr").add("td").add("th");
  for (const element of all("sup"))
    element.replaceWith(...(superscript(element, document) ?? element.childNodes));
  for (const element of all(`${BARE}, sub`)) element.replaceWith(...element.childNodes);
  for (const term of all("dt, summary")) {
    const strong = document.createElement("strong");
    if (term.querySelector(BLOCK) !== null) continue;
    // Markdown cannot tell the ends of emphasis in bold text.
    for (const mark of term.querySelectorAll("em, i, b, strong, var"))
      mark.replaceWith(...mark.childNodes);
    strong.append(...term.childNodes);
    term.append(strong);
  }
  for (const element of all("dt, summary")) renamed(element, "p");
  for (const element of all("dd, details, dl")) renamed(element, "div");
  for (const image of all("img")) restoreImage(image);
  const levels = new Map<PageElement, number>();
  for (const quote of all("blockquote")) {
    const outer = quote.parentElement?.closest("blockquote");
    const level = (outer ? (levels.get(outer) ?? MAX_QUOTES) : 0) + 1;
    if (level > MAX_QUOTES) quote.replaceWith(...quote.childNodes);
    else levels.set(quote, level);
  }
  for (const table of all("table")) liftHeadings(table);
  for (const table of all("table")) codeToLines(table, document);
  for (const table of all("table").reverse()) if (isLayout(table)) unwrapTable(table, renamed);
  for (const cell of all("td[colspan], th[colspan], td[rowspan], th[rowspan]").slice(0, MAX_SPREAD))
    spread(cell, document);
  for (const part of all("th, td, tr, thead, tbody, tfoot, caption"))
    if (part.closest("table") === null) renamed(part, "div");
  // Not `li + li`, which linkedom matches in quadratic time.
  for (const item of all("td li"))
    if (item.previousElementSibling?.localName === "li") item.prepend("; ");
  for (const block of all(
    "td ul, td ol, td li, td p, td div, th p, th div, td h1, td h2, td h3, td h4, td h5, td h6",
  )) {
    block.before(" ");
    block.replaceWith(...block.childNodes);
  }
  // A heading has one line.
  for (const br of all("h1 br, h2 br, h3 br, h4 br, h5 br, h6 br")) br.replaceWith(" ");
  for (const heading of all("a h1, a h2, a h3, a h4, a h5, a h6")) linkHeading(heading, renamed);
  keepSigns(root, document);
}

/** mdream escapes each underscore, and a text's `<` would look like a tag that it left. */
function keepSigns(root: PageElement, document: PageDocument): void {
  // The parser makes a text of each entity.
  root.normalize();
  const walker = document.createTreeWalker(root, SHOW_TEXT);
  while (walker.nextNode()) {
    const { currentNode: node } = walker;
    const text = node.textContent ?? "";
    if (!/[_<[]/.test(text)) continue;
    const isCode = node.parentElement?.closest("pre, code") != null;
    const kept = isCode
      ? text.replace(/[<[]/g, verbatim)
      : text
          .replace(/(?<=[\p{L}\p{N}_])_+(?=[\p{L}\p{N}])/gu, verbatim)
          .replace(/<(?=[a-z/!?]|$)/gi, verbatim("\\<"));
    if (kept !== text) node.textContent = kept;
  }
}

/** DOM's constant for texts. */
const SHOW_TEXT = 4;

/** A longer URL carries a program or a state that a reader does not need. */
const MAX_HREF = 300;

/** Removes permalinks, and leaves only the text of links within the page, in code, and of links with endless URLs. */
function simplifyLink(link: PageElement): void {
  const href = link.getAttribute("href") ?? "";
  const text = (link.textContent ?? "").trim();
  const isInside = href.startsWith("#");
  const code = link.closest("code, pre");
  if (isInside && /^[¶#§◆🔗ⓘ\s\p{C}]+\ufe0f?$/u.test(link.textContent ?? "")) link.remove();
  else if (/^\[(?:src|source)\]$/.test(text) && link.closest(HEADINGS) !== null) link.remove();
  else if (/^run$/i.test(text) && (href.length > MAX_HREF || /[?&]code=/.test(href))) link.remove();
  else if (
    code?.localName === "code" &&
    code.closest("pre, a") === null &&
    (code.textContent ?? "").trim() === text &&
    !isInside
  ) {
    // Markdown has no links in code, but code in links.
    const whole = link.cloneNode(false);
    link.replaceWith(...link.childNodes);
    code.before(whole);
    whole.append(code);
    if (href.length > MAX_HREF) whole.replaceWith(code);
  } else if (code !== null || isInside || href.length > MAX_HREF)
    link.replaceWith(...link.childNodes);
  else if ((link.getAttribute("title") ?? "").trim() === text) link.removeAttribute("title");
}

/** Makes a table of a grid, whose first cells are a header (javadoc). */
function gridToTable(grid: PageElement, document: PageDocument): void {
  const cells = [...grid.children];
  const width = cells.findIndex((cell) => !cell.classList.contains("table-header"));
  if (width < 2) return;
  const table = document.createElement("table");
  for (let at = 0; at < cells.length; at += width) {
    const row = document.createElement("tr");
    for (const cell of cells.slice(at, at + width)) {
      const other = document.createElement(at === 0 ? "th" : "td");
      other.append(...cell.childNodes);
      row.append(other);
    }
    table.append(row);
  }
  grid.replaceWith(table);
}

/** An item of a list that has headings is a section: Markdown has no headings in lists. Returns what was around the item. */
function unlist(item: PageElement, renamed: (element: PageElement, name: string) => PageElement) {
  const list = renamed(item, "div").parentElement;
  const isRest = list !== null && [...list.children].some(({ localName }) => localName === "li");
  return list === null || isRest || !/^[ou]l$/.test(list.localName) ? list : renamed(list, "div");
}

/** 10<sup>2</sup> becomes 10²; undefined for a footnote's link and for characters without a Unicode superscript. */
function superscript(element: PageElement, document: PageDocument) {
  const text = element.textContent ?? "";
  if (element.querySelector("a, img") !== null || text.trim() === "") return undefined;
  const signs = [...text.trim()].map((sign) => SUPERSCRIPT[sign]);
  return signs.includes(undefined) ? undefined : [document.createTextNode(signs.join(""))];
}

/** Restores the URL of an image that a script would load later. */
function restoreImage(image: PageElement): void {
  const src = image.getAttribute("src") ?? "";
  if (src !== "" && !/^\s*data:/i.test(src)) return;
  const later = ["data-src", "data-original", "data-lazy-src"].map((name) =>
    image.getAttribute(name),
  );
  const [address] = later.filter((one) => one !== null && one !== "" && !/^\s*data:/i.test(one));
  if (address) image.setAttribute("src", address);
  else image.replaceWith(image.getAttribute("alt") ?? "");
}

/** Maximum span of a cell. Markdown has no spans, so empty cells keep the others in their columns. */
const MAX_SPAN = 30;
/** Further cells with spans are not spread: each may add 900 empty cells. */
const MAX_SPREAD = 2_000;

function spread(cell: PageElement, document: PageDocument): void {
  const span = (name: string): number =>
    Math.min(MAX_SPAN, Math.max(1, Number(cell.getAttribute(name)) || 1));
  const [wide, high] = [span("colspan"), span("rowspan")];
  const row = cell.parentElement;
  const column = row === null ? 0 : [...row.children].indexOf(cell);
  let at = row;
  for (let down = 0; down < high && at !== null; down++, at = at.nextElementSibling)
    for (let right = down === 0 ? 1 : 0; right < wide; right++)
      at.insertBefore(document.createElement("td"), at.children[column + right] ?? null);
  cell.removeAttribute("colspan");
  cell.removeAttribute("rowspan");
}

/** Puts the headings that are a table's first rows before it (Doxygen), and removes rows that only keep a distance. */
function liftHeadings(table: PageElement): void {
  // Searching the rows of nested tables again would take quadratic time.
  if (table.querySelector("table") !== null) return;
  const [first, ...rows] = table.querySelectorAll("tr");
  for (const row of rows) if (textOf(row) === "" && row.querySelector("img") === null) row.remove();
  const heading = first?.children.length === 1 ? first.querySelector(HEADINGS) : null;
  if (heading === null || first === undefined || textOf(heading) !== textOf(first)) return;
  table.before(heading);
  first.remove();
  // A table with a title is not for layout, however few rows it has.
  table.setAttribute("role", "table");
}

/** More lines of code read better as a block. */
const MAX_CELL_LINES = 30;

/** Writes code in the cells of a table of data as lines of inline code, since cells have no blocks. */
function codeToLines(table: PageElement, document: PageDocument): void {
  const blocks = [...table.querySelectorAll("pre")].map((pre) => ({
    pre,
    lines: (pre.textContent ?? "").split("\n"),
  }));
  if (blocks.length === 0 || blocks.some(({ lines }) => lines.length > MAX_CELL_LINES)) return;
  // An example next to its output is a header and a row.
  const least = table.querySelector("th") === null ? 2 : 3;
  if (table.querySelectorAll("tr").length < least || isLayout(table, LAYOUT)) return;
  for (const { pre, lines } of blocks)
    pre.replaceWith(
      ...lines.flatMap((line: string, index: number) => {
        const code = document.createElement("code");
        code.append(line.replace(/^ +/, verbatim));
        const parts = line === "" ? [] : [code];
        return index === 0 ? parts : [document.createElement("br"), ...parts];
      }),
    );
}

/** What tables of data do not contain. */
const LAYOUT = "table, h1, h2, h3, blockquote, form, section, article";

/** Whether a table is used for layout instead of data. */
export function isLayout(table: PageElement, never = `${LAYOUT}, pre`): boolean {
  if (/^(?:presentation|none)$/.test(table.getAttribute("role") ?? "")) return true;
  if (table.querySelector(never) !== null) return true;
  if (/^(?:table|grid)$/.test(table.getAttribute("role") ?? "")) return false;
  if (table.querySelector("th, caption, thead, colgroup") !== null) return false;
  const rows = [...table.querySelectorAll("tr")];
  const widest = rows.reduce((most, { children }) => Math.max(most, children.length), 0);
  const even = rows.filter(({ children }) => children.length === widest);
  // A cell across the entire table is a title between its rows.
  const isTitle = ([cell, ...others]: PageElement[]): boolean =>
    others.length === 0 && even.length > 1 && Number(cell?.getAttribute("colspan")) >= widest;
  const isUneven = rows.some(
    ({ children }) => children.length > 0 && children.length < widest && !isTitle([...children]),
  );
  return rows.length < 2 || widest < 2 || isUneven;
}

function unwrapTable(
  table: PageElement,
  renamed: (element: PageElement, name: string) => PageElement,
): void {
  for (const cell of [...table.querySelectorAll("td, th")])
    if (cell.querySelector(BLOCK) !== null) renamed(cell, "div");
    else {
      cell.append(" ");
      cell.replaceWith(...cell.childNodes);
    }
  for (const part of [...table.querySelectorAll("tr, thead, tbody, tfoot, caption, colgroup")])
    renamed(part, "div");
  renamed(table, "div");
}

/** If a whole card is a link, its heading becomes the link instead. */
function linkHeading(
  heading: PageElement,
  renamed: (element: PageElement, name: string) => PageElement,
): void {
  const link = heading.closest("a");
  if (link === null) return;
  const inner = link.cloneNode(false);
  inner.append(...heading.childNodes);
  heading.append(inner);
  renamed(link, "div");
}
