import { createHash } from "node:crypto";
import type { Stats } from "node:fs";
import { lstat, open, readlink } from "node:fs/promises";
import { join, relative } from "node:path";
import type { PathGuard } from "@refmcp/core/boundary";
import { orNothing } from "../change/change-context.ts";
import { entriesBelow, type Folder, openFolder } from "../change/open-folder.ts";
import { withFile } from "../open-path.ts";
import { hashOfFile, shortHash } from "../read/source.ts";
import type { State } from "./change-record.ts";

/** What stands at `path` now, in the terms of a change's `after`; undefined where nothing does. */
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
    if (stat.isDirectory()) return await treeState(await openFolder(guard, path), signal);
  } finally {
    await place.parent.close();
  }
  return withFile(guard, path, async (file) => {
    return { type: "file", hash: await hashOfFile(file, signal), size: file.stat.size };
  });
}

/** The state of something that is moved, not written. */
export function movedState(stat: Stats | undefined): State {
  return stat === undefined || stat.isDirectory()
    ? { type: "moved directory" }
    : { type: "moved file", size: stat.size, mtime_ms: Math.trunc(stat.mtimeMs) };
}

/** The state of an entry of ours that is about to get its own name. */
export async function stateOfEntry(folder: Folder, name: string, signal?: AbortSignal): Promise<State> {
  const stat = await lstat(folder.entry(name));
  if (stat.isSymbolicLink()) return { type: "link", target: await readlink(folder.entry(name)) };
  if (stat.isDirectory()) return treeState(await folder.child(name), signal);
  const handle = await open(folder.entry(name));
  try {
    return { type: "file", hash: await hashOfFile({ handle }, signal), size: stat.size };
  } finally {
    await handle.close();
  }
}

/** Closes `root`. */
async function treeState(root: Folder, signal: AbortSignal | undefined): Promise<State> {
  const digest = createHash("sha256");
  let bytes = 0;
  try {
    for await (const { folder, name, stat } of entriesBelow(root, signal)) {
      const path = relative(root.path, join(folder.path, name));
      // A directory's own time changes with its entries; these are looked at one by one.
      const time = stat.isDirectory() ? 0 : stat.mtimeMs;
      const link = stat.isSymbolicLink() ? await readlink(folder.entry(name)) : "";
      if (stat.isFile()) bytes += stat.size;
      digest.update(JSON.stringify([path, stat.mode, stat.isDirectory() ? 0 : stat.size, time, link]));
    }
    return { type: "tree", digest: shortHash(digest), bytes };
  } finally {
    await root.close();
  }
}

/** Whether nothing has changed between two states. */
export function sameState(a: State, b: State | undefined): boolean {
  if (b === undefined) return false;
  switch (a.type) {
    case "file":
      return b.type === "file" && a.hash === b.hash && a.size === b.size;
    case "moved file":
      // A move across file systems keeps the time to the millisecond only.
      return b.type === "moved file" && a.size === b.size && Math.abs(a.mtime_ms - b.mtime_ms) <= 1;
    case "moved directory":
      return b.type === "moved directory";
    case "tree":
      return b.type === "tree" && a.digest === b.digest;
    case "link":
      return b.type === "link" && a.target === b.target;
  }
}
