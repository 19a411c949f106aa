import {
  type BigIntStats,
  closeSync,
  constants,
  createReadStream,
  fstatSync,
  lstatSync,
  open,
  openSync,
  type ReadStream,
  read,
  readFile,
  readlinkSync,
  readSync,
  type Stats,
  statSync,
} from "node:fs";
import { type FileHandle, open as openHandle } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { promisify } from "node:util";
import {
  type Candidate,
  candidatesByIdentity,
  type FileSystemKind,
  fileSystemKind,
  surelyAround,
} from "./check.ts";
import { explain, storedPath } from "./explain.ts";
import {
  errorCode,
  hiddenPlace,
  inSpecialFileSystem,
  isMissing,
  leadsOutside,
  pathError,
  specialFile,
} from "./path-errors.ts";
import {
  type AllowedDirectories,
  type AllowedDirectory,
  type GuardContext,
  type GuardedDirectory,
  type GuardedFile,
  type Identity,
  isSame,
  type Opener,
  type ReadHandle,
} from "./types.ts";

export function openFileAt(path: string, context: GuardContext): Promise<GuardedFile> {
  return openStored(path, context, (candidate) => context.opener.openFile(candidate, path));
}

export function openDirectoryAt(path: string, context: GuardContext): Promise<GuardedDirectory> {
  return openStored(path, context, (candidate) => context.opener.openDirectory(candidate, path));
}

/** Tries the path unchanged, then in the Unicode form in which it is stored. */
async function openStored<Opened>(
  path: string,
  context: GuardContext,
  open: (candidate: string) => Promise<Opened>,
): Promise<Opened> {
  let candidate: string | undefined = path;
  for (;;) {
    try {
      return await open(candidate);
    } catch (error) {
      candidate = isMissing(error) ? await storedPath(candidate, context) : undefined;
      if (candidate === undefined) throw await explain(error, path, context);
    }
  }
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

const own = new WeakSet<GuardedDirectory>();

/**
 * A private directory outside the allowed ones, such as a journal, from and to which trees can be copied. Its path comes from
 * the server itself, never from an argument.
 */
export function ownDirectory(path: string): GuardedDirectory {
  const directory = {
    path,
    realPath: path,
    stat: statSync(path),
    directory: { path, realPath: path, source: "argument" as const, writable: true },
    entry(name: string) {
      if (name !== "") checkEntryName(name);
      return join(path, name);
    },
    verify: async () => {},
    close: async () => {},
  };
  own.add(directory);
  return directory;
}

/** Opens files and directories below a private directory; there is nothing to verify, but links are not followed. */
const ownOpener: Opener = {
  async openFile(path, asked) {
    const handle = await openUnlinked(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
    const { directory } = ownDirectory(join(path, ".."));
    return { handle, path: asked, realPath: path, stat: await handle.stat(), directory };
  },
  openDirectory: async (path) => ownDirectory(path),
};

export function openerBelow(parent: GuardedDirectory, opener: Opener): Opener {
  return own.has(parent) ? ownOpener : opener;
}

/** The first bytes of a local file are read synchronously, in about 10 µs; each use of the thread pool costs 15 to 20. */
export const SMALL_BYTES = 64 * 1024;

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

  function verify(fd: number, path: string, asked: string) {
    const stat = fstatSync(fd);
    const realPath = kernelPath(fd, stat);
    if (allowed.hidden?.hides(realPath)) throw hiddenPlace(asked);
    const around = surelyAround(realPath, allowed);
    const candidates = candidatesByIdentity(realPath, allowed);
    const directory = aroundByIdentity(fd, stat, realPath, candidates) ?? around;
    if (directory === undefined) throw leadsOutside(asked, allowed);
    if (!stat.isFile() && !stat.isDirectory()) throw specialFile(asked, stat);
    const { kinds, localDirectories } = recent();
    const kind = kinds.get(stat.dev) ?? fileSystemKind(through(fd));
    kinds.set(stat.dev, kind);
    if (kind === "special") throw inSpecialFileSystem(asked);
    // Only a path without links, since a link may lead through another file system to this one.
    if (kind === "local" && realPath === path)
      localDirectories.add(stat.isDirectory() ? path : dirname(path));
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

/** The path that the kernel reports for an open file, without the suffix that it adds to a deleted one. */
function kernelPath(fd: number, stat: Stats): string {
  const path = readlinkSync(through(fd));
  const mark = " (deleted)";
  if (!path.endsWith(mark)) return path;
  if (stat.nlink > 0) {
    const named = lstatSync(path, { bigint: true, throwIfNoEntry: false });
    if (named !== undefined && isSame(named, fstatSync(fd, { bigint: true }))) return path;
  }
  return path.slice(0, -mark.length);
}

/**
 * For file systems where a directory can have several names (case, Unicode form), so the kernel's path may differ from
 * ours: goes up from the file with `..`, which no link can divert, until it finds an allowed directory.
 */
function aroundByIdentity(
  fd: number,
  stat: Stats,
  realPath: string,
  candidates: readonly Candidate[],
): AllowedDirectory | undefined {
  if (candidates.length === 0) return undefined;
  if (stat.isDirectory()) return climb(fd, candidates);
  const parent = openSync(dirname(realPath), O_PATH | constants.O_DIRECTORY | constants.O_NOFOLLOW);
  try {
    const entry = lstatSync(`${through(parent)}/${basename(realPath)}`, {
      bigint: true,
      throwIfNoEntry: false,
    });
    if (entry === undefined || !isSame(entry, fstatSync(fd, { bigint: true }))) return undefined;
    return climb(parent, candidates);
  } finally {
    closeSync(parent);
  }
}

function climb(fd: number, candidates: readonly Candidate[]): AllowedDirectory | undefined {
  let path = `${through(fd)}/.`;
  let below: Identity | undefined;
  while (path.length < 4096) {
    const here = statSync(path, { bigint: true });
    const found = candidates.find(({ identity }) => isSame(identity, here));
    if (found !== undefined) return found.directory;
    if (below !== undefined && isSame(below, here)) return undefined;
    below = here;
    path += "/..";
  }
  return undefined;
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
