/** Tables: rows of cells with equal columns, or, if a page uses a table for its layout, the blocks in it. */
import { HEADINGS, type PageElement, textOf } from "../content/document.ts";

/** More lines of code read better as a block. */
const MAX_CELL_LINES = 30;
/** What tables of data do not contain. */
const LAYOUT = "table, h1, h2, h3, blockquote, form, section, article";
/** Maximum span of a cell: Markdown and CSV have no spans, so empty cells keep the others in their columns. */
const MAX_SPAN = 30;
const MAX_COLUMNS = 200;

/** A row: its cells, or undefined where a cell of another column or row extends to. */
export type Row = readonly (PageElement | undefined)[];

/** Rows with the heading that the first one is (Doxygen), or undefined. */
export interface Table {
  readonly heading: PageElement | undefined;
  readonly caption: PageElement | null;
  readonly rows: readonly Row[];
}

/** The rows of a table of data, or of a grid that looks like one; undefined for other elements and tables for layout. */
export function tableIn(element: PageElement): Table | undefined {
  if (element.localName === "div") return gridIn(element);
  if (element.localName !== "table" || element.querySelector("table") !== null) return undefined;
  const [first, ...others] = element.querySelectorAll("tr");
  const heading = first?.children.length === 1 ? first.querySelector(HEADINGS) : null;
  const isTitled = heading !== null && first !== undefined && textOf(heading) === textOf(first);
  if (isLayout(element, isTitled ? others : undefined)) return undefined;
  return {
    heading: isTitled ? heading : undefined,
    caption: element.querySelector("caption"),
    rows: rowsOf(isTitled ? others : [...element.querySelectorAll("tr")]),
  };
}

/** The cells of rows, each in its column; rows that only keep a distance are left out. */
function rowsOf(rows: readonly PageElement[]): Row[] {
  /** For how many further rows a cell above covers each column. */
  const covered: number[] = [];
  const placed = rows.map((row) => {
    const cells: (PageElement | undefined)[] = [];
    for (const cell of row.children) {
      while ((covered[cells.length] ?? 0) > 0) cells.push(undefined);
      const [wide, high] = [spanOf(cell, "colspan"), spanOf(cell, "rowspan")];
      for (let right = 0; right < wide && cells.length < MAX_COLUMNS; right++) {
        covered[cells.length] = high;
        cells.push(right === 0 ? cell : undefined);
      }
    }
    for (const [column, rest] of covered.entries()) covered[column] = Math.max(0, (rest ?? 0) - 1);
    return cells;
  });
  return placed.filter((row) =>
    row.some((cell) => cell && (textOf(cell) !== "" || cell.querySelector("img") !== null)),
  );
}

const spanOf = (cell: PageElement, name: string): number =>
  Math.min(MAX_SPAN, Math.max(1, Number(cell.getAttribute(name)) || 1));

/**
 * Whether a table is used for layout instead of data.
 *
 * @param body its rows, if the first one is its title: then it is not for layout, however few rows it has.
 */
function isLayout(table: PageElement, body?: readonly PageElement[]): boolean {
  const role = table.getAttribute("role") ?? "";
  if (/^(?:presentation|none)$/.test(role)) return true;
  if ((body ?? [table]).some((part) => part.querySelector(LAYOUT) !== null)) return true;
  if (hasLongCode(table)) return true;
  if (body !== undefined || /^(?:table|grid)$/.test(role)) return false;
  if (table.querySelector("th, caption, thead, colgroup") !== null) return false;
  const rows = [...table.querySelectorAll("tr")].filter((row) => textOf(row) !== "");
  const widest = rows.reduce((most, { children }) => Math.max(most, children.length), 0);
  const even = rows.filter(({ children }) => children.length === widest);
  // A cell across the entire table is a title between its rows.
  const isBetween = ([cell, ...others]: PageElement[]): boolean =>
    others.length === 0 && even.length > 1 && Number(cell?.getAttribute("colspan")) >= widest;
  const isUneven = rows.some(
    ({ children }) => children.length > 0 && children.length < widest && !isBetween([...children]),
  );
  return rows.length < 2 || widest < 2 || isUneven;
}

/** Whether a table has code that does not fit into cells: long code, or an example next to its output. */
function hasLongCode(table: PageElement): boolean {
  const blocks = [...table.querySelectorAll("pre, div.fragment")];
  if (blocks.length === 0) return false;
  const least = table.querySelector("th") === null ? 2 : 3;
  return (
    table.querySelectorAll("tr").length < least ||
    blocks.some((pre) => (pre.textContent ?? "").split("\n").length > MAX_CELL_LINES)
  );
}

/** A grid whose first cells are a header (javadoc). */
function gridIn(grid: PageElement): Table | undefined {
  if (!grid.classList.contains("summary-table")) return undefined;
  const cells = [...grid.children];
  const width = cells.findIndex((cell) => !cell.classList.contains("table-header"));
  if (width < 2) return undefined;
  const count = Math.ceil(cells.length / width);
  const rows = Array.from({ length: count }, (_, row) =>
    cells.slice(row * width, (row + 1) * width),
  );
  return { heading: undefined, caption: null, rows };
}
