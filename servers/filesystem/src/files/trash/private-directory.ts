import { constants, type Stats } from "node:fs";
import { type FileHandle, lstat, open } from "node:fs/promises";
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

interface PrivateOptions {
  readonly create: boolean;
  /** Leaves the mode of the directory unchanged, which may be that of other programs. */
  readonly keepMode?: boolean;
}

/**
 * Opens a directory that only this user can change. Undefined if there is none: it is missing, a link, another user's,
 * or others can write to it.
 */
export async function privateDirectory(
  path: string,
  { create, keepMode = false }: PrivateOptions,
): Promise<PrivateDirectory | undefined> {
  try {
    if (create) ensureDirectory(path, 0o700);
    const before = await lstat(path);
    if (!before.isDirectory() || !isOurs(before)) return undefined;
    if (process.platform === "win32") {
      return { path, dev: before.dev, entry: (name) => join(path, name), close: async () => {} };
    }
    const flags = constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW;
    const handle = await open(path, flags);
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

function isOurs({ uid }: Stats): boolean {
  return process.getuid === undefined || uid === process.getuid();
}

/** Nobody else may write to it; our own is closed to others entirely. */
async function isClosed(handle: FileHandle, { mode }: Stats, keepMode: boolean): Promise<boolean> {
  if (keepMode) return (mode & 0o022) === 0;
  if ((mode & 0o077) !== 0) await handle.chmod(0o700);
  return true;
}
