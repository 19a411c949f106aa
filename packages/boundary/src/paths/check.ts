import { statfsSync, statSync } from "node:fs";
import { lstat, realpath, stat } from "node:fs/promises";
import { homedir } from "node:os";
import { dirname, join, relative, resolve } from "node:path";
import { directoryUnavailable, inSpecialFileSystem, outside } from "./path-errors.ts";
import { foldsCase, isInside, mayBeInside, type Platform, parsePath } from "./resolve.ts";
import { type AllowedDirectories, type AllowedDirectory, type Identity, isSame } from "./types.ts";

/**
 * The innermost of `directories` around an absolute path, by its text.
 *
 * @param asWritten the path may not be a real one: also compares the directories as configured, and ignores case where
 *   the system does
 */
export function innermost(
  directories: readonly AllowedDirectory[],
  path: string,
  {
    asWritten = false,
    platform = process.platform,
  }: { asWritten?: boolean; platform?: Platform } = {},
): AllowedDirectory | undefined {
  const inside = asWritten && foldsCase(platform) ? mayBeInside : isInside;
  let found: AllowedDirectory | undefined;
  let length = -1;
  for (const directory of directories) {
    for (const start of asWritten ? [directory.path, directory.realPath] : [directory.realPath]) {
      if (start.length <= length || !inside(path, start, platform)) continue;
      found = directory;
      length = start.length;
    }
  }
  return found;
}

function availableOf(allowed: AllowedDirectories): AllowedDirectory[] {
  return allowed.directories().filter(({ unavailable }) => unavailable === undefined);
}

/** The innermost allowed directory around an absolute real path, from cached state. */
export function directoryAround(
  realPath: string,
  allowed: AllowedDirectories,
): AllowedDirectory | undefined {
  if (isSpecialPlace(realPath) || allowed.hidden?.hides(realPath)) return undefined;
  const found = innermost(allowed.directories(), realPath);
  if (found?.unavailable === undefined) return found;
  // It may have returned, and be read-only even if its parent is not.
  allowed.refresh?.();
  return innermost(availableOf(allowed), realPath);
}

/** The same, but checks the directories again before it returns undefined. */
export function surelyAround(
  realPath: string,
  allowed: AllowedDirectories,
): AllowedDirectory | undefined {
  const found = directoryAround(realPath, allowed);
  if (found !== undefined || allowed.refresh === undefined) return found;
  allowed.refresh();
  return directoryAround(realPath, allowed);
}

/** The allowed directory around `path`, by its text, if the only one does not exist now. */
export function unavailableAround(
  path: string,
  allowed: AllowedDirectories,
): AllowedDirectory | undefined {
  return isAvailable(path, allowed)
    ? undefined
    : innermost(allowed.directories(), path, { asWritten: true });
}

function isAvailable(path: string, allowed: AllowedDirectories): boolean {
  return innermost(availableOf(allowed), path, { asWritten: true }) !== undefined;
}

/**
 * The allowed directories that may contain `realPath` under another name (case, Unicode form), with what to compare its
 * ancestors with; none if its text decides.
 */
export function candidatesByIdentity(realPath: string, allowed: AllowedDirectories): Candidate[] {
  const similar = allowed.directories().filter((one) => mayBeInside(realPath, one.realPath));
  if (similar.every((one) => isInside(realPath, one.realPath))) return [];
  return similar.flatMap((directory) => {
    if (directory.unavailable !== undefined) return [];
    const identity = statSync(directory.realPath, { bigint: true, throwIfNoEntry: false });
    return identity === undefined ? [] : [{ directory, identity }];
  });
}

export interface Candidate {
  readonly directory: AllowedDirectory;
  readonly identity: Identity;
}

/**
 * Directories that show processes, devices and kernel state as files. `/proc/self/root` alone would give access to the
 * whole disk.
 */
const SPECIAL_PLACES = ["/proc", "/sys", "/dev"];

/** Whether an absolute real path is in a special file system, whatever directory is allowed. */
export function isSpecialPlace(realPath: string): boolean {
  if (process.platform === "win32" || isInside(realPath, "/dev/shm")) return false;
  return SPECIAL_PLACES.some((place) => isInside(realPath, place));
}

/** linux/magic.h: file systems that contain no user data, wherever they are mounted. */
const SPECIAL_TYPES = new Set([
  0x9fa0, // proc
  0x62656572, // sysfs
  0x1cd1, // devpts
  0x27e0eb, // cgroup
  0x63677270, // cgroup2
  0x64626720, // debugfs
  0x74726163, // tracefs
  0x73636673, // securityfs
  0x62656570, // configfs
  0xcafe4a11, // bpf
  0x6165676c, // pstore
  0xde5e81e4, // efivarfs
  0xf97cff8c, // selinuxfs
  0x6e736673, // nsfs
  0x42494e4d, // binfmt_misc
  0x19800202, // mqueue
]);

/** File systems on a disk of this machine or in its memory. */
const LOCAL_TYPES = new Set([
  0xef53, // ext2, ext3, ext4
  0x9123683e, // btrfs
  0x58465342, // xfs
  0xf2f52010, // f2fs
  0x2fc12fc1, // zfs
  0xca451a4e, // bcachefs
  0x794c7630, // overlayfs
  0x01021994, // tmpfs
]);

/** Local file systems that do not compress: `st_blocks` is never less than the data. */
const COUNTING_TYPES = new Set([0xef53, 0x58465342, 0x01021994]); // ext2 to ext4, xfs, tmpfs

/** Whether the blocks of a file at `path` say how much data it has at most. */
export function countsBlocks(path: string): boolean {
  try {
    return COUNTING_TYPES.has(statfsSync(path).type);
  } catch {
    return false;
  }
}

/** Special: contains no user data. Local: reading waits for no network and no other program. */
export type FileSystemKind = "special" | "local" | "other";

/** The kind of file system that `path` is on; "other" if unknown. Takes about a microsecond. */
export function fileSystemKind(path: string): FileSystemKind {
  try {
    const { type } = statfsSync(path);
    if (SPECIAL_TYPES.has(type)) return "special";
    return LOCAL_TYPES.has(type) ? "local" : "other";
  } catch {
    return "other";
  }
}

/**
 * Converts the text of an argument to an absolute, normalized path that is, judging by its text, inside an allowed
 * directory. Its target is known only when it is opened.
 *
 * A relative path is resolved against the first directory in which it exists, or else the first one.
 *
 * @throws ToolError `invalid`, `denied` (outside), `unavailable` (the allowed directory does not exist)
 */
export async function locate(text: string, allowed: AllowedDirectories): Promise<string> {
  const parsed = parsePath(text, { platform: process.platform, home: homedir });
  let path = parsed.absolute ? parsed.path : await belowDirectories(parsed.path, allowed);
  if (path === undefined) throw outside(text, allowed);
  if (!isAvailable(path, allowed)) {
    allowed.refresh?.();
    if (!isAvailable(path, allowed)) {
      const missing = unavailableAround(path, allowed);
      if (missing !== undefined) throw directoryUnavailable(text, missing);
      path = await underConfiguredName(path, allowed);
      if (path === undefined) throw outside(text, allowed);
    }
  }
  if (isSpecialPlace(path)) throw inSpecialFileSystem(text);
  return path;
}

/** Undefined if it would be outside. */
async function belowDirectories(
  path: string,
  allowed: AllowedDirectories,
): Promise<string | undefined> {
  const candidates = allowed.directories().map((directory) => resolve(directory.path, path));
  const inside = candidates.filter((candidate) => isBelow(candidate, allowed));
  if (candidates.length > 1) {
    for (const candidate of inside) {
      if (await exists(candidate, allowed)) return candidate;
    }
  }
  return inside.find((candidate) => candidate === candidates[0]);
}

function isBelow(path: string, allowed: AllowedDirectories): boolean {
  return innermost(allowed.directories(), path, { asWritten: true }) !== undefined;
}

/** A link that leads out of the allowed directories does not count: the choice would reveal its target. */
async function exists(path: string, allowed: AllowedDirectories): Promise<boolean> {
  try {
    if (!isBelow(await realpath(dirname(path)), allowed)) return false;
    await lstat(path);
    return true;
  } catch {
    return false;
  }
}

/**
 * Translates an absolute path that refers to an allowed directory by another name: through a link above it (macOS's
 * `/tmp`), in another case or Unicode form, or as a Windows short name. Its ancestors are compared by device and inode;
 * the result is below the directory as configured.
 *
 * Network shares are not accessed: connecting to an arbitrary server would send it the user's credentials.
 */
async function underConfiguredName(
  path: string,
  allowed: AllowedDirectories,
): Promise<string | undefined> {
  if (path.startsWith("\\\\")) return undefined;
  const known: Candidate[] = [];
  for (const directory of availableOf(allowed)) {
    const identity = await identify(directory.realPath);
    if (identity !== undefined) known.push({ directory, identity });
  }
  for (let at = path; known.length > 0; at = dirname(at)) {
    const identity = await identify(at);
    const match = known.find((one) => identity !== undefined && isSame(one.identity, identity));
    if (match !== undefined) return join(match.directory.realPath, relative(at, path));
    if (dirname(at) === at) return undefined;
  }
  return undefined;
}

function identify(path: string): Promise<Identity | undefined> {
  return stat(path, { bigint: true }).catch(() => undefined);
}
