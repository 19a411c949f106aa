import {
  closeSync,
  constants,
  fstatSync,
  lstatSync,
  open,
  openSync,
  readlinkSync,
  type Stats,
  statSync,
} from "node:fs";
import { open as openHandle } from "node:fs/promises";
import { basename, dirname } from "node:path";
import { promisify } from "node:util";
import { type FileSystemKind, fileSystemKind, hasOtherName, type Membership } from "./membership.ts";
import { checkEntryName, type Opener } from "./opener.ts";
import { mayBeInside } from "./platform.ts";
import { SMALL_BYTES, SmallFile } from "./read-handle.ts";
import { isDirectory, isNotDirectory, leadsOutside, specialFile, specialPlace } from "./refusals.ts";
import { type AllowedDirectory, type Bound, type GuardedDirectory, type Identity, isSame } from "./types.ts";

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
export function procOpener(bound: Bound, membership: Membership): Opener {
  const remembered = shortMemory();

  /** Locates the target of `path`. A link may lead to any file system, so it is followed in the thread pool. */
  async function find(path: string): Promise<number> {
    if (remembered().localDirectories.has(dirname(path))) {
      const fd = openSync(path, O_PATH | constants.O_NOFOLLOW);
      if (!fstatSync(fd).isSymbolicLink()) return fd;
      closeSync(fd);
    }
    return openDescriptor(path, O_PATH);
  }

  function verify(fd: number, path: string, asked: string) {
    const stat = fstatSync(fd);
    const realPath = kernelPath(fd, stat);
    let directory = membership.surelyAround(realPath);
    if (hasOtherName(realPath, bound, "linux")) {
      directory = aroundByIdentity(fd, stat, realPath, bound) ?? directory;
    }
    if (directory === undefined) throw leadsOutside(asked, bound);
    if (!stat.isFile() && !stat.isDirectory()) throw specialFile(asked, stat);
    const { kinds, localDirectories } = remembered();
    const kind = kinds.get(stat.dev) ?? fileSystemKind(through(fd));
    kinds.set(stat.dev, kind);
    if (kind === "special") throw specialPlace(asked);
    // Only a path without links, since a link may lead through another file system to this one.
    if (kind === "local" && realPath === path)
      localDirectories.add(stat.isDirectory() ? path : dirname(path));
    return { kind, found: { stat, realPath, directory } };
  }

  return {
    async openFile(path, asked) {
      const fd = await find(path);
      try {
        const { kind, found } = verify(fd, path, asked);
        if (!found.stat.isFile()) throw isDirectory(asked);
        const isSmall = kind === "local" && found.stat.size <= SMALL_BYTES;
        const small = isSmall ? SmallFile.open(through(fd)) : undefined;
        const handle = small ?? (await openHandle(through(fd), constants.O_RDONLY));
        return { handle, path: asked, ...found };
      } finally {
        closeSync(fd);
      }
    },

    async openDirectory(path, asked) {
      const fd = await find(path);
      try {
        const { found } = verify(fd, path, asked);
        if (!found.stat.isDirectory()) throw isNotDirectory(asked);
        return guardedDirectory(fd, asked, found);
      } catch (error) {
        closeSync(fd);
        throw error;
      }
    },
  };
}

function guardedDirectory(
  fd: number,
  path: string,
  verified: Pick<GuardedDirectory, "stat" | "realPath" | "directory">,
): GuardedDirectory {
  let closed = false;
  return {
    path,
    ...verified,
    entry(name) {
      // The number may now refer to another directory.
      if (closed) throw new Error(`Used after it was closed: ${path}`);
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
  bound: Bound,
): AllowedDirectory | undefined {
  const candidates: { directory: AllowedDirectory; identity: Identity }[] = [];
  for (const directory of bound.directories()) {
    if (directory.unavailable !== undefined || !mayBeInside(realPath, directory.realPath, "linux")) continue;
    const identity = statSync(directory.realPath, { bigint: true, throwIfNoEntry: false });
    if (identity !== undefined) candidates.push({ directory, identity });
  }
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

function climb(
  fd: number,
  candidates: readonly { directory: AllowedDirectory; identity: Identity }[],
): AllowedDirectory | undefined {
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
function shortMemory() {
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
