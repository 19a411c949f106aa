import {
  closeSync,
  constants,
  createReadStream,
  fstatSync,
  open,
  openSync,
  read,
  readFile,
  readSync,
} from "node:fs";
import { promisify } from "node:util";
import { errorCode } from "./path-errors.ts";
import type { ReadHandle } from "./types.ts";

/** The first bytes of a local file are read synchronously, in about 10 µs; each use of the thread pool costs 15 to 20. */
const SMALL_BYTES = 64 * 1024;

const readLater = promisify(read);
const readWhole = promisify(readFile);

/** Windows has no O_NONBLOCK, and opening never blocks there. */
export const READ_FLAGS = constants.O_RDONLY | (constants.O_NONBLOCK ?? 0);

/**
 * A regular file on a local file system, opened without the thread pool, as are its first `SMALL_BYTES` read. Never use
 * it for anything else: a FIFO, a device or a file server would block all other calls until it responds. A sleeping disk
 * blocks them too, which is acceptable for so few bytes.
 */
export function openLocal(path: string): ReadHandle | undefined {
  let fd: number;
  try {
    fd = openSync(path, READ_FLAGS);
  } catch (error) {
    // Opening would block, for another program's lease: fcntl(2).
    if (errorCode(error) === "EAGAIN") return undefined;
    throw error;
  }
  return {
    get fd() {
      return fd;
    },
    read: async (buffer, offset, length, position) =>
      position + length > SMALL_BYTES
        ? readLater(fd, buffer, offset, length, position)
        : { bytesRead: readSync(fd, buffer, offset, length, position) },
    readFile: () => readWhole(fd),
    stat: async (options) => fstatSync(fd, options),
    createReadStream(options) {
      // A destroyed stream closes its descriptor anyway; when we close it, the number may refer to another file.
      const fs = { open, read, close: (_fd: number, done: () => void) => done() };
      return createReadStream("", { ...options, fd, fs });
    },
    async close() {
      const open = fd;
      fd = -1;
      if (open !== -1) closeSync(open);
    },
  };
}
