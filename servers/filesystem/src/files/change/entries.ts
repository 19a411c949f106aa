import { createHash } from "node:crypto";
import type { Stats } from "node:fs";
import { lstat, open, readdir, readlink } from "node:fs/promises";
import { join, relative } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { errorCode, type GuardedDirectory, type PathGuard } from "@refmcp/boundary";
import { grouped, sized } from "@refmcp/boundary/answer";
import type { State } from "../journal/change-record.ts";
import { counted, failure, named } from "../messages.ts";
import { orNothing, withFile } from "../open-path.ts";
import { hashOfFile, shortHash } from "../read/source.ts";

/** Directories with more entries than this are handled in parts. */
const MAX_ENTRIES = 1_000_000;

/** Opens the subdirectory `name`, never through a link, so that a swapped link cannot redirect a walk. */
async function openChild(guard: PathGuard, directory: GuardedDirectory, name: string) {
  const child = await guard.openDirectory(join(directory.path, name));
  if (child.realPath === join(directory.realPath, name)) return child;
  await child.close();
  throw failure(
    "swapped",
    `${named(child.path)} was replaced by another program during this operation.`,
  );
}

/**
 * All entries below `directory` in name order, each directory after its contents, with their own stat. Links are not
 * followed; entries that disappear during the walk are omitted.
 */
async function* entriesBelow(
  guard: PathGuard,
  directory: GuardedDirectory,
  signal?: AbortSignal,
): AsyncGenerator<{ directory: GuardedDirectory; name: string; stat: Stats }> {
  for (const name of (await readdir(directory.entry(""))).sort()) {
    signal?.throwIfAborted();
    if (guard.allowed.hidden?.hides(join(directory.realPath, name))) continue;
    const stat = await lstat(directory.entry(name)).catch((error: unknown) => {
      if (errorCode(error) !== "ENOENT") throw error;
    });
    if (stat === undefined) continue;
    if (stat.isDirectory()) {
      const child = await openChild(guard, directory, name);
      try {
        yield* entriesBelow(guard, child, signal);
      } finally {
        await child.close();
      }
    }
    yield { directory, name, stat };
  }
}

export interface Content {
  readonly files: number;
  readonly directories: number;
  readonly links: number;
  /** FIFOs, sockets, devices. */
  readonly others: number;
  readonly bytes: number;
}

/** Counts what a directory contains. @throws ToolError `too_large` beyond `max` entries. */
export async function contentOf(
  guard: PathGuard,
  directory: GuardedDirectory,
  { max = MAX_ENTRIES, signal }: { max?: number; signal?: AbortSignal | undefined } = {},
): Promise<Content> {
  const content = { files: 0, directories: 0, links: 0, others: 0, bytes: 0 };
  for await (const { stat } of entriesBelow(guard, directory, signal)) {
    if (stat.isFile()) {
      content.files += 1;
      content.bytes += stat.size;
    } else if (stat.isDirectory()) content.directories += 1;
    else if (stat.isSymbolicLink()) content.links += 1;
    else content.others += 1;
    if (entriesOf(content) > max) {
      const message = `${named(directory.path)} contains more than ${grouped(max)} entries.`;
      throw failure("too_many_entries", message);
    }
  }
  return content;
}

export function entriesOf(content: Content | undefined): number {
  if (content === undefined) return 0;
  return content.files + content.directories + content.links + content.others;
}

/** `12 files (1.2 MiB), 3 directories, 1 link`. */
export function describe(content: Content): string {
  const { files, directories, links, others, bytes } = content;
  const parts = [
    files > 0 || entriesOf(content) === 0 ? `${counted(files, "file")} (${sized(bytes)})` : "",
    directories > 0 ? counted(directories, "directory", "directories") : "",
    links > 0 ? counted(links, "link") : "",
    others > 0 ? counted(others, "special file") : "",
  ];
  return parts.filter((part) => part !== "").join(", ");
}

/** The current state of `path`, in the form of a change's `after`; undefined if it does not exist. */
export async function stateAt(
  guard: PathGuard,
  path: string,
  like: State["type"],
  signal?: AbortSignal,
): Promise<State | undefined> {
  const place = await guard.place(path).catch(orNothing);
  if (place === undefined) return undefined;
  try {
    const { stat } = place;
    if (stat === undefined) return undefined;
    if (stat.isSymbolicLink()) return { type: "link", target: await readlink(place.entry) };
    if (like === "moved file" || like === "moved directory") return movedState(stat);
    if (stat.isDirectory()) return await treeState(guard, await guard.openDirectory(path), signal);
  } finally {
    await place.parent.close();
  }
  return withFile(guard, path, async (file) => {
    return { type: "file", hash: await hashOfFile(file, signal), size: file.stat.size };
  });
}

/** The state of an entry that is moved, not written. */
export function movedState(stat: Stats | undefined): State {
  return stat === undefined || stat.isDirectory()
    ? { type: "moved directory" }
    : { type: "moved file", size: stat.size, mtime_ms: Math.trunc(stat.mtimeMs) };
}

/** The state of a new entry that is about to get its final name. */
export async function stateOfEntry(
  guard: PathGuard,
  parent: GuardedDirectory,
  name: string,
  signal?: AbortSignal,
): Promise<State> {
  const entry = parent.entry(name);
  const stat = await lstat(entry);
  if (stat.isSymbolicLink()) return { type: "link", target: await readlink(entry) };
  if (stat.isDirectory()) return treeState(guard, await openChild(guard, parent, name), signal);
  return stateOfImage(entry, signal);
}

/** A larger file is recognized by its size and time: to hash it would take longer than to copy or move it. */
const MAX_HASHED_BYTES = 64 * 1024 * 1024;

/** The state of a file that is kept outside the allowed directories. */
export async function stateOfImage(image: string, signal?: AbortSignal): Promise<State> {
  const handle = await open(image);
  try {
    const stat = await handle.stat();
    if (stat.size > MAX_HASHED_BYTES) return movedState(stat);
    return { type: "file", hash: await hashOfFile({ handle }, signal), size: stat.size };
  } finally {
    await handle.close();
  }
}

/** Closes `root`. */
async function treeState(
  guard: PathGuard,
  root: GuardedDirectory,
  signal?: AbortSignal,
): Promise<State> {
  const digest = createHash("sha256");
  let bytes = 0;
  try {
    for await (const { directory, name, stat } of entriesBelow(guard, root, signal)) {
      const path = relative(root.path, join(directory.path, name));
      // A directory's own time changes with its entries, which are checked one by one.
      const [size, time] = stat.isDirectory() ? [0, 0] : [stat.size, stat.mtimeMs];
      const link = stat.isSymbolicLink() ? await readlink(directory.entry(name)) : "";
      if (stat.isFile()) bytes += size;
      digest.update(JSON.stringify([path, stat.mode, size, time, link]));
    }
    return { type: "tree", digest: shortHash(digest), bytes };
  } finally {
    await root.close();
  }
}

export function sameState(a: State, b: State | undefined): boolean {
  if (a.type !== "moved file" || b?.type !== "moved file") return isDeepStrictEqual(a, b);
  // A move across file systems keeps times only to the millisecond.
  return a.size === b.size && Math.abs(a.mtime_ms - b.mtime_ms) <= 1;
}
