/** The blocks of a page as Markdown: paragraphs, headings, lists, quotes, code and tables. */
import {
  isElement,
  isHeading,
  type PageElement,
  type PageNode,
  textOf,
} from "../content/document.ts";
import { codeIn } from "./code.ts";
import { addressOf, inlineOf } from "./inline.ts";
import { type Row, type Table, tableIn } from "./table.ts";
import { escapeLineStarts, fenceFor } from "./text.ts";
import { isWritten, type Writing } from "./writing.ts";

/** A part of a text with an empty line before and after it. */
interface Block {
  readonly text: string;
  /** A list directly follows the paragraph of the item that it is in. */
  readonly isList?: true;
}

export const BLOCKS =
  "address, article, aside, blockquote, center, dd, details, dialog, div, dl, dt, fieldset, figcaption, figure, footer, form, " +
  "h1, h2, h3, h4, h5, h6, header, hgroup, hr, legend, li, main, menu, nav, ol, p, pre, search, section, summary, table, tbody, " +
  "td, tfoot, th, thead, tr, caption, ul";
const NAMES = new Set(BLOCKS.split(", "));
/** Deeper lists and quotes have no more marks, which would make a text of its depth squared. */
const MAX_DEPTH = 20;

/** The blocks of nodes; text and inline elements between two blocks are a paragraph. */
export function blocksOf(nodes: Iterable<PageNode>, writing: Writing): Block[] {
  const blocks: Block[] = [];
  let line: PageNode[] = [];
  const endLine = (): void => {
    const text = paragraphOf(line, writing);
    if (text !== "") blocks.push({ text });
    line = [];
  };
  for (const node of nodes) {
    if (!isElement(node) || !isBlock(node, writing)) line.push(node);
    else {
      endLine();
      for (const block of blockOf(node, writing)) blocks.push(block);
    }
  }
  endLine();
  return blocks;
}

export const joinBlocks = (blocks: readonly Block[]): string =>
  blocks.map(({ text }) => text).join("\n\n");

const isBlock = (element: PageElement, { holders, boxes }: Writing): boolean =>
  NAMES.has(element.localName) || holders.has(element) || boxes.has(element);

function paragraphOf(nodes: readonly PageNode[], writing: Writing): string {
  const text = inlineOf(nodes, writing)
    .replace(/(^|[^ ]) ?\n ?/g, "$1\n")
    .trim();
  return escapeLineStarts(text);
}

function blockOf(element: PageElement, writing: Writing): Block[] {
  if (!isWritten(element, writing)) return [];
  const box = writing.boxes.get(element);
  if (box !== undefined) {
    const title = box.title === undefined ? "" : ` **${box.title}**`;
    const head = { text: `[!${box.kind}]${title}` };
    return quote([head, ...blocksOf(box.content.childNodes, deeper(writing))], writing);
  }
  const code = codeIn(element);
  if (code !== undefined) return codeBlock(code.text, code.language);
  const table = tableIn(element);
  if (table !== undefined) return tableBlocks(table, writing);
  if (isHeading(element)) return heading(element, writing);
  switch (element.localName) {
    case "ul":
    case "ol":
    case "menu":
      return list(element, writing);
    case "blockquote":
      return quote(blocksOf(element.childNodes, deeper(writing)), writing);
    case "hr":
      return [{ text: "---" }];
    case "dt":
    case "summary":
      return writing.holders.has(element)
        ? blocksOf(element.childNodes, writing)
        : term(element, writing);
    case "tr":
      return row(element, writing);
    case "a":
      return card(element, writing);
    default:
      return blocksOf(element.childNodes, writing);
  }
}

const deeper = (writing: Writing): Writing => ({ ...writing, depth: writing.depth + 1 });

/** Lines with a mark before the first one, and another before the others. */
function prefixLines(text: string, first: string, others: string): string {
  return (
    first + text.replace(/\n(?=(\n)?)/g, (_, isEmpty) => `\n${isEmpty ? others.trimEnd() : others}`)
  );
}

function quote(blocks: readonly Block[], { depth }: Writing): Block[] {
  const text = joinBlocks(blocks);
  if (text === "") return [];
  return [{ text: depth >= MAX_DEPTH ? text : prefixLines(text, "> ", "> ") }];
}

function codeBlock(code: string, language = ""): Block[] {
  if (code === "") return [];
  const fence = fenceFor(code, 3);
  return [{ text: `${fence}${language}\n${code}\n${fence}` }];
}

function heading(element: PageElement, writing: Writing): Block[] {
  const text = inlineOf(element.childNodes, { ...writing, place: "heading" })
    .replace(/ {2,}|\n/g, " ")
    .trim();
  const marks = "#".repeat(Number(element.localName.slice(1)));
  return text === "" ? [] : [{ text: `${marks} ${text}` }];
}

/** Markdown has no lists of definitions: a term is a bold paragraph before its description. */
function term(element: PageElement, writing: Writing): Block[] {
  const text = inlineOf(element.childNodes, { ...writing, isStrong: true })
    .replace(/ *\n */g, " ")
    .trim();
  return text === "" ? [] : [{ text: `**${text}**` }];
}

/** The items of a list; one with headings is a section, because Markdown has no headings in lists. */
function list(element: PageElement, writing: Writing): Block[] {
  const blocks: Block[] = [];
  let items: string[] = [];
  const endList = (): void => {
    if (items.length > 0) blocks.push({ text: items.join("\n"), isList: true });
    items = [];
  };
  const isNumbered = element.localName === "ol";
  let number = Number(element.getAttribute("start") ?? 1) || 1;
  for (const node of element.childNodes) {
    if (isElement(node) ? !isWritten(node, writing) : textOf(node) === "") continue;
    if (isElement(node) && (writing.sections.has(node) || node.localName !== "li")) {
      endList();
      for (const block of blocksOf(node.localName === "li" ? node.childNodes : [node], writing))
        blocks.push(block);
      continue;
    }
    const inner = blocksOf(isElement(node) ? node.childNodes : [node], deeper(writing));
    if (inner.length === 0) continue;
    const text = inner.map(
      (block, at) => (at === 0 ? "" : block.isList ? "\n" : "\n\n") + block.text,
    );
    if (isElement(node)) number = Number(node.getAttribute("value")) || number;
    const mark = isNumbered ? `${number}. ` : "- ";
    const indent = writing.depth >= MAX_DEPTH ? "" : " ".repeat(mark.length);
    items.push(prefixLines(text.join(""), mark, indent));
    number += 1;
  }
  endList();
  return blocks;
}

/** A row of a table for layout: one line, unless its cells have blocks. */
function row(element: PageElement, writing: Writing): Block[] {
  const cells = [...element.children];
  if (cells.some((cell) => writing.holders.has(cell)))
    return cells.flatMap((cell) => blocksOf(cell.childNodes, writing));
  const text = cells
    .map((cell) => paragraphOf([...cell.childNodes], writing))
    .filter(Boolean)
    .join(" ");
  return text === "" ? [] : [{ text }];
}

function tableBlocks({ heading: title, caption, rows }: Table, writing: Writing): Block[] {
  const above = [title, caption].flatMap((part) => (part ? blocksOf([part], writing) : []));
  const width = rows.reduce((most, { length }) => Math.max(most, length), 0);
  const lines = rows.map((cells) => rowLine(cells, width, writing));
  if (width === 0 || lines.length === 0) return above;
  lines.splice(1, 0, `| ${Array(width).fill("---").join(" | ")} |`);
  return [...above, { text: lines.join("\n") }];
}

function rowLine(cells: Row, width: number, writing: Writing): string {
  const texts = Array.from({ length: width }, (_, column) => {
    const cell = cells[column];
    if (cell === undefined) return "";
    const nodes = isWritten(cell, writing) ? cell.childNodes : [];
    const text = inlineOf(nodes, { ...writing, place: "cell" });
    return text
      .replace(/\s*\n\s*/g, " ")
      .trim()
      .replace(/\|/g, "\\|");
  });
  return `| ${texts.join(" | ")} |`;
}

/** A link around blocks, such as a card: its heading, or its first line, is the link. */
function card(element: PageElement, writing: Writing): Block[] {
  const blocks = blocksOf(element.childNodes, writing);
  const address = addressOf(element, writing);
  if (address === undefined) return blocks;
  const isLine = ({ text }: Block): boolean => !/\n|\]\(|^[>|`-]/.test(text);
  const title = blocks.find(({ text }) => /^#/.test(text)) ?? blocks.find(isLine);
  if (title === undefined || !isLine(title)) return blocks;
  const linked = title.text.replace(
    /^(#{1,6} )?(.*)$/s,
    `$1[$2](${address.replace(/\$/g, "$$$$")})`,
  );
  return blocks.map((block) => (block === title ? { text: linked } : block));
}
