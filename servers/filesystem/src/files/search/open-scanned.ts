import { closeSync, constants, fstatSync, lstatSync, openSync, readlinkSync, realpathSync } from "node:fs";
import { join } from "node:path";

/** Never through a link in the last place, never waiting for a FIFO. */
const FLAGS = constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0);

/**
 * Opens a regular file below a directory that the guard opened, and verifies that what was opened is what stands at
 * that very path: on Linux by the kernel's own path for it, elsewhere by real path and inode. About 15 µs.
 *
 * @param at path for fs calls on the directory.
 * @returns the descriptor, or undefined where the file is gone, was swapped for a link or cannot be read.
 */
export function openScanned(at: string, realPath: string, path: string): number | undefined {
  const byDescriptor = at.startsWith("/proc/self/fd/");
  let fd: number;
  try {
    fd = openSync(byDescriptor ? `${at}/${path}` : join(at, path), FLAGS);
  } catch {
    return undefined;
  }
  if (isIt(fd, byDescriptor, join(realPath, path))) return fd;
  closeSync(fd);
  return undefined;
}

function isIt(fd: number, byDescriptor: boolean, expected: string): boolean {
  try {
    const opened = fstatSync(fd);
    if (!opened.isFile()) return false;
    if (byDescriptor) return readlinkSync(`/proc/self/fd/${fd}`) === expected;
    if (realpathSync.native(expected) !== expected) return false;
    const named = lstatSync(expected);
    return named.ino === opened.ino && named.dev === opened.dev;
  } catch {
    return false;
  }
}
