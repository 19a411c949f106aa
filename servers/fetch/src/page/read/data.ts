/** What programs read from a page: its JSON-LD, its tables as CSV, and the JSON in its scripts, each part under a heading. */
import { counted } from "@refmcp/boundary/answer";
import { isHeading, type PageDocument, type PageElement, textOf } from "../content/document.ts";
import { type Table, tableIn } from "../write/table.ts";
import { jsonLdIn, plainText, typesOf } from "./json-ld.ts";

const MAX_TABLES = 200;
const MAX_SCRIPTS = 20;

/**
 * A page's data as text.
 *
 * @param chosen only the tables that are, contain or are around these elements
 */
export function dataOf(document: PageDocument, chosen?: readonly PageElement[]): string {
  const tables = [...document.querySelectorAll("table")]
    .flatMap((element) => {
      const table = tableIn(element);
      return table === undefined ? [] : [{ element, table }];
    })
    .slice(0, MAX_TABLES)
    .map(({ element, table }, index) => ({ element, text: tableText(element, table, index) }));
  if (chosen !== undefined) {
    const isChosen = (element: PageElement): boolean =>
      chosen.some((part) => part.contains(element) || element.contains(part));
    return joined(tables.filter(({ element }) => isChosen(element)).map(({ text }) => text));
  }
  const things = jsonLdIn(document).flatMap((thing) => {
    const types = typesOf(thing).join(", ");
    const name = [thing["name"], thing["headline"]].find((text) => typeof text === "string");
    const title = [types, plainText(name ?? "")].filter(Boolean).join(": ");
    return types === "" ? [] : [partOf(title, [jsonOf(thing)])];
  });
  const scripts = jsonScriptsIn(document.querySelectorAll("script")).map(({ name, value }) =>
    partOf(name, [jsonOf(value)]),
  );
  return joined([...things, ...tables.map(({ text }) => text), ...scripts]);
}

const joined = (parts: readonly string[]): string => parts.join("\n\n");
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
function tableText(element: PageElement, { caption, heading, rows }: Table, index: number): string {
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

/** The JSON that scripts have as their content, such as `__NEXT_DATA__`. Nothing is executed. */
export function jsonScriptsIn(scripts: Iterable<PageElement>): { name: string; value: object }[] {
  const states = [...scripts].flatMap((script) => {
    if (!/^application\/json\b/.test(script.getAttribute("type") ?? "")) return [];
    const name = script.id || script.getAttribute("data-target") || "application/json";
    try {
      const value: unknown = JSON.parse(script.textContent ?? "");
      return typeof value === "object" && value !== null ? [{ name, value: propsOf(value) }] : [];
    } catch {
      return [];
    }
  });
  return states.slice(0, MAX_SCRIPTS);
}

/** Next.js has a page's data among settings. */
function propsOf(value: object): object {
  const props: unknown = "props" in value && "buildId" in value ? value.props : undefined;
  const isPage = typeof props === "object" && props !== null && "pageProps" in props;
  const own = isPage ? props.pageProps : undefined;
  return typeof own === "object" && own !== null ? own : value;
}
