import { zipSync } from "fflate";
import readSheets from "read-excel-file/universal";
import { escaped, type Parts, tableOf } from "./parts.ts";

type Cell = Awaited<ReturnType<typeof readSheets>>[number]["data"][number][number];

/**
 * Converts a workbook to HTML: a heading for each sheet and a table for each block of rows. read-excel-file gets an
 * archive built from the checked parts.
 */
export async function excelHtml(parts: Parts): Promise<string> {
  const sheets = await readSheets(new Blob([Buffer.from(zipSync(parts, { level: 0 }))]));
  // Unlike its type, a chart sheet has no data.
  const tables = sheets.map(({ sheet, data }) => [
    `<h2>${escaped(sheet)}</h2>`,
    ...blocksOf(data ?? []).map(tableOf),
  ]);
  return tables.flat().join("");
}

/** Blocks separated by empty rows, without outer empty columns. */
function blocksOf(rows: readonly (readonly Cell[])[]): string[][][] {
  const blocks: string[][][] = [];
  for (let at = 0; at < rows.length; at++) {
    const from = at;
    let left = Number.MAX_SAFE_INTEGER;
    let right = 0;
    for (let row = rows[at]; row?.some((cell) => cell !== null); row = rows[++at]) {
      const first = row.findIndex((cell) => cell !== null);
      left = Math.min(left, first);
      right = Math.max(right, row.findLastIndex((cell) => cell !== null) + 1);
    }
    const block = rows.slice(from, at);
    if (at > from)
      blocks.push(block.map((row) => row.slice(left, right).map((cell) => escaped(shown(cell)))));
  }
  return blocks;
}

/** A cell as shown to a reader; a date without its time if that is zero. */
function shown(cell: Cell): string {
  if (!(cell instanceof Date)) return cell === null ? "" : String(cell);
  const time = cell.toISOString().replace(/T00:00:00\.000Z$|\.000Z$/, "");
  return time.replace("T", " ");
}
