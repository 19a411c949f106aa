import {
  type BigIntStats,
  closeSync,
  constants,
  copyFileSync,
  fchmodSync,
  fchownSync,
  fstatSync,
  fsyncSync,
  futimesSync,
  lstatSync,
  mkdirSync,
  openSync,
  read,
  readlinkSync,
  rmdirSync,
  symlinkSync,
  unlinkSync,
} from "node:fs";
import { copyFile, open } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { TimeSlices } from "../time-slices.ts";
import { openBelow, type WalkedDirectory } from "./below.ts";
import { errorCode, pathError, specialFileError } from "./path-errors.ts";
import { isSame } from "./types.ts";
import { whileHeld } from "./while-held.ts";

/** An entry of an opened directory, which may not exist. */
export interface TreeEntry {
  readonly directory: WalkedDirectory;
  readonly name: string;
  /** What to call it in errors. */
  readonly path: string;
}

/** The stat of each path in a tree; the tree's root is "". */
export type Inventory = Map<string, BigIntStats>;

interface CopyOptions {
  readonly signal?: AbortSignal | undefined;
  /**
   * False for a copy next to the original, which gets the mode but not the owner and times, and is not synced file by
   * file.
   */
  readonly attributes?: boolean;
  /** Skips devices, FIFOs and sockets and reports their keys; by default they are refused. */
  onSkip?(key: string): void;
  /** Called after each entry with the number done so far. */
  progress?(entries: number): void;
}

/**
 * Copies an entry and everything below it to a path that must be free. Links are copied as links, never followed. It
 * works in short synchronous slices, between which other calls are answered.
 *
 * @returns the entries, also those that were skipped, with their state before they were read
 * @throws ToolError `denied` for a device, FIFO or socket, `conflict` if the source changes while it is read; the
 *   operating system's error, `EEXIST` if something is at the target; the signal's reason
 */
export async function copyTree(
  from: TreeEntry,
  to: TreeEntry,
  options: CopyOptions = {},
): Promise<Inventory> {
  const slices = new TimeSlices(options.signal);
  const inventory: Inventory = new Map();
  await copy(from, to, "");
  return inventory;

  async function copy(source: TreeEntry, target: TreeEntry, key: string): Promise<void> {
    if (slices.isDue()) await slices.yieldToOthers();
    const path = source.directory.entry(source.name);
    const copyPath = target.directory.entry(target.name);
    const stat = lstatSync(path, { bigint: true });
    if (stat.isDirectory()) {
      mkdirSync(copyPath, 0o700);
      await withDirectory(source, stat, (children) =>
        withDirectory(target, undefined, async (copies) => {
          for (const name of namesIn(children, source))
            await copy(
              childEntry(children, name, source),
              childEntry(copies, name, target),
              `${key}/${name}`,
            );
          if (process.platform !== "win32") setAttributes(copies.entry("."), stat, options);
        }),
      );
    } else if (stat.isSymbolicLink()) symlinkSync(readlinkSync(path), copyPath);
    else if (stat.isFile()) await copyContent(source, stat, copyPath, options);
    else if (options.onSkip === undefined) throw specialFileError(source.path, stat);
    else options.onSkip(key);
    inventory.set(key, stat);
    options.progress?.(inventory.size);
  }
}

function childEntry(directory: WalkedDirectory, name: string, { path }: TreeEntry): TreeEntry {
  return { directory, name, path: join(path, name) };
}

/** Opens the directory at `at`, if it still is the one that `stat` describes. */
async function withDirectory(
  { directory, name, path }: TreeEntry,
  stat: BigIntStats | undefined,
  work: (children: WalkedDirectory) => Promise<void>,
): Promise<void> {
  const children = directory.child(name);
  if (children === "unreadable") throw pathError("eacces", path);
  if (children === "gone") throw pathError("changed_meanwhile", path);
  try {
    if (stat !== undefined && !isSame(lstatSync(children.entry("."), { bigint: true }), stat))
      throw pathError("changed_meanwhile", path);
    await work(children);
  } finally {
    children.close();
  }
}

function namesIn(directory: WalkedDirectory, { path }: TreeEntry): string[] {
  const entries = directory.entries();
  if (entries === undefined) throw pathError("eacces", path);
  return entries.map(({ name }) => name);
}

/** @param expectedStat the source's lstat; if the file was replaced, or changes while it is read, that is a `conflict` */
async function copyContent(
  { directory, name, path }: TreeEntry,
  expectedStat: BigIntStats,
  target: string,
  options: CopyOptions,
): Promise<void> {
  const fd = openBelow(directory.entry(""), name);
  if (fd === undefined) throw pathError("changed_meanwhile", path);
  try {
    const requireSame = () => {
      if (!isUnchanged(fstatSync(fd, { bigint: true }), expectedStat))
        throw pathError("changed_meanwhile", path);
    };
    requireSame();
    await copyData(fd, Number(expectedStat.size), target, options.signal);
    requireSame();
    // The copy has the mode of the original.
    if (options.attributes !== false || (expectedStat.mode & 0o7000n) !== 0n)
      setAttributes(target, expectedStat, options);
  } finally {
    closeSync(fd);
  }
}

/** A file of this size or more is copied in the thread pool, and piece by piece, so that it can be cancelled. */
const LARGE_BYTES = 1024 * 1024;

const readLater = promisify(read);

/**
 * Copies the content and mode of an open file to a new file. It shares the blocks of a large original where the
 * file system can (reflink).
 *
 * @throws the signal's reason; the operating system's error, `EEXIST` if something is there
 */
export async function copyData(
  fd: number,
  size: number,
  target: string,
  signal?: AbortSignal,
): Promise<void> {
  const { COPYFILE_EXCL, COPYFILE_FICLONE_FORCE } = constants;
  if (process.platform === "linux") {
    // The descriptor's path cannot be redirected.
    const source = `/proc/self/fd/${fd}`;
    if (size < LARGE_BYTES) return copyFileSync(source, target, COPYFILE_EXCL);
    try {
      return await copyFile(source, target, COPYFILE_EXCL | COPYFILE_FICLONE_FORCE);
    } catch (error) {
      if (errorCode(error) === "EEXIST") throw error;
    }
  }
  const targetHandle = await open(target, "wx", 0o600);
  try {
    await targetHandle.chmod(fstatSync(fd).mode & 0o777);
    const buffer = Buffer.allocUnsafe(LARGE_BYTES);
    for (let position = 0; ; ) {
      signal?.throwIfAborted();
      const { bytesRead } = await readLater(fd, buffer, 0, buffer.length, position);
      if (bytesRead === 0) return;
      // Each call continues where the previous one ended.
      await targetHandle.writeFile(buffer.subarray(0, bytesRead));
      position += bytesRead;
    }
  } finally {
    await targetHandle.close();
  }
}

/** Windows sets times only through a descriptor that may write. */
const COPIED_FLAGS =
  process.platform === "win32" ? constants.O_RDWR : constants.O_RDONLY | constants.O_NOFOLLOW;

/** If the owner cannot be kept, neither are the set-user-ID and set-group-ID bits. */
function setAttributes(copyPath: string, stat: BigIntStats, { attributes = true }: CopyOptions) {
  const fd = openSync(copyPath, COPIED_FLAGS);
  try {
    const mode = Number(stat.mode);
    fchmodSync(fd, mode & 0o777);
    if (!attributes) return;
    try {
      fchownSync(fd, Number(stat.uid), Number(stat.gid));
      fchmodSync(fd, mode & 0o7777);
    } catch {
      // Only root can give a file away.
    }
    futimesSync(fd, Number(stat.atimeMs) / 1000, Number(stat.mtimeMs) / 1000);
    if (stat.isFile()) fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
}

/**
 * Removes an entry and everything below it; links are removed, never followed.
 *
 * @param expected the entries to remove, which must be unchanged; anything else stops the removal with `conflict`.
 *   Default: any entry.
 */
export async function removeTree(at: TreeEntry, expected?: Inventory): Promise<void> {
  const slices = new TimeSlices(undefined);
  await remove(at, "");

  async function remove(at: TreeEntry, key: string): Promise<void> {
    if (slices.isDue()) await slices.yieldToOthers();
    const entry = at.directory.entry(at.name);
    const stat = lstatSync(entry, { bigint: true });
    if (expected !== undefined && !isUnchanged(stat, expected.get(key)))
      throw pathError("changed_meanwhile", at.path);
    if (!stat.isDirectory()) return whileHeld(at.path, () => unlinkSync(entry));
    await withDirectory(at, stat, async (children) => {
      for (const name of namesIn(children, at))
        await remove(childEntry(children, name, at), `${key}/${name}`);
    });
    await whileHeld(at.path, () => rmdirSync(entry));
  }
}

/** A directory's own time changes with its entries, which are checked one by one. */
function isUnchanged(now: BigIntStats, before: BigIntStats | undefined): boolean {
  if (before === undefined || !isSame(now, before)) return false;
  return now.isDirectory() || (now.mtimeNs === before.mtimeNs && now.size === before.size);
}
