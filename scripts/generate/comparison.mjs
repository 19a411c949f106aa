// The comparison in the README: figures from docs/benchmarks.md, each against the peer that was measured in the same run.
import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { ROOT } from "../lib/setup.mjs";
import { factsOf } from "./compatibility.mjs";
import { aligned } from "./markdown.mjs";

const OFFICIAL = "official";

/** What is compared: the table's heading (or how it begins), then row and column of our figure and of the peer's. */
const FIGURES = [
  {
    work: "Start, to the first answer (filesystem)",
    section: "Spawn to first answer",
    ours: ["filesystem", "median ms"],
    theirs: ["official filesystem", "median ms"],
    peer: [OFFICIAL, "filesystem"],
    unit: "ms",
  },
  {
    work: "Find names in 100,000 files",
    section: "100,000 files",
    ours: ["search_files, ours, all files", "median ms"],
    theirs: ["search_files, official", "median ms"],
    peer: [OFFICIAL, "filesystem"],
    unit: "ms",
  },
  {
    work: "Read the first 10 lines of a large file",
    section: "Files over stdio",
    ours: ["first 10 lines of 100 MB", "ours ms"],
    theirs: ["first 10 lines of 100 MB", "official ms"],
    peer: [OFFICIAL, "filesystem"],
    unit: "ms",
  },
  {
    work: "Search file contents",
    section: "100,000 files",
    ours: ["search_text, ours, all files", "median ms"],
    theirs: ["content search, ripgrep alone, all files", "median ms"],
    peer: ["ripgrep, without a server"],
    unit: "ms",
  },
  {
    work: "Show a commit log of 50 entries",
    section: "Milliseconds, minimum (median)",
    ours: ["log, 50 commits", "ours"],
    theirs: ["log, 50 commits", "peer"],
    peer: ["@cyanheads/git-mcp-server"],
    unit: "ms",
  },
  {
    work: "Remember one more thing among 50,000",
    section: "50,000 entities",
    ours: ["create one entity, ms", "here"],
    theirs: ["create one entity, ms", "official"],
    peer: [OFFICIAL, "memory"],
    unit: "ms",
  },
  {
    work: "Answer questions about 300 remembered facts",
    section: "Answer within the first five",
    ours: ["300 facts, as a person asks (120)", "here", 0],
    theirs: ["300 facts, as a person asks (120)", "official", 0],
    peer: [OFFICIAL, "memory"],
    unit: "of 120",
    more: true,
  },
  {
    work: "Extract the text of 41 web pages (F1)",
    section: "Readability's test pages",
    ours: ["here", "F1"],
    theirs: ["readability", "F1"],
    peer: ["readability"],
    unit: "",
    more: true,
  },
  {
    work: "The same, against a second extractor",
    section: "Readability's test pages",
    ours: ["here", "F1"],
    theirs: ["defuddle", "F1"],
    peer: ["defuddle"],
    unit: "",
    more: true,
  },
  {
    work: "SQLite: one value",
    section: "Milliseconds a call (minimum / median)\n",
    ours: ["select 1", "ours, over stdio"],
    theirs: ["select 1", "DBHub"],
    peer: ["DBHub"],
    unit: "ms",
  },
  {
    work: "PostgreSQL: one value",
    section: "Milliseconds a call (minimum / median), and resident memory",
    ours: ["select 1", "ours, over stdio"],
    theirs: ["select 1", "official"],
    peer: [OFFICIAL, "postgres"],
    unit: "ms",
  },
  {
    work: "PostgreSQL: 1,000 rows",
    section: "Milliseconds a call (minimum / median), and resident memory",
    ours: ["1,000 rows", "ours, over stdio"],
    theirs: ["1,000 rows", "official"],
    peer: [OFFICIAL, "postgres"],
    unit: "ms",
  },
  {
    work: "Test a page: what the model has to read",
    section: "Milliseconds, bytes to the model",
    ours: ["bytes of answers for one verdict", "ours"],
    theirs: ["bytes of answers for one verdict", "@playwright/mcp"],
    peer: ["@playwright/mcp"],
    unit: "bytes",
  },
  {
    work: "Test another page in the same browser",
    section: "Milliseconds, bytes to the model",
    ours: ["a further verdict", "ours"],
    theirs: ["a further verdict", "@playwright/mcp"],
    peer: ["@playwright/mcp"],
    unit: "ms",
  },
];

/**
 * The table; each row says who is better.
 *
 * @throws {Error} where the benchmarks no longer have a figure
 */
export async function comparisonPart() {
  const file = join(ROOT, "docs", "benchmarks.md");
  if (!existsSync(file)) return "";
  const page = await readFile(file, "utf8");
  const rows = [];
  for (const { work, section, ours, theirs, peer, unit, more = false } of FIGURES) {
    const cells = tableUnder(page, section);
    const [mine, other] = [ours, theirs].map((where) => figure(cells, where, work));
    const shown = (value) => `${value.toLocaleString("en-US")} ${unit}`.trim();
    const verdict = more === mine > other ? "better" : "**worse**";
    rows.push([
      work,
      shown(mine),
      shown(other),
      await titleOf(peer, from(page, section)),
      mine === other ? "equal" : verdict,
    ]);
  }
  const [, date, machine] = /Last run: ([^,]+), (.*)\.$/m.exec(page) ?? [];
  return `${aligned(["Work", "Here", "There", "Measured against", "Here is"], rows)}\n\nMedians of runs in which both took turns, on ${date} (${machine}).`;
}

/** The peer with its version: a name as the benchmarks write it, or the official server of a kind. */
async function titleOf([name, server], text) {
  if (name === OFFICIAL) return `official ${server} server ${(await factsOf({ name: server })).version}`;
  const version = new RegExp(`${name.replaceAll(/[.*+?^$()[\]{}|\\/]/g, "\\$&")} (\\d[\\w.]*\\d)`).exec(
    text,
  )?.[1];
  return version === undefined ? name : `${name} ${version}`;
}

/** The page from a heading on. */
function from(page, heading) {
  const start = page.indexOf(`\n### ${heading}`);
  if (start < 0)
    throw new Error(`docs/benchmarks.md has no section "${heading}", which the README compares.`);
  return page.slice(start);
}

/** The cells of the first table below a heading. */
function tableUnder(page, heading) {
  const rows =
    from(page, heading)
      .match(/(^\|.*\n)+/m)?.[0]
      .trim()
      .split("\n") ?? [];
  return rows.map((row) =>
    row
      .split(/(?<!\\)\|/)
      .slice(1, -1)
      .map((cell) => cell.trim()),
  );
}

/** One figure: by the start of its row's and its column's name; of several in a cell, the last is the median. */
function figure([columns, , ...rows], [row, column, index = -1], work) {
  const at = columns.findIndex((name) => name.startsWith(column));
  const cell = rows.find(([name]) => name.startsWith(row))?.[at];
  const value = Number(
    cell
      ?.split(/ \/ | \(/)
      .at(index)
      ?.replaceAll(/[,)]| ?(ms|MB|kB|B)$/g, ""),
  );
  if (Number.isNaN(value))
    throw new Error(`docs/benchmarks.md has no figure for "${work}": row ${row}, column ${column}.`);
  return value;
}
