import {
  closeSync,
  constants,
  createReadStream,
  fstatSync,
  lstatSync,
  open,
  openSync,
  read,
  readFile,
  readSync,
  realpathSync,
  type Stats,
} from "node:fs";
import { type FileHandle, lstat, open as openHandle, realpath } from "node:fs/promises";
import { release } from "node:os";
import { promisify } from "node:util";
import { type FileSystemKind, fileSystemKind } from "./check.ts";
import { errorCode } from "./path-errors.ts";
import { type Identity, isSame, type ReadHandle } from "./types.ts";

/**
 * For open(2): refuses a link in the last component or, on macOS 11 and newer (O_NOFOLLOW_ANY, for which Node.js has no
 * constant), in any. Windows has no such flag, so callers compare identities.
 */
const NOFOLLOW =
  process.platform === "darwin" && Number.parseInt(release(), 10) >= 20
    ? 0x20000000
    : (constants.O_NOFOLLOW ?? 0);

/** Windows has no O_NONBLOCK, and opening never blocks there. */
const READ_FLAGS = constants.O_RDONLY | (constants.O_NONBLOCK ?? 0);

/** Opens the entry at `path` itself, not a link's target. */
export function openUnlinked(path: string, flags: number, mode?: number): Promise<FileHandle> {
  return openHandle(path, flags | NOFOLLOW, mode);
}

/** What a path leads to, before it is judged or opened. */
export interface Target {
  /** A path for fs calls on it. */
  readonly at: string;
  readonly realPath: string;
  readonly stat: Stats;
  /** Only for what is inside: a file server may block it. */
  kind(): FileSystemKind;
  open(): ReadHandle | Promise<ReadHandle>;
  /** Whether it is still at its path, and is what was opened; absent if nothing can change that. */
  isStill?(opened?: ReadHandle): Promise<boolean>;
  close(): void;
}

/** How many times a path is checked before it is trusted. */
const CHECKS = 5;

/**
 * macOS, Windows, and Linux without /proc: verifies the real path, opens it without following a link, and compares its
 * device and inode before and after. Reads use the opened handle.
 *
 * This is weaker than on Linux, especially when directories are changed: `entry` is a path, so `verify` detects a
 * swapped parent only afterwards. Reading on macOS is as safe as on Linux, because no component may be a link
 * (`openUnlinked`); elsewhere, a program would have to swap a parent directory at the right microsecond a dozen times
 * within one call.
 *
 * @returns undefined if it changed in between
 */
export async function byPath(path: string): Promise<Target | undefined> {
  const realPath = await realpath(path);
  const stat = await lstat(realPath);
  const identity = await lstat(realPath, { bigint: true });
  if (stat.isSymbolicLink() || stat.ino !== Number(identity.ino)) return undefined;
  return {
    at: realPath,
    realPath,
    stat,
    kind: () => fileSystemKind(realPath),
    open: () => openUnlinked(realPath, READ_FLAGS),
    isStill: async (opened) =>
      isAt(realPath, identity) &&
      (opened === undefined || isSame(await opened.stat({ bigint: true }), identity)),
    close() {},
  };
}

/**
 * Whether `realPath` is still a real path and still refers to the same file. It is checked several times in a row: a
 * program that swaps a directory back and forth has to hit the microseconds between two checks each time.
 */
function isAt(realPath: string, identity: Identity): boolean {
  try {
    for (let check = 0; check < CHECKS; check++) {
      if (realpathSync.native(realPath) !== realPath) return false;
      if (!isSame(lstatSync(realPath, { bigint: true }), identity)) return false;
    }
    return true;
  } catch {
    return false;
  }
}

/** The first bytes of a local file are read synchronously, in about 10 µs; each use of the thread pool costs 15 to 20. */
const SMALL_BYTES = 64 * 1024;

const readLater = promisify(read);
const readWhole = promisify(readFile);

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
