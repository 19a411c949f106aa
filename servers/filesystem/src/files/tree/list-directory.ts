import { readdir } from "node:fs/promises";
import { join } from "node:path";
import {
  type EntryType,
  type GuardedDirectory,
  type PathGuard,
  statOf,
  TimeSlices,
  typeOf,
} from "@refmcp/boundary";
import { grouped, oneLine } from "@refmcp/boundary/answer";
import { counted, failure } from "../errors.ts";
import type { Files } from "../files.ts";
import { orRefused, withDirectory } from "../open-path.ts";
import { type Keyed, keyedPage, keyOf, more } from "./pages.ts";
import { compareText } from "./path-order.ts";

interface ListRequest {
  readonly path: string;
  /** Adds sizes, times and the total size. */
  readonly details: boolean;
  /** `size` and `mtime` put the largest and the newest first. */
  readonly sort: "name" | "size" | "mtime";
  readonly limit: number;
  readonly cursor?: string | undefined;
  readonly budget: number;
  readonly signal?: AbortSignal;
}

interface ListedEntry {
  name: string;
  type: EntryType;
  /** A link's target, as written in the link. */
  target?: string;
  /** Whether a link leads to something inside the allowed directories. */
  target_inside?: boolean;
  size?: number;
  modified?: string;
}

/**
 * Returns a page of a directory's entries; links are not followed. Names may contain anything, even newlines. With
 * `details`, the first page also has the numbers of files and directories, and the total bytes of the files.
 *
 * @throws ToolError as `PathGuard.openDirectory` does, and `invalid` for a cursor of another listing.
 */
export async function listDirectory({ guard }: Pick<Files, "guard">, request: ListRequest) {
  const { details, sort, budget, signal } = request;
  return withDirectory(guard, request.path, async (directory) => {
    const page = keyedPage(
      "list_directory",
      [directory.realPath, sort, details],
      request,
      compareText,
    );
    const isFirst = page.after === undefined;
    const slices = new TimeSlices(signal);
    const sums = { total_files: 0, total_directories: 0, total_size: 0 };
    // All sizes are needed to sort by them, and for the total on the first page.
    const sizes = sort !== "name" || (details && isFirst);
    let total = 0;
    for (const [index, dirent] of (await entriesOf(guard, directory)).entries()) {
      if (index % 64 === 0 && slices.due()) await slices.rest();
      const type = typeOf(dirent);
      const stat = sizes ? statOf(directory.entry(dirent.name)) : undefined;
      if (sizes && stat === undefined) continue;
      total += 1;
      if (type === "directory") sums.total_directories += 1;
      if (type === "file") {
        sums.total_files += 1;
        sums.total_size += stat?.size ?? 0;
      }
      page.add({ path: dirent.name, type, key: keyOf(sort, type, stat) });
    }
    const entries = await described(guard, directory, page.take(), details);
    await directory.verify();
    const { shown, next } = page.cut(entries, budget - directory.path.length);
    const notes = shown.some(({ name }) => name.includes("\uFFFD"))
      ? [
          "Names with \uFFFD contain bytes that are not UTF-8; such entries cannot be opened by name.",
        ]
      : undefined;
    return {
      path: directory.path,
      entries: shown,
      total,
      ...(details && isFirst ? sums : {}),
      ...(next === undefined ? {} : { next_cursor: next }),
      ...(notes === undefined ? {} : { notes }),
    };
  });
}

async function entriesOf({ allowed: { hidden } }: PathGuard, directory: GuardedDirectory) {
  const entries = await readdir(directory.entry(""), { withFileTypes: true }).catch(
    (cause: unknown) => {
      const path = JSON.stringify(directory.path);
      throw failure("unreadable", `The system denied permission to read ${path}.`, { cause });
    },
  );
  return entries.filter(({ name }) => hidden?.hides(join(directory.realPath, name)) !== true);
}

async function described(
  guard: PathGuard,
  directory: GuardedDirectory,
  found: readonly Keyed[],
  details: boolean,
): Promise<ListedEntry[]> {
  const entries: ListedEntry[] = [];
  for (const { path: name, type } of found) {
    const entry: ListedEntry = { name, type };
    if (type === "link") {
      const link = await guard.readLink(join(directory.path, name)).catch(orRefused);
      // Otherwise it is gone or was replaced since it was listed.
      if (link !== undefined)
        Object.assign(entry, { target: link.target, target_inside: link.inside });
    }
    const stat = details ? statOf(directory.entry(name)) : undefined;
    if (stat !== undefined) {
      if (type === "file") entry.size = stat.size;
      entry.modified = stat.mtime.toISOString();
    }
    entries.push(entry);
  }
  return entries;
}

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
export function listAnswer(
  listing: Awaited<ReturnType<typeof listDirectory>>,
  details: boolean,
): string {
  const lines = listing.entries.map(({ name, type, target, target_inside, size, modified }) => {
    const facts = details ? ` ${size ?? "-"} ${modified ?? "-"}` : "";
    const outside = target_inside === false ? " (outside, or missing)" : "";
    const link = target === undefined ? "" : ` -> ${oneLine(target)}${outside}`;
    return `${MARKS[type]}${facts} ${oneLine(name)}${link}\n`;
  });
  const {
    path,
    total,
    total_files: files = 0,
    total_directories: directories = 0,
    total_size: size,
  } = listing;
  const sums =
    size === undefined
      ? ""
      : ` (${counted(files, "file")}, ${counted(directories, "directory", "directories")}, ${grouped(size)} bytes)`;
  const facts = [
    `${counted(total, "entry", "entries")} in ${oneLine(path)}${sums}.`,
    ...more(listing),
  ];
  return `${lines.join("")}[${facts.join(" ")}]`;
}
