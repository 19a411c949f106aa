/** A, B, … Z, AA as 1, 2, … 26, 27. */
export const columnNumber = (letters: string): number =>
  [...letters.toUpperCase()].reduce((number, letter) => number * 26 + letter.charCodeAt(0) - 64, 0);

/** 1, 2, … 26, 27 as A, B, … Z, AA. */
function columnName(number: number): string {
  let name = "";
  for (let rest = number; rest > 0; rest = Math.floor((rest - 1) / 26))
    name = String.fromCharCode(65 + ((rest - 1) % 26)) + name;
  return name;
}

/** Rows with their number and cells, separated by tabs, below the columns' letters. Empty rows are left out. */
export function gridText(rows: readonly (readonly string[])[]): string {
  const filled = rows.filter((row) => row.some((cell) => cell !== ""));
  if (filled.length === 0) return "(empty)";
  const least = (from: number, row: readonly string[]) =>
    Math.min(from, row.findIndex((cell) => cell !== "") + 1);
  const most = (to: number, row: readonly string[]) =>
    Math.max(to, row.findLastIndex((cell) => cell !== "") + 1);
  const [first, last] = [filled.reduce(least, Number.MAX_SAFE_INTEGER), filled.reduce(most, 0)];
  const letters = Array.from({ length: last - first + 1 }, (_, index) => columnName(first + index));
  const lines = [["row", ...letters].join("\t")];
  for (const [index, row] of rows.entries()) {
    const to = row.findLastIndex((cell) => cell !== "") + 1;
    if (to === 0) continue;
    const cells = row.slice(first - 1, to).map((cell) => cell.replace(/\s+/g, " "));
    lines.push([String(index + 1), ...cells].join("\t"));
  }
  return lines.join("\n");
}
