import { grouped, oneLine } from "@refmcp/boundary/answer";
import { counted } from "../wording.ts";
import type { Listing } from "./list-directory.ts";
import type { EntryType } from "./open-below.ts";
import type { NamesFound } from "./search-names.ts";

/** The official server's marks, and ours for types that it does not distinguish. */
const MARKS: Readonly<Record<EntryType, string>> = {
  directory: "[DIR]",
  file: "[FILE]",
  link: "[LINK]",
  other: "[OTHER]",
};

/**
 * One entry per line: its mark, with `details` its size and modification time, its name, and a link's target. The last
 * line, in square brackets, is the server's own; no name can imitate it, since each follows a mark.
 */
export function listAnswer(listing: Listing, details: boolean): string {
  const lines = listing.entries.map(({ name, type, target, target_inside, size, modified }) => {
    const facts = details ? ` ${size === undefined ? "-" : size} ${modified ?? "-"}` : "";
    const outside = target_inside === false ? " (outside, or missing)" : "";
    const link = target === undefined ? "" : ` -> ${oneLine(target)}${outside}`;
    return `${MARKS[type]}${facts} ${oneLine(name)}${link}\n`;
  });
  const { total, total_files: files, total_directories: directories, total_size: size } = listing;
  const sums =
    size === undefined
      ? ""
      : ` (${counted(files ?? 0, "file")}, ${counted(directories ?? 0, "directory", "directories")}, ${grouped(size)} bytes)`;
  const facts = [`${counted(total, "entry", "entries")} in ${oneLine(listing.path)}${sums}.`];
  return `${lines.join("")}[${[...facts, ...more(listing)].join(" ")}]`;
}

/**
 * One path per line, preceded by the time or size if sorted by it; directories have a trailing slash. The last line, in
 * square brackets, is the server's own.
 */
export function namesAnswer(found: NamesFound): string {
  const lines = found.matches.map(({ path, type, size, modified }) => {
    const key = modified ?? (size === undefined ? "" : String(size));
    return `${key === "" ? "" : `${key} `}${oneLine(path)}${type === "directory" ? "/" : ""}\n`;
  });
  const facts = found.total === undefined ? [] : [`${counted(found.total, "match", "matches")}.`];
  const all = [...facts, ...more(found)];
  return `${lines.join("")}[${all.length === 0 ? "The end." : all.join(" ")}]`;
}

function more({ next_cursor, notes = [] }: { next_cursor?: string; notes?: readonly string[] }): string[] {
  return [...(next_cursor === undefined ? [] : [`Continue with cursor="${next_cursor}".`]), ...notes];
}
