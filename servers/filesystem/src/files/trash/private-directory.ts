import { constants, type Stats } from "node:fs";
import { type FileHandle, lstat, mkdir, open } from "node:fs/promises";
import { join } from "node:path";
import { ensureDirectory } from "@refmcp/boundary";

/** A directory of this user, opened without following a link. Close it. */
export interface PrivateDirectory {
  readonly path: string;
  readonly dev: number;
  /** A path for fs calls on an entry; "" is the directory itself. On Linux, it refers to the opened directory. */
  entry(name: string): string;
  close(): Promise<void>;
}

export interface PrivateOptions {
  readonly create: boolean;
  /** Leaves the mode of the directory, which belongs to the desktop, unchanged. */
  readonly keepMode?: boolean;
  /** The path to open, if it is below a directory that is already open. */
  readonly at?: string;
}

/**
 * Opens a directory that only this user can change. Undefined if there is none: it is missing, a link, another user's,
 * or others can write to it.
 */
export async function privateDirectory(
  path: string,
  { create, keepMode = false, at = path }: PrivateOptions,
): Promise<PrivateDirectory | undefined> {
  try {
    if (create) await make(at, at === path);
    const before = await lstat(at);
    if (!before.isDirectory() || !isOurs(before)) return undefined;
    if (process.platform === "win32") {
      return { path, dev: before.dev, entry: (name) => join(path, name), close: async () => {} };
    }
    const flags = constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW;
    const handle = await open(at, flags);
    const stat = await handle.stat();
    if (
      stat.ino !== before.ino ||
      stat.dev !== before.dev ||
      !(await isClosed(handle, stat, keepMode))
    ) {
      await handle.close();
      return undefined;
    }
    const base = process.platform === "linux" ? `/proc/self/fd/${handle.fd}` : path;
    return {
      path,
      dev: stat.dev,
      entry: (name) => join(base, name || "."),
      close: () => handle.close(),
    };
  } catch {
    return undefined;
  }
}

/**
 * The shared trash at the top of a file system, `.Trash`, which an administrator created. The specification requires a
 * real directory with the sticky bit; otherwise anyone could redirect or replace what others delete.
 */
export async function stickyDirectory(path: string): Promise<string | undefined> {
  const stat = await lstat(path).catch(() => undefined);
  return stat?.isDirectory() && (stat.mode & 0o1000) !== 0 ? path : undefined;
}

async function make(path: string, withParents: boolean): Promise<void> {
  if (withParents) ensureDirectory(path, 0o700);
  else await mkdir(path, { mode: 0o700 }).catch(() => {});
}

function isOurs({ uid }: Stats): boolean {
  return process.getuid === undefined || uid === process.getuid();
}

/** Nobody else may write to it; our own is closed to others entirely. */
async function isClosed(handle: FileHandle, { mode }: Stats, keepMode: boolean): Promise<boolean> {
  if (keepMode) return (mode & 0o022) === 0;
  if ((mode & 0o077) !== 0) await handle.chmod(0o700);
  return true;
}
