import {
  type BigIntStats,
  closeSync,
  constants,
  createReadStream,
  fstatSync,
  open,
  openSync,
  type ReadStream,
  read,
  readFile,
  readlinkSync,
  readSync,
  statSync,
} from "node:fs";
import { type FileHandle, open as openHandle } from "node:fs/promises";
import { dirname } from "node:path";
import { promisify } from "node:util";
import { directoryAround, type FileSystemKind, fileSystemKind } from "./check.ts";
import { explain } from "./explain.ts";
import {
  errorCode,
  hiddenPlace,
  inSpecialFileSystem,
  leadsOutside,
  pathError,
  specialFile,
} from "./path-errors.ts";
import type {
  AllowedDirectories,
  GuardContext,
  GuardedDirectory,
  GuardedFile,
  Opener,
  ReadHandle,
} from "./types.ts";

export async function openFileAt(path: string, context: GuardContext): Promise<GuardedFile> {
  return context.opener.openFile(path, path).catch(async (error: unknown) => {
    throw await explain(error, path, context);
  });
}

export async function openDirectoryAt(
  path: string,
  context: GuardContext,
): Promise<GuardedDirectory> {
  return context.opener.openDirectory(path, path).catch(async (error: unknown) => {
    throw await explain(error, path, context);
  });
}

/** Checks that `name` is a single component, as `entry` requires. */
export function checkEntryName(name: string): void {
  if (
    name === "." ||
    name === ".." ||
    /[/\0]/.test(name) ||
    (process.platform === "win32" && name.includes("\\"))
  ) {
    throw new TypeError(`Not a valid directory entry name: ${JSON.stringify(name)}`);
  }
}

/**
 * open(2) on macOS 11 and newer: refuses a link in any component, not only in the last. Node.js has no constant for it.
 */
const O_NOFOLLOW_ANY = 0x20000000;

/** Opens the entry at `path` itself, not a link's target. Windows has no such flag, so callers compare identities. */
export async function openUnlinked(
  path: string,
  flags: number,
  mode?: number,
): Promise<FileHandle> {
  if (process.platform !== "darwin")
    return openHandle(path, flags | (constants.O_NOFOLLOW ?? 0), mode);
  try {
    return await openHandle(path, flags | O_NOFOLLOW_ANY, mode);
  } catch (error) {
    if (errorCode(error) !== "EINVAL") throw error;
    return openHandle(path, flags | constants.O_NOFOLLOW, mode);
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
export class LocalFile implements ReadHandle {
  #fd: number;

  private constructor(fd: number) {
    this.#fd = fd;
  }

  /** Undefined if opening would block: for another program's lease, fcntl(2). */
  static open(path: string): LocalFile | undefined {
    try {
      return new LocalFile(openSync(path, constants.O_RDONLY | constants.O_NONBLOCK));
    } catch (error) {
      if (errorCode(error) === "EAGAIN") return undefined;
      throw error;
    }
  }

  get fd(): number {
    return this.#fd;
  }

  async read(buffer: Uint8Array, offset: number, length: number, position: number) {
    return position + length > SMALL_BYTES
      ? readLater(this.#fd, buffer, offset, length, position)
      : { bytesRead: readSync(this.#fd, buffer, offset, length, position) };
  }

  readFile(): Promise<Buffer>;
  readFile(encoding: "utf8"): Promise<string>;
  readFile(encoding?: "utf8"): Promise<Buffer | string> {
    return readWhole(this.#fd, encoding);
  }

  async stat(options: { bigint: true }): Promise<BigIntStats> {
    return fstatSync(this.#fd, options);
  }

  createReadStream(options: { start: number; autoClose: false }): ReadStream {
    // A destroyed stream closes its descriptor anyway; when we close it, the number may refer to another file.
    const fs = { open, read, close: (_fd: number, done: () => void) => done() };
    return createReadStream("", { ...options, fd: this.#fd, fs });
  }

  async close(): Promise<void> {
    const fd = this.#fd;
    this.#fd = -1;
    if (fd !== -1) closeSync(fd);
  }
}

/**
 * open(2), O_PATH: locates a file without opening it. So a FIFO does not block, a device does nothing, and not even the
 * access time of a file outside changes. Node.js has no constant for it; the value is the same on every architecture
 * that Node.js supports.
 */
const O_PATH = 0o10000000;
const openDescriptor = promisify(open);

/** A path to the file of descriptor `fd`, even if it was renamed: proc_pid_fd(5). */
function through(fd: number): string {
  return `/proc/self/fd/${fd}`;
}

/** Whether this system has what `procOpener` needs: O_PATH and a mounted /proc. */
export function hasProc(): boolean {
  if (process.platform !== "linux") return false;
  let fd: number | undefined;
  try {
    fd = openSync("/", O_PATH);
    return readlinkSync(through(fd)) === "/" && statSync(`${through(fd)}/.`).isDirectory();
  } catch {
    return false;
  } finally {
    if (fd !== undefined) closeSync(fd);
  }
}

/**
 * Linux: locates a file (O_PATH), verifies the path that the kernel reports for it, and only then opens it, through the
 * descriptor. Swapping links or directories cannot interfere (CVE-2025-53109). The calls on the descriptor take
 * microseconds and never wait for a disk, so they are synchronous. Locating a file may wait for a file server, so it is
 * synchronous only in a directory that was on a local disk in the last ten seconds.
 */
export function procOpener(allowed: AllowedDirectories): Opener {
  const recent = recentFileSystems();

  /** Locates the target of `path`. A link may lead to any file system, so it is followed in the thread pool. */
  async function find(path: string): Promise<number> {
    if (recent().localDirectories.has(dirname(path))) {
      const fd = openSync(path, O_PATH | constants.O_NOFOLLOW);
      if (!fstatSync(fd).isSymbolicLink()) return fd;
      closeSync(fd);
    }
    return openDescriptor(path, O_PATH);
  }

  function verify(fd: number, requested: string, asked: string) {
    const stat = fstatSync(fd);
    const path = readlinkSync(through(fd));
    // The kernel marks the path of a file that was deleted or replaced just now.
    const realPath = stat.nlink === 0 ? path.replace(/ \(deleted\)$/, "") : path;
    if (allowed.hidden?.hides(realPath)) throw hiddenPlace(asked);
    const directory = directoryAround(realPath, allowed);
    if (directory === undefined) throw leadsOutside(asked, allowed);
    if (!stat.isFile() && !stat.isDirectory()) throw specialFile(asked, stat);
    const { kinds, localDirectories } = recent();
    const kind = kinds.get(stat.dev) ?? fileSystemKind(through(fd));
    kinds.set(stat.dev, kind);
    if (kind === "special") throw inSpecialFileSystem(asked);
    // Only a path without links, since a link may lead through another file system to this one.
    if (kind === "local" && realPath === requested)
      localDirectories.add(stat.isDirectory() ? realPath : dirname(realPath));
    return { kind, found: { stat, realPath, directory } };
  }

  return {
    hidden: allowed.hidden,

    async openFile(path, asked) {
      const fd = await find(path);
      try {
        const { kind, found } = verify(fd, path, asked);
        if (!found.stat.isFile()) throw pathError("is_directory", asked);
        const local = kind === "local" ? LocalFile.open(through(fd)) : undefined;
        const handle = local ?? (await openHandle(through(fd), constants.O_RDONLY));
        return { handle, path: asked, ...found };
      } finally {
        closeSync(fd);
      }
    },

    async openDirectory(path, asked) {
      const fd = await find(path);
      try {
        const { found } = verify(fd, path, asked);
        if (!found.stat.isDirectory()) throw pathError("not_directory", asked);
        let closed = false;
        return {
          path: asked,
          ...found,
          entry(name) {
            // The number may now refer to another directory.
            if (closed) throw new Error(`Used after it was closed: ${asked}`);
            checkEntryName(name);
            return `${through(fd)}/${name === "" ? "." : name}`;
          },
          async verify() {},
          async close() {
            if (closed) return;
            closed = true;
            closeSync(fd);
          },
        };
      } catch (error) {
        closeSync(fd);
        throw error;
      }
    },
  };
}

/** File systems seen in the last ten seconds: on a network file system, asking again may block. */
function recentFileSystems() {
  const kinds = new Map<number, FileSystemKind>();
  const localDirectories = new Set<string>();
  let since = performance.now();
  return () => {
    const now = performance.now();
    if (now - since > 10_000) {
      kinds.clear();
      localDirectories.clear();
      since = now;
    }
    return { kinds, localDirectories };
  };
}
