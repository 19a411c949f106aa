import {
  closeSync,
  constants,
  type Dirent,
  lstatSync,
  openSync,
  readdirSync,
  realpathSync,
  type Stats,
} from "node:fs";
import { readFile } from "node:fs/promises";
import { join, sep } from "node:path";
import {
  errorCode,
  type GuardedDirectory,
  type HiddenPlaces,
  type PathGuard,
} from "@refmcp/boundary";
import { ToolError } from "@refmcp/boundary/answer";

export type EntryType = "file" | "directory" | "link" | "other";

export interface Entry {
  readonly name: string;
  readonly type: EntryType;
}

/**
 * A directory at or below one that the guard opened, for walks: synchronous, and cheap enough for a hundred thousand
 * directories (about 10 µs more than a plain `readdir`).
 */
export interface WalkedDirectory {
  readonly realPath: string;
  /** The entries sorted by name (UTF-16 code units); undefined if they cannot be read. */
  entries(): Entry[] | undefined;
  /** A path for fs calls on the entry `name`, valid until `close`. */
  entry(name: string): string;
  /** Opens the subdirectory `name`, never through a link. */
  child(name: string): WalkedDirectory | Unopened;
  /** Keeps it open after `close`, until the returned function is called. */
  keep(): () => void;
  close(): void;
}

/** Why a directory was not opened: it is gone or was replaced, or the system denied access. */
export type Unopened = "gone" | "unreadable";

/** For files: does not follow a link in the last component, and does not wait for a FIFO. */
export const FILE_FLAGS =
  constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0);

/** O_DIRECTORY and O_NOFOLLOW: a link, even to a directory, is not opened. */
const DIRECTORY_FLAGS =
  constants.O_RDONLY | (constants.O_DIRECTORY ?? 0) | (constants.O_NOFOLLOW ?? 0);

/** The start of a walk, which never enters `/proc` and similar. The caller closes `directory` after the walk. */
export async function walkedDirectory(
  guard: PathGuard,
  directory: GuardedDirectory,
): Promise<WalkedDirectory> {
  const { realPath } = directory;
  const at = directory.entry("");
  const { hidden } = guard.allowed;
  if (!at.startsWith("/proc/self/fd/")) return withoutHidden(byPath(realPath), hidden);
  return withoutHidden(byDescriptor(realPath, at, await forbiddenMounts(guard, realPath)), hidden);
}

/** The same directory without the server's own places, at any depth. */
function withoutHidden(
  directory: WalkedDirectory,
  hidden: HiddenPlaces | undefined,
): WalkedDirectory {
  if (hidden === undefined) return directory;
  const { realPath } = directory;
  const begin = realPath.endsWith(sep) ? realPath : realPath + sep;
  return {
    ...directory,
    entries: () => directory.entries()?.filter(({ name }) => !hidden.hides(begin + name)),
    child(name) {
      if (hidden.hides(begin + name)) return "gone";
      const child = directory.child(name);
      return typeof child === "string" ? child : withoutHidden(child, hidden);
    },
  };
}

/**
 * Linux: opens every directory from its parent's descriptor (as openat(2) does), so the walk never leaves the verified
 * tree, even if directories are swapped for symlinks (CVE-2025-53109).
 */
function byDescriptor(
  realPath: string,
  at: string,
  forbidden: ReadonlySet<string>,
  closeLast = () => {},
): WalkedDirectory {
  let users = 1;
  const close = () => {
    users -= 1;
    if (users === 0) closeLast();
  };
  return {
    realPath,
    entries: () => readEntries(at),
    entry: (name) => `${at}/${name}`,
    child(name) {
      const path = `${realPath === "/" ? "" : realPath}/${name}`;
      if (forbidden.has(path)) return "unreadable";
      try {
        const fd = openSync(`${at}/${name}`, DIRECTORY_FLAGS);
        return byDescriptor(path, `/proc/self/fd/${fd}`, forbidden, () => closeSync(fd));
      } catch (error) {
        const code = unlessStarved(error);
        return code === "EACCES" || code === "EPERM" ? "unreadable" : "gone";
      }
    },
    keep() {
      users += 1;
      return close;
    },
    close,
  };
}

/** Maximum attempts to read a directory until two readings agree. */
const MAX_READINGS = 5;

/**
 * Other systems: a path, checked before and after each of two readings, which must agree. If its real path differs,
 * there is a link in it and nothing is read. To go unnoticed, a program would have to swap the directory for a link and
 * back during both readings.
 */
function byPath(realPath: string): WalkedDirectory {
  const entry = (name: string) => join(realPath, name);
  return {
    realPath,
    entries() {
      let before: string | undefined;
      for (let reading = 0; reading < MAX_READINGS; reading++) {
        const entries = isItself(realPath) ? readEntries(realPath) : undefined;
        if (entries === undefined || !isItself(realPath)) return undefined;
        const found = JSON.stringify(entries);
        if (found === before) return entries;
        before = found;
      }
      return undefined;
    },
    entry,
    child: (name) => (isItself(entry(name)) ? byPath(entry(name)) : "gone"),
    keep: () => () => {},
    close() {},
  };
}

function isItself(path: string): boolean {
  try {
    return realpathSync.native(path) === path && lstatSync(path).isDirectory();
  } catch {
    return false;
  }
}

function readEntries(at: string): Entry[] | undefined {
  let found: Dirent[];
  try {
    found = readdirSync(at, { withFileTypes: true });
  } catch (error) {
    unlessStarved(error);
    return undefined;
  }
  const entries = found.map((entry): Entry => ({ name: entry.name, type: typeOf(entry) }));
  return entries.sort((a, b) => (a.name < b.name ? -1 : 1));
}

/** The type of a directory entry or an `lstat` result. */
export function typeOf(
  entry: Pick<Dirent | Stats, "isFile" | "isDirectory" | "isSymbolicLink">,
): EntryType {
  if (entry.isFile()) return "file";
  if (entry.isDirectory()) return "directory";
  return entry.isSymbolicLink() ? "link" : "other";
}

/** lstat of an entry; undefined if it is gone or cannot be read. */
export function statOf(path: string): Stats | undefined {
  try {
    return lstatSync(path, { throwIfNoEntry: false });
  } catch {
    return undefined;
  }
}

/**
 * The code of an error of the operating system. A directory that cannot be opened is skipped, except if the process has
 * no free descriptors: then everything would be skipped.
 */
function unlessStarved(error: unknown): string | undefined {
  const code = errorCode(error);
  if (code === "EMFILE" || code === "ENFILE") throw error;
  return code;
}

/** The fifth field of proc_pid_mountinfo(5), where spaces and similar characters are written in octal. */
export function mountPoints(table: string): string[] {
  const points: string[] = [];
  for (const line of table.split("\n")) {
    const field = line.split(" ")[4];
    if (field === undefined) continue;
    points.push(
      field.replace(/\\([0-7]{3})/g, (_, octal: string) =>
        String.fromCharCode(Number.parseInt(octal, 8)),
      ),
    );
  }
  return points;
}

/** Mount points below `realPath` that no walk may enter: `/proc` and similar, wherever they are mounted. */
async function forbiddenMounts(guard: PathGuard, realPath: string): Promise<ReadonlySet<string>> {
  const forbidden = new Set<string>();
  // Only Linux has this table.
  const table = await readFile("/proc/self/mountinfo", "utf8").catch(() => "");
  const begin = realPath.endsWith(sep) ? realPath : realPath + sep;
  for (const point of mountPoints(table)) {
    if (!point.startsWith(begin) || point === begin) continue;
    try {
      await (await guard.openDirectory(point)).close();
    } catch (error) {
      // A file can also be a mount point, but walks do not enter it.
      if (error instanceof ToolError && error.kind === "denied") forbidden.add(point);
    }
  }
  return forbidden;
}
