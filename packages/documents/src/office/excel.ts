import { strFromU8, strToU8, zipSync } from "fflate";
import readSheets from "read-excel-file/universal";
import { DocumentError, type DocumentPart } from "../document.ts";
import { checkDepth, type Parts } from "../xml.ts";
import { columnNumber } from "./cells.ts";

type Cell = Awaited<ReturnType<typeof readSheets>>[number]["data"][number][number];

/** Of all sheets together, empty ones included: one cell in the last row and column makes a sheet of 17 billion. */
const MAX_CELLS = 10_000_000;

/** The sheets of a workbook. read-excel-file gets an archive built from the checked parts. */
export async function excelSheets(parts: Parts): Promise<DocumentPart[]> {
  let cells = 0;
  const sizedParts = Object.entries(parts).map(([name, part]) => {
    if (!name.startsWith("xl/")) return [name, part];
    const xml = strFromU8(part);
    checkDepth(xml);
    if (!name.startsWith("xl/worksheets/")) return [name, part];
    cells += extentOf(xml);
    if (cells > MAX_CELLS)
      throw new DocumentError(`its sheets span more than ${MAX_CELLS / 1_000_000} million cells`);
    return [name, strToU8(withShownCells(xml))];
  });
  const archive = zipSync(Object.fromEntries(sizedParts), { level: 0 });
  const sheets = await readSheets(new Blob([Buffer.from(archive)]));
  // Unlike its type, a chart sheet has no data.
  return sheets.map(({ sheet, data }) => ({
    name: sheet,
    rows: (data ?? []).map((row) => row.map(cellText)),
  }));
}

/** Formulas whose value is not cached become text, and errors as well, which the library would rename. */
const withShownCells = (xml: string): string =>
  xml
    .replace(
      /<c(\s[^<>]*)>\s*<f[^<>]*>([^<]*)<\/f>\s*(?:<v\s*\/>|<v><\/v>)?\s*<\/c>/g,
      (_, attributes: string, formula: string) =>
        `<c${attributes.replace(/\st="\w*"/, "")} t="str"><v>=${formula}</v></c>`,
    )
    .replace(/<c\s[^<>]*>/g, (cell) => cell.replace(/\st="e"/, ' t="str"'));

/** Rows times columns that the cells of a sheet span. */
function extentOf(xml: string): number {
  let rows = 0;
  let columns = 0;
  for (const [, letters = "", digits] of xml.matchAll(
    /<(?:\w+:)?c\s[^<>]*?\br="([A-Z]{1,3})(\d{1,7})"/g,
  )) {
    rows = Math.max(rows, Number(digits));
    columns = Math.max(columns, columnNumber(letters));
  }
  return rows * columns;
}

/** A cell as shown to a reader; a date without its time if that is zero. */
function cellText(cell: Cell): string {
  if (!(cell instanceof Date)) return cell === null ? "" : String(cell);
  const time = cell.toISOString().replace(/T00:00:00\.000Z$|\.000Z$/, "");
  return time.replace("T", " ");
}
