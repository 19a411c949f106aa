// The comparison in the README: figures from docs/benchmarks.md, each against the peer that was measured in the same run.
import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { ROOT } from "../lib/setup.mjs";
import { factsOf } from "./compatibility.mjs";
import { aligned } from "./markdown.mjs";

/**
 * The rows of the comparison: the description; the table's heading in the benchmarks; row and column of our figure, then of the
 * peer's (names may be shortened); the peer; the unit; whether less or more is better.
 */
const FIGURES = `
Start, to the first answer (filesystem) | Spawn to first answer | filesystem | median ms | official filesystem | median ms | official filesystem | ms | less
Find names in 100,000 files | 100,000 files | search_files, ours, all files | median ms | search_files, official | median ms | official filesystem | ms | less
Read the first 10 lines of a large file | Files over stdio | first 10 lines of 100 MB | ours ms | first 10 lines of 100 MB | official ms | official filesystem | ms | less
Search file contents | 100,000 files | search_text, ours, all files | median ms | content search, ripgrep alone, all files | median ms | ripgrep | ms | less
Show a commit log of 50 entries | Milliseconds, minimum (median) | log, 50 commits | ours | log, 50 commits | peer | @cyanheads/git-mcp-server | ms | less
Remember one more thing among 50,000 | 50,000 entities | create one entity, ms | here | create one entity, ms | official | official memory | ms | less
Answer questions about 300 remembered facts | Answer within the first five | 300 facts, as a person asks (120) | here | 300 facts, as a person asks (120) | official | official memory | of 120 | more
Extract the text of Readability's 41 test pages, which we developed with (F1) | Readability's test pages | here | F1 | readability | F1 | readability | | more
The same, against a second extractor | Readability's test pages | here | F1 | defuddle | F1 | defuddle | | more
SQLite: one value | Milliseconds a call (minimum / median) | select 1 | ours, over stdio | select 1 | DBHub | DBHub | ms | less
SQLite: one value, 32 calls at once | Milliseconds a call (minimum / median) | 32 in flight | ours, over stdio | 32 in flight | DBHub | DBHub | ms | less
SQLite: 1,000 rows | Milliseconds a call (minimum / median) | 1,000 rows | ours, over stdio | 1,000 rows | DBHub | DBHub | ms | less
PostgreSQL: one value | Milliseconds a call (minimum / median), and | select 1 | ours, over stdio | select 1 | official | official postgres | ms | less
PostgreSQL: 1,000 rows | Milliseconds a call (minimum / median), and | 1,000 rows | ours, over stdio | 1,000 rows | official | official postgres | ms | less
Test a page: what the model has to read | Milliseconds, bytes to the model | bytes of answers for one verdict | ours | bytes of answers for one verdict | @playwright/mcp | @playwright/mcp | bytes | less
Test another page in the same browser | Milliseconds, bytes to the model | a further verdict | ours | a further verdict | @playwright/mcp | @playwright/mcp | ms | less
`;

/**
 * The table; each row says who is better.
 *
 * @throws {Error} if the benchmarks no longer have a figure
 */
export async function comparisonPart() {
  const file = join(ROOT, "docs", "benchmarks.md");
  if (!existsSync(file)) return "";
  const page = await readFile(file, "utf8");
  const rows = [];
  for (const line of FIGURES.trim().split("\n")) {
    const cells = line.split("|").map((cell) => cell.trim());
    const [work = "", heading = "", row = "", column = "", theirRow = "", theirColumn = ""] = cells;
    const [peer = "", unit = "", better = ""] = cells.slice(6);
    const section = from(page, heading);
    const mine = figure(section, row, column, better);
    const other = figure(section, theirRow, theirColumn, better);
    /** @param {number} value */
    const shown = (value) => `${value.toLocaleString("en-US")} ${unit}`.trim();
    const verdict = (better === "more") === mine > other ? "better" : "**worse**";
    rows.push([
      work,
      shown(mine),
      shown(other),
      await titleOf(peer, section),
      mine === other ? "equal" : verdict,
    ]);
  }
  const [, date, machine] = /Last run: ([^,]+), (.*)\.$/m.exec(page) ?? [];
  return `${aligned(["Work", "Here", "There", "Measured against", "Here is"], rows)}\n\nMedians; in each row both were measured in turn in one run. Last run: ${date}, ${machine}.`;
}

/**
 * The peer with its version: the official server of a kind, or a name in the section.
 *
 * @param {string} peer @param {string} section
 */
async function titleOf(peer, section) {
  const [, name] = /^official (\w+)$/.exec(peer) ?? [];
  if (name !== undefined) return `${peer} server ${(await factsOf({ name }))?.version}`;
  const version = new RegExp(`${peer.replaceAll(/[.+?^$()\\]/g, "\\$&")} (\\d[\\w.]*\\d)`).exec(
    section,
  )?.[1];
  return version === undefined ? peer : `${peer} ${version}`;
}

/**
 * The page from a heading on. An exact heading is preferred over one that only begins with the text.
 *
 * @type {(page: string, heading: string) => string}
 */
function from(page, heading) {
  const exact = page.indexOf(`\n### ${heading}\n`);
  const start = exact < 0 ? page.indexOf(`\n### ${heading}`) : exact;
  if (start < 0)
    throw new Error(`docs/benchmarks.md has no section "${heading}", which the README compares.`);
  return page.slice(start);
}

/**
 * One figure of a section's first table. If a cell has several, the last is the median; if more is better, the first counts.
 *
 * @type {(section: string, row: string, column: string, better: string) => number}
 */
function figure(section, row, column, better) {
  const [columns = [], , ...rows] = (/(^\|.*\n)+/m.exec(section)?.[0] ?? "")
    .trim()
    .split("\n")
    .map((line) =>
      line
        .split(/(?<!\\)\|/)
        .slice(1, -1)
        .map((cell) => cell.trim()),
    );
  const at = columns.findIndex((name) => name.startsWith(column));
  const cell = rows.find(([name]) => name?.startsWith(row))?.[at];
  const figures = cell?.split(/ \/ | \(/) ?? [];
  const text = (better === "more" ? figures[0] : figures.at(-1)) ?? "";
  const value = Number.parseFloat(text.replaceAll(",", ""));
  if (Number.isNaN(value))
    throw new Error(`docs/benchmarks.md has no figure in row "${row}", column "${column}".`);
  return value;
}
