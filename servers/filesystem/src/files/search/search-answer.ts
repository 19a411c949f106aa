import { sep } from "node:path";
import { grouped, oneLine } from "@refmcp/boundary/answer";
import { counted } from "../wording.ts";
import type { FoundLine } from "./line-extract.ts";
import type { TextFound } from "./search-text.ts";

/**
 * Search results in the form of `rg --heading -n`: a file's path, then its matching lines as `12:text`, context lines
 * as `11-text`, and `--` where lines are omitted. In mode `counts`, the number of lines precedes the path.
 * The last line, in square brackets, is the server's own; since each line of a file begins with its number, no file can
 * imitate it.
 *
 * @param base the directory that relative paths start from; paths below it are shortened.
 */
export function searchAnswer({ files, ...facts }: TextFound, context: number, base = ""): string {
  const start = base.endsWith(sep) ? base : base + sep;
  const parts = files.map(({ path, lines, matches }) => {
    const name = oneLine(path.startsWith(start) ? relativeName(path.slice(start.length)) : path);
    if (matches !== undefined) return `${name}\n${linesOf(matches, context)}\n`;
    return lines === undefined ? `${name}\n` : `${grouped(lines)} ${name}\n`;
  });
  const isShort = base !== "" && files.some(({ path }) => path.startsWith(start));
  const note = isShort ? [`Paths are relative to ${oneLine(base)}.`] : [];
  return `${parts.join("")}[${[...factsOf(facts), ...note].join(" ")}]`;
}

/** Adds `./` to a name that could be mistaken for a numbered line, a line of the server or the home directory. */
function relativeName(path: string): string {
  return /^[\d[~-]/.test(path) ? `.${sep}${path}` : path;
}

function linesOf(matches: readonly FoundLine[], context: number): string {
  const shown: string[] = [];
  let last: number | undefined;
  for (const { line, text, column, before = [], after = [] } of matches) {
    const first = line - before.length;
    if (context > 0 && last !== undefined && first > last + 1) shown.push("--");
    for (const [index, one] of before.entries()) shown.push(`${first + index}-${one}`);
    shown.push(`${line}${column === undefined ? "" : ` (column ${column})`}:${text}`);
    for (const [index, one] of after.entries()) shown.push(`${line + 1 + index}-${one}`);
    last = line + after.length;
  }
  return shown.join("\n");
}

function factsOf({ total_files, total_lines, next_cursor, notes }: Omit<TextFound, "files">): string[] {
  const facts: string[] = [];
  if (total_lines !== undefined && total_files !== undefined) {
    facts.push(`${counted(total_lines, "line")} in ${counted(total_files, "file")}.`);
  }
  if (next_cursor !== undefined) facts.push(`Continue with cursor="${next_cursor}".`);
  else if (facts.length === 0) facts.push("The end.");
  return [...facts, ...(notes ?? [])];
}
