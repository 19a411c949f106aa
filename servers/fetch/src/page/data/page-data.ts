import { counted } from "@refmcp/boundary/answer";
import { type PageDocument, type PageElement, textOf } from "../read/html/document.ts";
import { isLayout } from "../read/html/markdown.ts";
import { statesIn } from "./state.ts";
import { jsonLdIn, plainText, typesOf } from "./things.ts";

const MAX_TABLES = 200;
const MAX_ROWS = 50_000;
const MAX_COLUMNS = 200;

/**
 * A page's data as text, each part under a heading: its JSON-LD, its tables as CSV, and the data of its scripts as JSON.
 *
 * @param chosen only the tables that are, contain or are around these elements
 */
export function dataOf(document: PageDocument, chosen?: readonly PageElement[]): string {
  const parts: string[] = [];
  const add = (title: string, lines: readonly string[]): void => {
    parts.push([`## ${title.replace(/\s+/g, " ").slice(0, 200)}`, ...lines].join("\n"));
  };
  if (chosen === undefined) {
    for (const thing of jsonLdIn(document)) {
      const types = typesOf(thing);
      const name = [thing["name"], thing["headline"]].find((one) => typeof one === "string");
      if (types.length > 0)
        add([types.join(", "), plainText(name ?? "")].filter(Boolean).join(": "), [jsonOf(thing)]);
    }
  }
  for (const [index, table] of tablesIn(document).entries()) {
    const isChosen =
      chosen?.some((one) => one === table || one.contains(table) || table.contains(one)) ?? true;
    if (!isChosen) continue;
    const rows = rowsOf(table);
    const caption = textOf(table.querySelector("caption") ?? { textContent: headingAbove(table) });
    add(
      `Table ${index + 1}${caption && `: ${caption}`} (${counted(rows.length, "row")})`,
      csvOf(rows),
    );
  }
  if (chosen === undefined)
    for (const { name, value } of statesIn(document)) add(name, [jsonOf(value)]);
  return parts.join("\n\n");
}

function jsonOf(value: unknown): string {
  try {
    return JSON.stringify(value);
  } catch {
    return "(nested too deeply)";
  }
}

/** Rows as CSV (RFC 4180), one line each. */
const csvOf = (rows: readonly (readonly string[])[]): string[] =>
  rows.map((row) =>
    row.map((cell) => (/[",]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell)).join(","),
  );

function tablesIn(document: PageDocument): PageElement[] {
  const tables = [...document.querySelectorAll("table")].filter((table) => !isLayout(table));
  return tables.slice(0, MAX_TABLES);
}

/** The rows of a table, with empty cells for spans, so that the others are in their columns. */
function rowsOf(table: PageElement): string[][] {
  /** For how many further rows the cell above covers each column. */
  const covered: number[] = [];
  const rows = [...table.querySelectorAll("tr")].slice(0, MAX_ROWS).map((row) => {
    const cells: string[] = [];
    for (const cell of row.children) {
      while ((covered[cells.length] ?? 0) > 0) cells.push("");
      const [wide = 1, high = 1] = ["colspan", "rowspan"].map(
        (name) => Number(cell.getAttribute(name)) || 1,
      );
      const text = textOf(cell);
      for (let right = 0; right < wide && cells.length < MAX_COLUMNS; right++) {
        covered[cells.length] = high;
        cells.push(right === 0 ? text : "");
      }
    }
    for (const [column, rest] of covered.entries()) covered[column] = Math.max(0, rest - 1);
    return cells;
  });
  return rows.filter((row) => row.some((cell) => cell !== ""));
}

/** The nearest heading before a table, or before an element around it. */
function headingAbove(table: PageElement): string {
  for (let at: PageElement | null = table; at !== null; at = at.parentElement)
    for (
      let before = at.previousElementSibling;
      before !== null;
      before = before.previousElementSibling
    )
      if (/^H[1-6]$/.test(before.tagName)) return textOf(before);
  return "";
}
