import type { Stats } from "node:fs";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import type { GuardedDirectory, PathGuard } from "@refmcp/boundary";
import { cursorsOf, fitting, ToolError } from "@refmcp/boundary/answer";
import * as z from "zod";
import { orRefused, withDirectory } from "../open-path.ts";
import { type EntryType, statOf, typeOf } from "./open-below.ts";
import { compareText, TopItems } from "./path-order.ts";
import { TimeSlices } from "./time-slices.ts";

export interface ListRequest {
  readonly path: string;
  /** Adds sizes, times and the total size. */
  readonly details: boolean;
  /** `size` and `mtime` put the largest and the newest first. */
  readonly sort: "name" | "size" | "mtime";
  readonly limit: number;
  readonly cursor?: string | undefined;
  /** Maximum characters of the answer. */
  readonly budget: number;
  readonly signal?: AbortSignal;
}

export interface ListedEntry {
  name: string;
  type: EntryType;
  /** A link's target, as written in the link. */
  target?: string;
  /** Whether a link leads to something inside the allowed directories. */
  target_inside?: boolean;
  /** Bytes, of files. */
  size?: number;
  /** Last change, ISO 8601. */
  modified?: string;
}

export interface Listing {
  path: string;
  entries: ListedEntry[];
  /** The number of entries in the directory. */
  total: number;
  /** With `details`, on the first page: the numbers of files and directories, and the total bytes of the files. */
  total_files?: number;
  total_directories?: number;
  total_size?: number;
  next_cursor?: string;
  notes?: string[];
}

interface Found {
  readonly name: string;
  readonly type: EntryType;
  /** The sort key, descending; 0 if sorted by name. */
  readonly key: number;
}

const position = z.tuple([z.number(), z.string()]);

/** Characters of an answer reserved for text other than its entries. */
const FRAME = 1_000;

/**
 * Returns a page of a directory's entries; links are not followed. Names may contain anything, even newlines.
 *
 * @throws ToolError as `PathGuard.openDirectory` does, and `invalid` for a cursor of another listing.
 */
export async function listDirectory(guard: PathGuard, request: ListRequest): Promise<Listing> {
  return withDirectory(guard, request.path, async (directory) => {
    const cursors = cursorsOf(
      "list_directory",
      [directory.realPath, request.sort, request.details],
      position,
    );
    const after = cursors.decode(request.cursor);
    const seen = await look(directory, request, after);
    const entries = await describe(guard, directory, seen.top.slice(0, request.limit), request);
    await directory.verify();
    const shown = entries.slice(0, fitting(entries, request.budget - FRAME - directory.path.length));
    const last = seen.top[shown.length - 1];
    const notes = notesOn(shown);
    return {
      path: directory.path,
      entries: shown,
      total: seen.total,
      ...(request.details && after === undefined ? seen.sums : {}),
      ...(last !== undefined && seen.top.length > shown.length
        ? { next_cursor: cursors.encode([last.key, last.name]) }
        : {}),
      ...(notes.length > 0 ? { notes } : {}),
    };
  });
}

async function look(directory: GuardedDirectory, request: ListRequest, after: [number, string] | undefined) {
  const all = await entriesOf(directory);
  const slices = new TimeSlices(request.signal);
  const top = new TopItems<Found>(request.limit + 1, compareFound);
  const sums = { total_files: 0, total_directories: 0, total_size: 0 };
  // All sizes are needed to sort by them, and for the total on the first page.
  const sizes = request.sort !== "name" || (request.details && after === undefined);
  let total = 0;
  for (const [index, dirent] of all.entries()) {
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
    const found = { name: dirent.name, type, key: keyOf(request.sort, type, stat) };
    if (after === undefined || compareFound(found, { key: after[0], name: after[1] }) > 0) top.add(found);
  }
  return { total, sums, top: top.take() };
}

function keyOf(sort: ListRequest["sort"], type: EntryType, stat: Stats | undefined): number {
  if (sort === "mtime") return stat?.mtimeMs ?? 0;
  // A directory's own size is meaningless, so directories come last.
  if (sort === "size") return type === "file" ? (stat?.size ?? 0) : -1;
  return 0;
}

function compareFound(a: Pick<Found, "key" | "name">, b: Pick<Found, "key" | "name">): number {
  return b.key - a.key || compareText(a.name, b.name);
}

async function entriesOf(directory: GuardedDirectory) {
  try {
    return await readdir(directory.entry(""), { withFileTypes: true });
  } catch (error) {
    throw new ToolError("denied", `The system denied permission to read ${JSON.stringify(directory.path)}.`, {
      hint: "Ask the user to change its permissions, or list another directory.",
      cause: error,
    });
  }
}

async function describe(
  guard: PathGuard,
  directory: GuardedDirectory,
  found: readonly Found[],
  { details }: ListRequest,
): Promise<ListedEntry[]> {
  const entries: ListedEntry[] = [];
  for (const { name, type } of found) {
    const entry: ListedEntry = { name, type };
    if (type === "link") {
      const link = await guard.readLink(join(directory.path, name)).catch(orRefused);
      // Otherwise it is gone or was replaced since it was listed.
      if (link !== undefined) Object.assign(entry, { target: link.target, target_inside: link.inside });
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

function notesOn(entries: readonly ListedEntry[]): string[] {
  return entries.some(({ name }) => name.includes("\uFFFD"))
    ? ["Names with \uFFFD contain bytes that are not UTF-8; such entries cannot be opened by name."]
    : [];
}
