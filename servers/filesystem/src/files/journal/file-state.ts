import type { Stats } from "node:fs";
import { lstat, open, readlink } from "node:fs/promises";
import type { PathGuard } from "@refmcp/core/boundary";
import { orNothing } from "../change/change-context.ts";
import { contentOf, entriesOf, type Folder, openFolder, ownFolder } from "../change/open-folder.ts";
import { hashOfFile } from "../read/source.ts";
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
  const file = await guard.openFile(path);
  try {
    return { type: "file", hash: await hashOfFile(file, signal), size: file.stat.size };
  } finally {
    await file.handle.close();
  }
}

/** The state of something that is moved, not written. */
export function movedState(stat: Stats | undefined): State {
  return stat === undefined || stat.isDirectory()
    ? { type: "moved directory" }
    : { type: "moved file", size: stat.size, mtime_ms: Math.trunc(stat.mtimeMs) };
}

/** The state that the image of a removal has when it is brought back. */
export async function stateOfImage(image: string, signal?: AbortSignal): Promise<State> {
  const stat = await lstat(image);
  if (stat.isSymbolicLink()) return { type: "link", target: await readlink(image) };
  if (stat.isDirectory()) return treeState(ownFolder(image), signal);
  const handle = await open(image);
  try {
    return { type: "file", hash: await hashOfFile({ handle }, signal), size: stat.size };
  } finally {
    await handle.close();
  }
}

async function treeState(folder: Folder, signal: AbortSignal | undefined): Promise<State> {
  try {
    const content = await contentOf(folder, { signal });
    return { type: "tree", entries: entriesOf(content), bytes: content.bytes };
  } finally {
    await folder.close();
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
      return b.type === "tree" && a.entries === b.entries && a.bytes === b.bytes;
    case "link":
      return b.type === "link" && a.target === b.target;
  }
}
