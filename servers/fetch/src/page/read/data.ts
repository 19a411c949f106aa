/** What programs read from a page: its JSON-LD, and its tables as CSV, each part under a heading. */
import { counted } from "@refmcp/boundary/answer";
import { isHeading, type PageDocument, type PageElement, textOf } from "../content/document.ts";
import { type Table, tableIn } from "../write/table.ts";
import { jsonLdIn, typesOf } from "./json-ld.ts";
import { plainText } from "./strip-tags.ts";

const MAX_TABLES = 200;

/**
 * A page's data as text.
 *
 * @param chosen only the tables that are, contain or are around these elements
 */
export function dataOf(document: PageDocument, chosen?: readonly PageElement[]): string {
  const tables = [...document.querySelectorAll("table")]
    .map((element) => ({ element, table: tableIn(element) }))
    .filter(({ table }) => table !== undefined)
    .slice(0, MAX_TABLES)
    .map(({ element, table }, index) => ({ element, text: tableText(element, table, index) }));
  const isChosen = ({ element }: { element: PageElement }): boolean =>
    chosen?.some((part) => part.contains(element) || element.contains(part)) ?? true;
  const things = chosen === undefined ? jsonLdIn(document) : [];
  const parts = things.flatMap((thing) => {
    const types = typesOf(thing).join(", ");
    const name = [thing["name"], thing["headline"]].find((text) => typeof text === "string");
    const title = [types, plainText(name ?? "")].filter(Boolean).join(": ");
    return types === "" ? [] : [partOf(title, [jsonOf(thing)])];
  });
  return [...parts, ...tables.filter(isChosen).map(({ text }) => text)].join("\n\n");
}

const partOf = (title: string, lines: readonly string[]): string =>
  [`## ${title.replace(/\s+/g, " ").slice(0, 200)}`, ...lines].join("\n");

function jsonOf(value: unknown): string {
  try {
    return JSON.stringify(value);
  } catch {
    return "(nested too deeply)";
  }
}

/** A table as CSV (RFC 4180) under its caption, or the nearest heading before it. */
function tableText(element: PageElement, table: Table | undefined, index: number): string {
  const { caption = null, heading, rows = [] } = table ?? {};
  const title = textOf(caption ?? heading ?? headingAbove(element) ?? { textContent: "" });
  const lines = rows.map((row) =>
    row
      .map((cell) => (cell === undefined ? "" : textOf(cell)))
      .map((cell) => (/[",]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell))
      .join(","),
  );
  const about = `Table ${index + 1}${title && `: ${title}`} (${counted(rows.length, "row")})`;
  return partOf(about, lines);
}

function headingAbove(table: PageElement): PageElement | undefined {
  for (let at: PageElement | null = table; at !== null; at = at.parentElement)
    for (let last = at.previousElementSibling; last !== null; last = last.previousElementSibling)
      if (isHeading(last)) return last;
  return undefined;
}
