import { type Document, DocumentError, type DocumentPart } from "../document.ts";
import {
  all,
  elementsIn,
  escaped,
  factIn,
  first,
  type Parts,
  tableOf,
  type XmlElement,
  xmlOf,
} from "../xml.ts";

/** Of all sheets together, with repeated cells. */
const MAX_CELLS = 5_000_000;
const MAX_ROWS = 1_048_576;

/** What is not shown: comments, deleted text, form controls, declarations and drawings' copies. */
const HIDDEN =
  /^(?:office:(?:annotation|forms)|text:(?:tracked-changes|.*-decls)|table:(?:shapes|calculation-settings)|draw:object-ole)$/;

/**
 * A text document, spreadsheet or presentation (ISO/IEC 26300).
 *
 * @throws DocumentError for one that is encrypted or too large.
 */
export function openDocument(parts: Parts): Document {
  const manifest = xmlOf(parts, "META-INF/manifest.xml");
  if (manifest !== undefined && all(manifest, "manifest:encryption-data").length > 0)
    throw new DocumentError("it is password-protected");
  const content = xmlOf(parts, "content.xml");
  const body = content && first(content, "office:body");
  if (body === undefined) throw new DocumentError("it has no content");
  const meta = xmlOf(parts, "meta.xml");
  const facts = {
    title: factIn(meta, "dc:title"),
    creator: factIn(meta, "dc:creator"),
    modified: factIn(meta, "dc:date"),
  };
  const sheets = first(body, "office:spreadsheet");
  if (sheets !== undefined)
    return { label: "OpenDocument spreadsheet", unit: "sheet", parts: sheetsIn(sheets), facts };
  const slides = first(body, "office:presentation");
  if (slides !== undefined) {
    const pages = all(slides, "draw:page").map((page, index) => {
      return { name: String(index + 1), html: htmlOf(page) };
    });
    return { label: "OpenDocument presentation", unit: "slide", parts: pages, facts };
  }
  const html = htmlOf(body) + marginsHtml(xmlOf(parts, "styles.xml"));
  return { label: "OpenDocument text", parts: [{ name: "", html }], facts };
}

/** Headers and footers, which belong to the styles of pages. */
function marginsHtml(styles: ReturnType<typeof xmlOf>): string {
  const margins = ["style:header", "style:footer"].flatMap((name) =>
    styles === undefined ? [] : all(styles, name),
  );
  return [...new Set(margins.map(htmlOf))].join("");
}

/** The tree's depth is limited, so that this cannot exhaust the stack. */
function htmlOf(node: XmlElement): string {
  let html = "";
  for (const child of node.children) {
    if ("data" in child && child.type === "text") html += escaped(String(child.data));
    if (child.type !== "tag" || HIDDEN.test(child.name)) continue;
    html += elementHtml(child);
  }
  return html;
}

function elementHtml(element: XmlElement): string {
  const { name, attribs } = element;
  switch (name) {
    case "text:h": {
      const level = Math.min(6, Math.max(1, Number(attribs["text:outline-level"]) || 1));
      return `<h${level}>${htmlOf(element)}</h${level}>`;
    }
    case "text:p":
    case "svg:title":
    case "svg:desc":
      return `<p>${htmlOf(element)}</p>`;
    case "text:list":
      return `<ul>${htmlOf(element)}</ul>`;
    case "text:list-item":
    case "text:list-header":
      return `<li>${htmlOf(element)}</li>`;
    case "table:table":
      return tableOf(rowsOf(element).map((row) => cellsOf(row).map(htmlOf)));
    case "text:s":
      return " ".repeat(Math.min(100, Number(attribs["text:c"]) || 1));
    case "text:tab":
      return "\t";
    case "text:line-break":
      return "<br>";
    case "text:a":
      return `<a href="${escaped(attribs["xlink:href"] ?? "")}">${htmlOf(element)}</a>`;
    case "presentation:notes": {
      const notes = htmlOf(element);
      return notes.replace(/<[^<>]*>/g, "").trim() === "" ? "" : `<h3>Notes</h3>${notes}`;
    }
    default:
      return htmlOf(element);
  }
}

/** The rows of a table itself, not those of tables in its cells. */
function rowsOf(table: XmlElement): XmlElement[] {
  return elementsIn(table).flatMap((child) => {
    if (child.name === "table:table-row") return [child];
    return /^table:table-(?:header-rows|rows|row-group)$/.test(child.name) ? rowsOf(child) : [];
  });
}

const cellsOf = (row: XmlElement): XmlElement[] =>
  elementsIn(row).filter(({ name }) => /^table:(?:covered-)?table-cell$/.test(name));

function sheetsIn(spreadsheet: XmlElement): DocumentPart[] {
  let cells = 0;
  const tables = elementsIn(spreadsheet).filter(({ name }) => name === "table:table");
  return tables.map((table) => {
    const rows: string[][] = [];
    // Empty rows and cells count only if something follows them: a sheet usually ends with a million of them.
    let empty = 0;
    for (const row of rowsOf(table)) {
      const repeated = Number(row.attribs["table:number-rows-repeated"]) || 1;
      const cellTexts = rowOf(row);
      if (cellTexts.length === 0) {
        empty += repeated;
        continue;
      }
      cells += cellTexts.length * repeated + empty;
      if (cells > MAX_CELLS || rows.length + empty > MAX_ROWS)
        throw new DocumentError(`its sheets have more than ${MAX_CELLS / 1_000_000} million cells`);
      for (; empty > 0; empty--) rows.push([]);
      for (let count = 0; count < repeated; count++) rows.push(cellTexts);
    }
    return { name: table.attribs["table:name"] ?? "", rows };
  });
}

/** The cells of a row, without empty ones at its end. */
function rowOf(row: XmlElement): string[] {
  const texts: string[] = [];
  let empty = 0;
  for (const cell of cellsOf(row)) {
    const repeated = Math.min(16_384, Number(cell.attribs["table:number-columns-repeated"]) || 1);
    const text = plainText(htmlOf(cell)) || (cell.attribs["office:value"] ?? "");
    if (text === "") {
      empty += repeated;
      continue;
    }
    if (texts.length + empty + repeated > 16_384)
      throw new DocumentError("a row has more than 16,384 cells");
    for (; empty > 0; empty--) texts.push("");
    for (let count = 0; count < repeated; count++) texts.push(text);
  }
  return texts;
}

/** The text of HTML from `htmlOf`, on one line. */
const plainText = (html: string): string =>
  html
    .replace(/<[^<>]*>/g, " ")
    .replace(/&#(\d+);/g, (_, code) => String.fromCharCode(Number(code)))
    .replace(/\s+/g, " ")
    .trim();
