import { lstatSync, readlinkSync, type Stats } from "node:fs";
import { open } from "node:fs/promises";
import { setTimeout as delay } from "node:timers/promises";
import { isDeepStrictEqual } from "node:util";
import { type PathGuard, TimeSlices, type WalkedDirectory } from "@refmcp/boundary";
import { sizeOf } from "@refmcp/boundary/answer";
import { counted } from "../errors.ts";
import { orNothing } from "../open-path.ts";
import { hashOfFile } from "../read/bytes.ts";
import type { State } from "./record.ts";

/** A larger file is recognized by its size and time: to hash it would take longer than to move it. */
const MAX_HASHED_BYTES = 64 * 1024 * 1024;
/** The clock of file systems on Linux moves in steps of up to this many milliseconds. */
const CLOCK_MS = 12;

/** What a directory contains, at any depth. */
export interface Content {
  readonly files: number;
  readonly directories: number;
  readonly links: number;
  /** FIFOs, sockets, devices. */
  readonly others: number;
  readonly bytes: number;
  /** When something in it last changed. */
  readonly newest_ms: number;
}

/**
 * Counts what a directory contains, in short slices between which other calls are answered.
 *
 * @throws the signal's reason
 */
export async function contentOf(root: WalkedDirectory, signal?: AbortSignal): Promise<Content> {
  const slices = new TimeSlices(signal);
  const { mtimeMs } = lstatSync(root.entry("."));
  const content = { files: 0, directories: 0, links: 0, others: 0, bytes: 0, newest_ms: mtimeMs };
  await count(root);
  return content;

  async function count(directory: WalkedDirectory): Promise<void> {
    for (const { name, type } of directory.entries() ?? []) {
      if (slices.isDue()) await slices.yieldToOthers();
      const stat = lstatSync(directory.entry(name), { throwIfNoEntry: false });
      if (stat === undefined) continue;
      content.newest_ms = Math.max(content.newest_ms, stat.ctimeMs);
      if (type === "file") {
        content.files += 1;
        content.bytes += stat.size;
      } else if (type === "link") content.links += 1;
      else if (type === "other") content.others += 1;
      else {
        content.directories += 1;
        const child = directory.child(name);
        if (typeof child === "string") continue;
        await count(child).finally(() => child.close());
      }
    }
  }
}

export function entriesOf(content: Content | undefined): number {
  if (content === undefined) return 0;
  return content.files + content.directories + content.links + content.others;
}

/** `12 files (1.2 MiB), 3 directories, 1 link`. */
export function describe(content: Omit<Content, "newest_ms">): string {
  const { files, directories, links, others, bytes } = content;
  const rest = directories + links + others;
  const parts = [
    ...(files > 0 || rest === 0 ? [`${counted(files, "file")} (${sizeOf(bytes)})`] : []),
    ...(directories > 0 ? [counted(directories, "directory", "directories")] : []),
    ...(links > 0 ? [counted(links, "link")] : []),
    ...(others > 0 ? [counted(others, "special file")] : []),
  ];
  return parts.join(", ");
}

/** The state of an entry that is moved, not written. */
export function movedState(entry: string, stat: Stats): State {
  if (stat.isSymbolicLink()) return { type: "link", target: readlinkSync(entry) };
  if (stat.isDirectory()) return { type: "directory" };
  return { type: "moved file", size: stat.size, mtime_ms: Math.trunc(stat.mtimeMs) };
}

/** The state of a new entry that is about to get its name. */
export async function stateOf(
  directory: WalkedDirectory,
  name: string,
  signal?: AbortSignal,
): Promise<State> {
  const entry = directory.entry(name);
  const stat = lstatSync(entry);
  if (stat.isDirectory()) {
    const tree = await treeState(directory, name, signal);
    // A later change in the same step of the clock would go unnoticed.
    if (tree.type === "tree" && Date.now() - tree.newest_ms < CLOCK_MS) await delay(CLOCK_MS);
    return tree;
  }
  if (!stat.isFile() || stat.size > MAX_HASHED_BYTES) return movedState(entry, stat);
  const handle = await open(entry);
  const hash = await hashOfFile({ handle }, signal).finally(() => handle.close());
  return { type: "file", size: stat.size, hash };
}

async function treeState(
  directory: WalkedDirectory,
  name: string,
  signal?: AbortSignal,
): Promise<State> {
  const tree = directory.child(name);
  if (typeof tree === "string") return { type: "nothing" };
  try {
    const content = await contentOf(tree, signal);
    return { type: "tree", entries: entriesOf(content), newest_ms: content.newest_ms };
  } finally {
    tree.close();
  }
}

/** Whether `path` still is what it was after a step. */
export async function isStill(
  guard: PathGuard,
  path: string,
  state: State,
  signal?: AbortSignal,
): Promise<boolean> {
  if (state.type === "nothing") return !(await guard.exists(path));
  const place = await guard.place(path).catch(orNothing);
  if (place?.stat === undefined) return false;
  const { parent, name, stat } = place;
  try {
    if (state.type === "directory") return stat.isDirectory();
    if (state.type === "link" || state.type === "moved file")
      return isSameMoved(state, movedState(place.entry, stat));
    const directory = await guard.walk(parent);
    if (state.type === "file") {
      const isCandidate = stat.isFile() && stat.size === state.size;
      return isCandidate && isDeepStrictEqual(await stateOf(directory, name, signal), state);
    }
    if (!stat.isDirectory()) return false;
    const now = await treeState(directory, name, signal);
    if (state.type === "tree") return isDeepStrictEqual(now, state);
    return now.type === "tree" && now.entries === 0;
  } finally {
    await parent.close();
  }
}

function isSameMoved(a: State, b: State): boolean {
  if (a.type !== "moved file" || b.type !== "moved file") return isDeepStrictEqual(a, b);
  // A move across file systems keeps times only to the millisecond.
  return a.size === b.size && Math.abs(a.mtime_ms - b.mtime_ms) <= 1;
}
