import type { Stats } from "node:fs";
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
import { clip, cursorsOf, fitting, grouped, oneLine } from "@refmcp/boundary/answer";
import * as z from "zod";
import { counted, failure } from "../errors.ts";
import type { Files } from "../files.ts";
import { orRefused, withDirectory } from "../open-path.ts";
import { compileExclusion, compileGlob } from "../search/glob.ts";
import { ignoreRules } from "../search/ignore.ts";
import { comparePaths, compareText, TopItems } from "./path-order.ts";
import { type Report, reporter } from "./reporter.ts";
import { type Met, walk } from "./walk.ts";

/** An entry of a listing; `key` is its sort key, descending, and 0 if sorted by path. */
interface Keyed {
  readonly path: string;
  readonly type: EntryType;
  readonly key: number;
}

/** The key of an entry; a directory's own size is meaningless, so directories come last. */
function keyOf(sort: string, type: EntryType, stat: Stats | undefined): number {
  if (sort === "oldest") return -(stat?.mtimeMs ?? 0);
  if (sort === "mtime") return stat?.mtimeMs ?? 0;
  if (sort === "size") return type === "file" ? (stat?.size ?? 0) : -1;
  return 0;
}

const position = z.tuple([z.number(), z.string()]);
/** Characters of a page reserved for text other than its entries and cursor. */
const FRAME = 1_000;

/**
 * Collects a page of a sorted listing, which continues after its cursor.
 *
 * @param query everything that determines the listing, for the cursor.
 * @throws ToolError `invalid` for a cursor of another listing.
 */
function keyedPage(
  tool: string,
  query: unknown,
  { limit, cursor }: { limit: number; cursor?: string | undefined },
  comparePath: (a: string, b: string) => number,
) {
  const compare = (a: Omit<Keyed, "type">, b: Omit<Keyed, "type">) =>
    b.key - a.key || comparePath(a.path, b.path);
  const cursors = cursorsOf(tool, query, position);
  const decoded = cursors.decode(cursor);
  const after = decoded && { key: decoded[0], path: decoded[1] };
  const top = new TopItems<Keyed>(limit + 1, compare);
  return {
    after,
    add(entry: Keyed): void {
      if (after === undefined || compare(entry, after) > 0) top.add(entry);
    },
    take: () => top.take().slice(0, limit),
    /** As many of the described entries as fit, and the cursor of the next page, if there is one. */
    cut<Described>(described: readonly Described[], budget: number) {
      const all = top.take();
      const shown = described.slice(0, fitting(described, budget - FRAME));
      const last = all[shown.length - 1];
      const isLast = last === undefined || all.length <= shown.length;
      return { shown, next: isLast ? undefined : cursors.encode([last.key, last.path]) };
    },
    cursorAt: (path: string) => cursors.encode([0, path]),
  };
}

export interface ListRequest {
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

/** How an answer with pages ends. */
function more(page: { next_cursor?: string | undefined; notes?: readonly string[] | undefined }) {
  const { next_cursor, notes = [] } = page;
  return [
    ...(next_cursor === undefined ? [] : [`Continue with cursor="${next_cursor}".`]),
    ...notes,
  ];
}

interface NameSearch {
  readonly path: string;
  readonly pattern: string;
  readonly excludePatterns: readonly string[];
  readonly type: "file" | "directory" | "any";
  /** Shows what ignore rules hide; `.git` stays hidden. */
  readonly include_ignored: boolean;
  /** `mtime` and `size` put the newest and the largest first, `oldest` the oldest. */
  readonly sort: "path" | "mtime" | "oldest" | "size";
  readonly limit: number;
  readonly cursor?: string | undefined;
  readonly budget: number;
  readonly budgetMs?: number;
  readonly signal?: AbortSignal;
  /** Gets the number of entries that were visited. */
  readonly progress?: Report;
}

const BUDGET_MS = 20_000;

/**
 * Finds files and directories below `path` whose name or path matches a glob, in pages. Links are included, not
 * followed.
 *
 * @returns on the first page also the `total` of all matches, if the search finished, and how many entries are `hidden`
 * by ignore rules, where a hidden directory counts once. A match has the `size` or time that it is sorted by.
 * @throws ToolError `invalid` for a glob or cursor that cannot be used, `timeout` if a search that needs all results
 * first (sorted by time or size) took too long.
 */
export async function searchNames(
  { guard, ignored }: Pick<Files, "guard" | "ignored">,
  request: NameSearch,
) {
  const {
    pattern,
    type: wanted,
    include_ignored,
    sort,
    limit,
    signal,
    budgetMs = BUDGET_MS,
  } = request;
  const glob = compileGlob(pattern);
  const exclude = compileExclusion(request.excludePatterns);
  const byPath = sort === "path";
  return withDirectory(guard, request.path, async (root) => {
    const query = [root.realPath, pattern, request.excludePatterns, wanted, include_ignored, sort];
    const page = keyedPage("search_files", query, request, comparePaths);
    const isFirst = page.after === undefined;
    let total = 0;
    let links = 0;
    const done = reporter(request.progress);
    const visit = ({ path, name, type, parent }: Met): "stop" | undefined => {
      done(1);
      if (wanted !== "any" && type !== wanted && type !== "link") return undefined;
      if (!glob.matches(path, name, type === "directory")) return undefined;
      if (wanted !== "any" && type === "link") {
        links += 1;
        return undefined;
      }
      const stat = byPath ? undefined : statOf(parent.entry(name));
      if (stat === undefined && !byPath) return undefined;
      total += 1;
      page.add({ path, type, key: keyOf(sort, type, stat) });
      // The first page counts everything; later ones stop when full.
      return !isFirst && byPath && total > limit ? "stop" : undefined;
    };
    const ignore = include_ignored ? undefined : await ignoreRules(guard, root, ignored);
    const after = byPath ? page.after?.path : undefined;
    const report = await walk(guard, root, { signal, budgetMs, exclude, ignore, after }, visit);
    await root.verify();
    const isLate = report.ended === "late";
    if (isLate && !byPath) {
      const message = `The search did not finish within ${budgetMs / 1000} s, and sorting by ${sort} needs all results.`;
      throw failure("names_too_slow", message);
    }
    const described = page.take().map(({ path, type, key }) => {
      return {
        path: join(root.path, path),
        type,
        ...(sort === "mtime" ? { modified: new Date(key).toISOString() } : {}),
        ...(sort === "oldest" ? { modified: new Date(-key).toISOString() } : {}),
        ...(sort === "size" && type === "file" ? { size: key } : {}),
      };
    });
    // The cursor contains a path as well, in a longer form.
    const reserved = 2 * Math.max(0, ...described.map(({ path }) => path.length));
    const { shown, next } = page.cut(described, request.budget - reserved);
    const resume =
      next ?? (isLate && report.last !== undefined ? page.cursorAt(report.last) : undefined);
    const isHidden = isFirst && report.hidden > 0 && !include_ignored;
    const notes: string[] = [];
    if (isLate) {
      const at = JSON.stringify(oneLine(clip(report.last ?? "", 200)));
      notes.push(`The search ran out of time at ${at}; continue from there with next_cursor.`);
    }
    if (isHidden) {
      const entries = counted(report.hidden, "entry is", "entries are");
      notes.push(
        `${entries} hidden by ignore rules or .git; include_ignored=true shows the ignored ones.`,
      );
    }
    if (isFirst && links > 0)
      notes.push(
        `${counted(links, "matching symlink is", "matching symlinks are")} left out; type="any" includes them.`,
      );
    if (isFirst && report.unreadable > 0) {
      notes.push(`${grouped(report.unreadable)} directories could not be read.`);
    }
    const isComplete = isFirst && report.ended === "complete";
    if (isComplete && total === 0 && !glob.hasWildcard) {
      notes.push(
        `The pattern has no wildcard and matches only this exact name; "*${pattern}*" matches names that contain it.`,
      );
    }
    return {
      matches: shown,
      ...(isComplete ? { total } : {}),
      ...(isHidden ? { hidden: report.hidden } : {}),
      ...(resume === undefined ? {} : { next_cursor: resume }),
      ...(notes.length > 0 ? { notes } : {}),
    };
  });
}

/**
 * One path per line, preceded by the time or size if sorted by it; directories have a trailing slash. The last line, in
 * square brackets, is the server's own.
 */
export function namesAnswer(found: Awaited<ReturnType<typeof searchNames>>): string {
  const lines = found.matches.map(({ path, type, size, modified }) => {
    const key = modified ?? size;
    return `${key === undefined ? "" : `${key} `}${oneLine(path)}${type === "directory" ? "/" : ""}\n`;
  });
  const total = found.total === undefined ? [] : [`${counted(found.total, "match", "matches")}.`];
  const facts = [...total, ...more(found)].join(" ");
  return `${lines.join("")}[${facts === "" ? "The end." : facts}]`;
}
