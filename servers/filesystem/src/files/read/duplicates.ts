import { createHash } from "node:crypto";
import { closeSync, fstatSync, readSync } from "node:fs";
import { join } from "node:path";
import { type GuardedDirectory, openBelow, type PathGuard, statOf } from "@refmcp/boundary";
import { orRefused } from "../open-path.ts";
import { compareText } from "../tree/path-order.ts";
import { walk } from "../tree/walk.ts";
import { chunksOf } from "./bytes.ts";

/** Files beyond this number are not compared. */
const MAX_PATHS = 300_000;
/** How many bytes are read of files whose beginnings are the same. */
const MAX_READ_BYTES = 2 * 1024 ** 3;
/** How much of a file is compared before all of it. */
const START_BYTES = 16 * 1024;

/** Files with the same content; hard links to the same file count once. */
export interface DuplicateGroup {
  readonly size: number;
  /** Below the directory, sorted. */
  readonly paths: readonly string[];
}

export interface Duplicates {
  /** The groups that waste most space first. */
  readonly groups: readonly DuplicateGroup[];
  /** Bytes of the copies that could be deleted. */
  readonly wasted: number;
  /** Whether some files were not compared, because there are too many or they are too large. */
  readonly isCut: boolean;
}

interface FindOptions {
  readonly signal?: AbortSignal | undefined;
  /** Called with the number of files that were read. */
  readonly done: (count: number) => void;
  /** Whether to stop. */
  readonly isLate: () => boolean;
}

/**
 * Finds files with the same content: of those with the same size, those whose beginnings and then all bytes are equal.
 *
 * @param sizes how many files have a size
 * @throws the signal's reason, and what the guard throws
 */
export async function findDuplicates(
  guard: PathGuard,
  root: GuardedDirectory,
  sizes: ReadonlyMap<number, number>,
  options: FindOptions,
): Promise<Duplicates> {
  const { found, isCut: hasTooMany } = await sameStarts(guard, root, sizes, options);
  const waste = ({ size, paths }: DuplicateGroup) => size * (paths.length - 1);
  const order = (a: DuplicateGroup, b: DuplicateGroup) =>
    waste(b) - waste(a) || compareText(a.paths[0] ?? "", b.paths[0] ?? "");
  const groups: DuplicateGroup[] = [];
  let isCut = hasTooMany;
  let left = MAX_READ_BYTES;
  for (const group of found.sort(order)) {
    const bytes = group.size * group.paths.length;
    if (group.size <= START_BYTES) groups.push(group);
    else if (bytes > left || options.isLate()) isCut = true;
    else {
      left -= bytes;
      groups.push(...(await sameContent(guard, root, group, options)));
    }
  }
  const wasted = groups.reduce((sum, group) => sum + waste(group), 0);
  return { groups: groups.sort(order), wasted, isCut };
}

/** Groups the files whose size and beginning are the same. */
async function sameStarts(
  guard: PathGuard,
  root: GuardedDirectory,
  sizes: ReadonlyMap<number, number>,
  { signal, done, isLate }: FindOptions,
): Promise<{ found: DuplicateGroup[]; isCut: boolean }> {
  const alike = new Map<string, { size: number; paths: string[]; inodes: Set<string> }>();
  let count = 0;
  const { ended } = await walk(guard, root, { signal }, ({ path, name, type, parent }) => {
    if (isLate() || count >= MAX_PATHS) return "stop";
    const size = type === "file" ? (statOf(parent.entry(name))?.size ?? 0) : 0;
    if ((sizes.get(size) ?? 0) < 2) return undefined;
    count += 1;
    done(1);
    const start = startOf(parent.entry(""), name);
    if (start === undefined) return undefined;
    const same = alike.get(start.key) ?? { size: start.size, paths: [], inodes: new Set() };
    if (!same.inodes.has(start.inode)) same.paths.push(path);
    same.inodes.add(start.inode);
    alike.set(start.key, same);
    return undefined;
  });
  const found = [...alike.values()]
    .filter((same) => same.paths.length > 1)
    .map(({ size, paths }) => ({ size, paths: paths.sort(compareText) }));
  return { found, isCut: ended !== "complete" };
}

/** The size and the hash of the beginning of a file; undefined if it cannot be read. */
function startOf(at: string, name: string) {
  let fd: number | undefined;
  try {
    fd = openBelow(at, name);
    if (fd === undefined) return undefined;
    const { size, dev, ino } = fstatSync(fd);
    const bytes = Buffer.alloc(Math.min(size, START_BYTES));
    const read = readSync(fd, bytes, 0, bytes.length, 0);
    const hash = createHash("sha256").update(bytes.subarray(0, read)).digest("base64");
    return { size, inode: `${dev}:${ino}`, key: `${size}:${hash}` };
  } catch {
    return undefined;
  } finally {
    if (fd !== undefined) closeSync(fd);
  }
}

/** Divides files whose beginnings are the same by their content. Each is opened through the guard. */
async function sameContent(
  guard: PathGuard,
  root: GuardedDirectory,
  { size, paths }: DuplicateGroup,
  { signal, done }: FindOptions,
): Promise<DuplicateGroup[]> {
  const found = new Map<string, string[]>();
  for (const path of paths) {
    const expected = join(root.realPath, path);
    const file = await guard.openFile(expected).catch(orRefused);
    try {
      if (file?.realPath !== expected || file.stat.size !== size) continue;
      const hash = createHash("sha256");
      for await (const bytes of chunksOf(file, signal)) hash.update(bytes);
      const digest = hash.digest("base64");
      found.set(digest, [...(found.get(digest) ?? []), path]);
    } finally {
      await file?.handle.close();
    }
    done(1);
  }
  return [...found.values()]
    .filter((same) => same.length > 1)
    .map((same) => ({ size, paths: same }));
}
