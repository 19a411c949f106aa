import { closeSync, constants, fstatSync, open, openSync, readlinkSync, statSync } from "node:fs";
import { open as openHandle } from "node:fs/promises";
import { dirname, sep } from "node:path";
import { promisify } from "node:util";
import { directoryAround, type FileSystemKind, fileSystemKind } from "./check.ts";
import { byPath, openLocal, type Target } from "./open-portable.ts";
import {
  inSpecialFileSystem,
  leadsOutsideError,
  pathError,
  specialFileError,
} from "./path-errors.ts";
import type { AllowedDirectories, AllowedDirectory, Opener } from "./types.ts";

/** How a guard verifies what it opened: by the kernel's own path (Linux), or by comparing before and after. */
export type Verification = "proc" | "portable";

/** How many attempts are made to open a path that keeps being swapped. */
const MAX_ATTEMPTS = 5;

/** Opens what is in the allowed directories, and nothing else. */
export function openerOf(allowed: AllowedDirectories, verification: Verification): Opener {
  const locate = verification === "proc" ? byDescriptor() : byPath;

  /** @throws ToolError `denied` for what no tool may open */
  function judge({ realPath, stat, kind }: Target, requestedPath: string): AllowedDirectory {
    const directory = directoryAround(realPath, allowed);
    if (!directory && allowed.hidden?.hides(realPath)) throw pathError("hidden", requestedPath);
    if (!directory) throw leadsOutsideError(requestedPath, allowed);
    if (!stat.isFile() && !stat.isDirectory()) throw specialFileError(requestedPath, stat);
    if (kind() === "special") throw inSpecialFileSystem(requestedPath);
    return directory;
  }

  /** Opens what is at `path`, unless that changes in between; then it tries again. */
  async function openWithRetry<Opened>(
    path: string,
    requestedPath: string,
    open: (target: Target, directory: AllowedDirectory) => Promise<Opened | undefined>,
  ): Promise<Opened> {
    for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
      const target = await locate(path);
      if (target === undefined) continue;
      try {
        const result = await open(target, judge(target, requestedPath));
        if (result !== undefined) return result;
      } catch (error) {
        target.close();
        throw error;
      }
      target.close();
    }
    throw pathError("changed_meanwhile", requestedPath);
  }

  return {
    openFile: (path, requestedPath) =>
      openWithRetry(path, requestedPath, async (target, directory) => {
        const { realPath, stat } = target;
        if (!stat.isFile()) throw pathError("is_directory", requestedPath);
        const handle = await target.open();
        if (target.isStill && !(await target.isStill(handle).catch(() => false)))
          return void (await handle.close());
        target.close();
        return { handle, path: requestedPath, realPath, stat, directory };
      }),

    openDirectory: (path, requestedPath) =>
      openWithRetry(path, requestedPath, async (target, directory) => {
        const { at, realPath, stat } = target;
        if (!stat.isDirectory()) throw pathError("not_directory", requestedPath);
        if (target.isStill && !(await target.isStill())) return undefined;
        const begin = at.endsWith(sep) ? at : at + sep;
        let isClosed = false;
        return {
          path: requestedPath,
          realPath,
          stat,
          directory,
          isLocal: target.kind() === "local",
          entry(name) {
            // The number may now refer to another directory.
            if (isClosed) throw new Error(`Used after it was closed: ${requestedPath}`);
            if (/^\.\.?$|[/\0]/.test(name) || name.includes(sep))
              throw new TypeError(`Not a valid directory entry name: ${JSON.stringify(name)}`);
            return begin + (name === "" ? "." : name);
          },
          async verify() {
            if (target.isStill && !(await target.isStill()))
              throw pathError("changed_meanwhile", requestedPath);
          },
          async close() {
            if (!isClosed) target.close();
            isClosed = true;
          },
        };
      }),
  };
}

/**
 * open(2), O_PATH: locates a file without opening it. So a FIFO does not block, a device does nothing, and not even the
 * access time of a file outside changes. Node.js has no constant for it; the value is the same on every architecture
 * that Node.js supports.
 */
const O_PATH = 0o10000000;
const openDescriptor = promisify(open);

/** Whether this system has what `byDescriptor` needs: O_PATH and a mounted /proc. */
export function hasProc(): boolean {
  if (process.platform !== "linux") return false;
  const fd = openSync("/", O_PATH);
  const at = `/proc/self/fd/${fd}`;
  try {
    return readlinkSync(at) === "/" && statSync(`${at}/.`).isDirectory();
  } catch {
    return false;
  } finally {
    closeSync(fd);
  }
}

/** How long it is remembered which file system is local: on a network file system, asking again may block. */
const REMEMBERED_MS = 10_000;

/**
 * Linux: locates a file (O_PATH), verifies the path that the kernel reports for it, and only then opens it, through the
 * descriptor, whose path in /proc leads to it even if it was renamed. Swapping links or directories cannot interfere
 * (CVE-2025-53109). The calls on the descriptor take microseconds and never wait for a disk, so they are synchronous.
 * Locating a path may wait for a file server, so it is synchronous only for a directory that was just on a local disk, and
 * what is in it.
 */
function byDescriptor(): (path: string) => Promise<Target> {
  const kinds = new Map<number, FileSystemKind>();
  const localDirectories = new Set<string>();
  let since = performance.now();

  /** A link may lead to any file system, so it is followed in the thread pool. */
  async function find(path: string) {
    if (performance.now() - since > REMEMBERED_MS) {
      kinds.clear();
      localDirectories.clear();
      since = performance.now();
    }
    if (localDirectories.has(dirname(path)) || localDirectories.has(path)) {
      const opened = describe(openSync(path, O_PATH | constants.O_NOFOLLOW));
      if (!opened.stat.isSymbolicLink()) return opened;
      closeSync(opened.fd);
    }
    return describe(await openDescriptor(path, O_PATH));
  }

  return async (path) => {
    const { fd, at, stat, kernelPath } = await find(path);
    // The kernel marks the path of a file that was deleted or replaced just now.
    const realPath = stat.nlink === 0 ? kernelPath.replace(/ \(deleted\)$/, "") : kernelPath;
    const kind = () => {
      const kind = kinds.get(stat.dev) ?? fileSystemKind(at);
      kinds.set(stat.dev, kind);
      // Only a path without links, since a link may lead through another file system to this one.
      if (kind === "local" && realPath === path)
        localDirectories.add(stat.isDirectory() ? realPath : dirname(realPath));
      return kind;
    };
    return {
      at,
      realPath,
      stat,
      kind,
      open: () =>
        (kind() === "local" ? openLocal(at) : undefined) ?? openHandle(at, constants.O_RDONLY),
      close: () => closeSync(fd),
    };
  };
}

/** What a descriptor refers to. Closes it on an error: the kernel names no path that is longer than its limit. */
function describe(fd: number) {
  const at = `/proc/self/fd/${fd}`;
  try {
    return { fd, at, stat: fstatSync(fd), kernelPath: readlinkSync(at) };
  } catch (error) {
    closeSync(fd);
    throw error;
  }
}
