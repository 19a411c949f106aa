import { createHash } from "node:crypto";
import type { Stats } from "node:fs";
import { lstat, open, readlink } from "node:fs/promises";
import { join, relative } from "node:path";
import { isDeepStrictEqual } from "node:util";
import type { GuardedDirectory, PathGuard } from "@refmcp/boundary";
import type { State } from "../journal/change-record.ts";
import { withFile } from "../open-path.ts";
import { hashOfFile, shortHash } from "../read/source.ts";
import { orNothing } from "./change-context.ts";
import { entriesBelow, openChild } from "./entries-below.ts";

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
  const handle = await open(entry);
  try {
    return { type: "file", hash: await hashOfFile({ handle }, signal), size: stat.size };
  } finally {
    await handle.close();
  }
}

/** Closes `root`. */
async function treeState(
  guard: PathGuard,
  root: GuardedDirectory,
  signal: AbortSignal | undefined,
): Promise<State> {
  const digest = createHash("sha256");
  let bytes = 0;
  try {
    for await (const { directory, name, stat } of entriesBelow(guard, root, signal)) {
      const path = relative(root.path, join(directory.path, name));
      // A directory's own time changes with its entries, which are checked one by one.
      const time = stat.isDirectory() ? 0 : stat.mtimeMs;
      const link = stat.isSymbolicLink() ? await readlink(directory.entry(name)) : "";
      if (stat.isFile()) bytes += stat.size;
      digest.update(JSON.stringify([path, stat.mode, stat.isDirectory() ? 0 : stat.size, time, link]));
    }
    return { type: "tree", digest: shortHash(digest), bytes };
  } finally {
    await root.close();
  }
}

/** Whether two states are the same. */
export function sameState(a: State, b: State | undefined): boolean {
  if (a.type !== "moved file" || b?.type !== "moved file") return isDeepStrictEqual(a, b);
  // A move across file systems keeps times only to the millisecond.
  return a.size === b.size && Math.abs(a.mtime_ms - b.mtime_ms) <= 1;
}
