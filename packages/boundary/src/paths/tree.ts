import { type BigIntStats, constants } from "node:fs";
import {
  chmod,
  chown,
  copyFile,
  type FileHandle,
  lstat,
  mkdir,
  open,
  readdir,
  readlink,
  rmdir,
  symlink,
  unlink,
  utimes,
} from "node:fs/promises";
import { join } from "node:path";
import { hasProc, openerBelow, openUnlinked, SMALL_BYTES } from "./open.ts";
import { pathError, specialFile } from "./path-errors.ts";
import {
  type DirectoryEntry,
  type GuardedDirectory,
  type GuardedFile,
  isSame,
  type Opener,
} from "./types.ts";
import { whileHeld } from "./while-held.ts";

/** The stat of each path in a tree; the tree's root is "". */
export type Inventory = Map<string, BigIntStats>;

export interface CopyTreeOptions {
  readonly signal?: AbortSignal | undefined;
  /**
   * False for a copy next to the original, which gets the mode but not the owner and times, and is not synced file by
   * file.
   */
  readonly attributes?: boolean;
  /** Skips devices, FIFOs and sockets and reports their keys; by default they are refused. */
  skipped?(key: string): void;
  /** Called after each entry with the number done so far. */
  progress?(entries: number): void;
}

/**
 * Copies an entry and everything below it to a path that must be free. Links are copied as links, never followed. Every
 * directory is opened and compared with the listed one before anything in it is touched.
 *
 * @returns the copied entries, with their state before they were read
 * @throws ToolError `denied` for a device, FIFO or socket, `conflict` if the source changes while it is read
 */
export async function copyTree(
  from: DirectoryEntry | GuardedDirectory,
  to: DirectoryEntry,
  opener: Opener,
  options: CopyTreeOptions = {},
): Promise<Inventory> {
  const copying = new TreeCopy(opener, options);
  if ("parent" in from) await copying.entry(from, to, "");
  else await copying.directory(from, await lstat(from.entry(""), { bigint: true }), to, "");
  return copying.inventory;
}

class TreeCopy {
  readonly inventory: Inventory = new Map();
  readonly #opener: Opener;
  readonly #options: CopyTreeOptions;

  constructor(opener: Opener, options: CopyTreeOptions) {
    this.#opener = opener;
    this.#options = options;
  }

  async entry(from: DirectoryEntry, to: DirectoryEntry, key: string): Promise<void> {
    const { signal, skipped } = this.#options;
    signal?.throwIfAborted();
    const source = from.parent.entry(from.name);
    const stat = await lstat(source, { bigint: true });
    if (stat.isDirectory())
      return inside(from, stat, this.#opener, (children) =>
        this.directory(children, stat, to, key),
      );
    if (stat.isSymbolicLink()) await symlink(await readlink(source), to.parent.entry(to.name));
    else if (stat.isFile()) await this.#file(from, stat, to);
    else if (skipped === undefined) throw specialFile(from.path, stat);
    else return skipped(key);
    this.#done(key, stat);
  }

  async directory(
    children: GuardedDirectory,
    stat: BigIntStats,
    to: DirectoryEntry,
    key: string,
  ): Promise<void> {
    const target = to.parent.entry(to.name);
    await mkdir(target, 0o700);
    const made = await lstat(target, { bigint: true });
    await inside(to, made, this.#opener, async (copies) => {
      for (const name of (await readdir(children.entry(""))).sort()) {
        if (this.#opener.hidden?.hides(join(children.realPath, name))) continue;
        const path = join(children.path, name);
        const at = (parent: GuardedDirectory): DirectoryEntry => ({ parent, name, path });
        await this.entry(at(children), at(copies), `${key}/${name}`);
      }
      await this.#keepAttributes(attributesOf(copies.entry("")), stat);
    });
    this.#done(key, stat);
  }

  /** @param seen the source's lstat; if the file was replaced, or changes while it is read, that is a `conflict` */
  async #file(from: DirectoryEntry, seen: BigIntStats, to: DirectoryEntry): Promise<void> {
    const { attributes, signal } = this.#options;
    const requireSame = (now: BigIntStats) => {
      if (!isSame(now, seen) || now.mtimeNs !== seen.mtimeNs || now.size !== seen.size)
        throw pathError("changed_meanwhile", from.path);
    };
    const opener = openerBelow(from.parent, this.#opener);
    const source = await opener.openFile(from.parent.entry(from.name), from.path);
    try {
      requireSame(await source.handle.stat({ bigint: true }));
      const target = await copyData(source, to.parent.entry(to.name), signal);
      try {
        requireSame(await source.handle.stat({ bigint: true }));
        await this.#keepAttributes(target, seen);
        if (attributes !== false) await target.sync();
      } finally {
        await target.close();
      }
    } finally {
      await source.handle.close();
    }
  }

  /** If the owner cannot be kept, neither are the set-user-ID and set-group-ID bits. */
  async #keepAttributes(target: Attributed, stat: BigIntStats): Promise<void> {
    const mode = Number(stat.mode);
    if (this.#options.attributes === false) return target.chmod(mode & 0o777);
    const isOwnerKept = await target.chown(Number(stat.uid), Number(stat.gid)).then(
      () => true,
      () => false,
    );
    await target.chmod(mode & (isOwnerKept ? 0o7777 : 0o777));
    await target.utimes(Number(stat.atimeMs) / 1000, Number(stat.mtimeMs) / 1000);
  }

  #done(key: string, stat: BigIntStats): void {
    this.inventory.set(key, stat);
    this.#options.progress?.(this.inventory.size);
  }
}

type Attributed = Pick<FileHandle, "chmod" | "chown" | "utimes">;

const attributesOf = (path: string): Attributed => ({
  chmod: (mode) => chmod(path, mode),
  chown: (uid, gid) => chown(path, uid, gid),
  utimes: (atime, mtime) => utimes(path, atime, mtime),
});

/**
 * Removes an entry and everything below it; links are removed, never followed.
 *
 * @param expected the entries to remove, which must be unchanged; anything else stops the removal with `conflict`.
 * Default: whatever is there.
 * @param key the entry's key in `expected`.
 */
export async function removeTree(
  at: DirectoryEntry,
  opener: Opener,
  expected?: Inventory,
  key = "",
): Promise<void> {
  const entry = at.parent.entry(at.name);
  const stat = await lstat(entry, { bigint: true });
  if (expected !== undefined && !isUnchanged(stat, expected.get(key)))
    throw pathError("changed_meanwhile", at.path);
  if (!stat.isDirectory()) {
    await whileHeld(at.path, () => unlink(entry));
    return;
  }
  await inside(at, stat, opener, async (children) => {
    for (const name of (await readdir(children.entry(""))).sort()) {
      const child = { parent: children, name, path: join(at.path, name) };
      await removeTree(child, opener, expected, `${key}/${name}`);
    }
  });
  await whileHeld(at.path, () => rmdir(entry));
}

/**
 * A directory's times change as its entries are removed, which are compared one by one. A file's change time changes
 * when another hard link to it is removed.
 */
function isUnchanged(now: BigIntStats, then: BigIntStats | undefined): boolean {
  if (then === undefined || !isSame(now, then)) return false;
  return now.isDirectory() || (now.mtimeNs === then.mtimeNs && now.size === then.size);
}

/** Opens the directory at `at`, if it still is the one that `stat` describes. */
async function inside(
  at: DirectoryEntry,
  stat: BigIntStats,
  opener: Opener,
  work: (directory: GuardedDirectory) => Promise<void>,
): Promise<void> {
  const directory = await openerBelow(at.parent, opener).openDirectory(
    at.parent.entry(at.name),
    at.path,
  );
  try {
    if (!isSame(await lstat(directory.entry(""), { bigint: true }), stat))
      throw pathError("changed_meanwhile", at.path);
    await work(directory);
    await directory.verify();
  } finally {
    await directory.close();
  }
}

const CHUNK_BYTES = 256 * 1024;
const ZEROS = Buffer.alloc(CHUNK_BYTES);

/**
 * Copies the content of an open file to a new file at `target`, which is returned open. It shares the blocks of the
 * original where the file system can (reflink); elsewhere, chunks of zeros in a sparse file remain holes.
 *
 * @throws the signal's reason; the operating system's error, `EEXIST` if something is there
 */
export async function copyData(
  source: GuardedFile,
  target: string,
  signal?: AbortSignal,
): Promise<FileHandle> {
  if (source.stat.size > SMALL_BYTES && (await isCloned(source, target)))
    return openUnlinked(target, constants.O_RDWR);
  const handle = await open(target, "wx", 0o600);
  try {
    const { blocks, size } = source.stat;
    const isSparse = size > SMALL_BYTES && blocks * 512 < size;
    const buffer = Buffer.allocUnsafe(CHUNK_BYTES);
    for (let position = 0; ; ) {
      signal?.throwIfAborted();
      const { bytesRead } = await source.handle.read(buffer, 0, CHUNK_BYTES, position);
      if (bytesRead === 0) break;
      const bytes = buffer.subarray(0, bytesRead);
      if (!isSparse || !bytes.equals(ZEROS.subarray(0, bytesRead)))
        await writeAll(handle, bytes, position);
      position += bytesRead;
    }
    if (isSparse) await handle.truncate(size);
    return handle;
  } catch (error) {
    await handle.close();
    throw error;
  }
}

async function writeAll(target: FileHandle, bytes: Uint8Array, position: number): Promise<void> {
  for (let at = 0; at < bytes.length; ) {
    const { bytesWritten } = await target.write(bytes, at, bytes.length - at, position + at);
    at += bytesWritten;
  }
}

async function isCloned({ handle, realPath }: GuardedFile, target: string): Promise<boolean> {
  // The descriptor's path cannot be redirected; elsewhere, what was cloned is compared afterwards.
  const from = hasProc() ? `/proc/self/fd/${handle.fd}` : realPath;
  const { COPYFILE_EXCL, COPYFILE_FICLONE_FORCE } = constants;
  try {
    await copyFile(from, target, COPYFILE_EXCL | COPYFILE_FICLONE_FORCE);
  } catch {
    return false;
  }
  if (hasProc()) return true;
  const now = await lstat(realPath, { bigint: true }).catch(() => undefined);
  if (now !== undefined && isSame(now, await handle.stat({ bigint: true }))) return true;
  await unlink(target);
  return false;
}
