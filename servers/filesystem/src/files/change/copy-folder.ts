import type { Stats } from "node:fs";
import {
  chmod,
  type FileHandle,
  mkdir,
  open,
  readlink,
  rmdir,
  symlink,
  unlink,
  utimes,
} from "node:fs/promises";
import { join } from "node:path";
import type { ReadHandle } from "@refmcp/core/boundary";
import { CHUNK_BYTES } from "../read/source.ts";
import { entriesBelow, entriesIn, type Folder, openEntry } from "./open-folder.ts";

export interface TransferOptions {
  readonly signal?: AbortSignal | undefined;
  /** Whether the copies keep the times of change, as something that is moved does. */
  readonly times: boolean;
  /** Called after each entry. */
  progress?(entries: number): void;
}

/** Copies all of `source` to the end of `target`, piece by piece. Returns the bytes copied. */
export async function copyBytes(
  source: ReadHandle,
  target: FileHandle,
  options: { signal?: AbortSignal | undefined; seen?(bytes: Uint8Array): void } = {},
): Promise<number> {
  const buffer = Buffer.allocUnsafe(CHUNK_BYTES);
  for (let position = 0; ; ) {
    options.signal?.throwIfAborted();
    const { bytesRead } = await source.read(buffer, 0, buffer.length, position);
    if (bytesRead === 0) return position;
    const piece = buffer.subarray(0, bytesRead);
    options.seen?.(piece);
    await target.writeFile(piece);
    position += bytesRead;
  }
}

/**
 * Copies the regular file `name` into another folder, where nothing may stand under `newName`. Nothing is left of
 * the copy after a failure. Returns its bytes.
 */
export async function copyFileEntry(
  from: Folder,
  name: string,
  to: Folder,
  newName: string,
  options: TransferOptions,
): Promise<number> {
  const source = await openEntry(from, name);
  try {
    return await copyOpened(source, to, newName, options);
  } finally {
    await source.handle.close();
  }
}

/** The same for a file that is open already. */
export async function copyOpened(
  source: { handle: ReadHandle; stat: Stats },
  to: Folder,
  newName: string,
  options: TransferOptions & { seen?(bytes: Uint8Array): void },
): Promise<number> {
  await to.verify();
  const target = await open(to.entry(newName), "wx", 0o600);
  try {
    const bytes = await copyBytes(source.handle, target, options);
    await target.chmod(source.stat.mode & 0o777);
    if (options.times) await target.utimes(source.stat.atime, source.stat.mtime);
    await to.verify();
    return bytes;
  } catch (error) {
    await unlink(to.entry(newName)).catch(() => {});
    throw error;
  } finally {
    await target.close();
  }
}

/** What a copy of a directory had. */
export interface Transferred {
  files: number;
  directories: number;
  bytes: number;
  /** Paths of the links, relative to the directory. */
  links: string[];
  /** Paths of FIFOs, sockets and devices, which are not copied. */
  skipped: string[];
}

/** Copies everything below `from` into the empty folder `to`. What was copied before a failure stays: remove it. */
export async function copyFolder(from: Folder, to: Folder, options: TransferOptions): Promise<Transferred> {
  const copied: Transferred = { files: 0, directories: 0, bytes: 0, links: [], skipped: [] };
  await copyInto(from, to, "", copied, options);
  return copied;
}

async function copyInto(
  from: Folder,
  to: Folder,
  below: string,
  copied: Transferred,
  options: TransferOptions,
) {
  for await (const { name, stat } of entriesIn(from, options.signal)) {
    const path = join(below, name);
    if (stat.isFile()) {
      copied.bytes += await copyFileEntry(from, name, to, name, options);
      copied.files += 1;
    } else if (stat.isDirectory()) {
      await copyDirectoryEntry({ from, to, name, path }, stat, copied, options);
      copied.directories += 1;
    } else if (stat.isSymbolicLink()) {
      await copyLinkEntry(from, name, to, name);
      copied.links.push(path);
    } else {
      copied.skipped.push(path);
    }
    options.progress?.(copied.files + copied.directories + copied.links.length);
  }
}

async function copyDirectoryEntry(
  { from, to, name, path }: { from: Folder; to: Folder; name: string; path: string },
  stat: Stats,
  copied: Transferred,
  options: TransferOptions,
): Promise<void> {
  const source = await from.child(name);
  try {
    await to.verify();
    await mkdir(to.entry(name), { mode: 0o700 });
    const target = await to.child(name);
    try {
      await copyInto(source, target, path, copied, options);
      await takeMode(target, stat, options.times);
    } finally {
      await target.close();
    }
  } finally {
    await source.close();
  }
}

/** Gives a copied directory the mode (and times) of the original, once its content is in it. */
export async function takeMode(folder: Folder, stat: Stats, times: boolean): Promise<void> {
  await chmod(folder.entry(""), stat.mode & 0o777);
  if (times) await utimes(folder.entry(""), stat.atime, stat.mtime);
}

/** Copies a link as it is. */
export async function copyLinkEntry(from: Folder, name: string, to: Folder, newName: string): Promise<void> {
  const target = await readlink(from.entry(name));
  await to.verify();
  await symlink(target, to.entry(newName));
}

/** Removes whatever stands under `name`, a directory with all that is below it. A link is removed, not followed. */
export async function removeEntry(
  folder: Folder,
  name: string,
  directory: boolean,
  signal?: AbortSignal,
): Promise<void> {
  await folder.verify();
  if (!directory) {
    await unlink(folder.entry(name));
    return;
  }
  const child = await folder.child(name);
  try {
    for await (const entry of entriesBelow(child, signal)) {
      await entry.folder.verify();
      await (entry.stat.isDirectory() ? rmdir : unlink)(entry.folder.entry(entry.name));
    }
  } finally {
    await child.close();
  }
  await rmdir(folder.entry(name));
}
