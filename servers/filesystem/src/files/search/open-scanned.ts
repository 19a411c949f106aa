import { closeSync, fstatSync, lstatSync, openSync, readlinkSync, realpathSync } from "node:fs";
import { join } from "node:path";
import { FILE_FLAGS } from "../tree/open-below.ts";

/**
 * Opens a regular file below a directory that the guard opened, and verifies that it is the file at exactly this path:
 * on Linux by the kernel's path, elsewhere by real path and inode. Takes about 15 µs.
 *
 * @param at path for fs calls on the directory.
 * @returns the descriptor and the size in bytes, or undefined if the file is gone, was swapped for a link or cannot be
 *   read.
 */
export function openScanned(
  at: string,
  realPath: string,
  path: string,
): { fd: number; size: number } | undefined {
  const byDescriptor = at.startsWith("/proc/self/fd/");
  let fd: number;
  try {
    fd = openSync(byDescriptor ? `${at}/${path}` : join(at, path), FILE_FLAGS);
  } catch {
    return undefined;
  }
  const size = verifiedSize(fd, byDescriptor, join(realPath, path));
  if (size !== undefined) return { fd, size };
  closeSync(fd);
  return undefined;
}

/** Undefined if something else was opened. */
function verifiedSize(fd: number, byDescriptor: boolean, expected: string): number | undefined {
  try {
    const opened = fstatSync(fd);
    if (!opened.isFile()) return undefined;
    if (byDescriptor) return readlinkSync(`/proc/self/fd/${fd}`) === expected ? opened.size : undefined;
    if (realpathSync.native(expected) !== expected) return undefined;
    const named = lstatSync(expected);
    return named.ino === opened.ino && named.dev === opened.dev ? opened.size : undefined;
  } catch {
    return undefined;
  }
}
