import { statfsSync } from "node:fs";
import { lstat, realpath } from "node:fs/promises";
import { homedir } from "node:os";
import { basename, dirname, join, resolve } from "node:path";
import { deepestExisting } from "./existing.ts";
import { foldsCase, isInside, isInsideByAnyName, mayBeInside } from "./names.ts";
import { directoryUnavailable, inSpecialFileSystem, outside } from "./path-errors.ts";
import { parsePath } from "./resolve.ts";
import type { AllowedDirectories, AllowedDirectory } from "./types.ts";

/** The innermost of `directories` around a real path. */
export function innermost(
  directories: readonly AllowedDirectory[],
  realPath: string,
  inside: (path: string, directory: string) => boolean = isInsideByAnyName,
): AllowedDirectory | undefined {
  return directories
    .filter((directory) => inside(realPath, directory.realPath))
    .reduce<AllowedDirectory | undefined>(
      (inner, next) =>
        inner === undefined || next.realPath.length > inner.realPath.length ? next : inner,
      undefined,
    );
}

/** The innermost allowed directory around an absolute real path; checks the directories again before it returns undefined. */
export function directoryAround(
  realPath: string,
  allowed: AllowedDirectories,
): AllowedDirectory | undefined {
  if (isSpecialPlace(realPath) || allowed.hidden?.hides(realPath)) return undefined;
  const found = innermost(allowed.directories(), realPath);
  if (found !== undefined && found.unavailable === undefined) return found;
  // One that has returned may be read-only even if its parent is not.
  allowed.refresh?.();
  return innermost(allowed.directories().filter(isAvailable), realPath);
}

const isAvailable = ({ unavailable }: AllowedDirectory): boolean => unavailable === undefined;

/** Whether a path is, by its text, in a directory, under the name that the user gave it or its real one. */
const isWrittenIn = (path: string, directory: AllowedDirectory): boolean =>
  [directory.path, directory.realPath].some((start) =>
    (foldsCase() ? mayBeInside : isInside)(path, start),
  );

/** The allowed directory around `path`, by its text, if the only one does not exist now. */
export function unavailableAround(
  path: string,
  allowed: AllowedDirectories,
): AllowedDirectory | undefined {
  const around = allowed.directories().filter((directory) => isWrittenIn(path, directory));
  return around.some(isAvailable) ? undefined : around[0];
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
  const path = parsed.absolute ? parsed.path : await belowDirectories(parsed.path, allowed);
  if (path === undefined) throw outside(text, allowed);
  const isInsideNow = () =>
    allowed.directories().some((one) => isAvailable(one) && isWrittenIn(path, one));
  if (!isInsideNow()) allowed.refresh?.();
  const missing = unavailableAround(path, allowed);
  if (missing !== undefined) throw directoryUnavailable(text, missing);
  const located = isInsideNow() ? path : await underRealName(path, allowed);
  if (located === undefined) throw outside(text, allowed);
  if (isSpecialPlace(located)) throw inSpecialFileSystem(text);
  return located;
}

/** Undefined without directories. */
async function belowDirectories(
  path: string,
  allowed: AllowedDirectories,
): Promise<string | undefined> {
  const candidates = allowed.directories().map((directory) => resolve(directory.path, path));
  if (candidates.length > 1)
    for (const candidate of candidates) if (await isThere(candidate, allowed)) return candidate;
  return candidates[0];
}

/** A link that leads out of the allowed directories does not count: the choice would reveal its target. */
async function isThere(path: string, allowed: AllowedDirectories): Promise<boolean> {
  try {
    if (directoryAround(await realpath(dirname(path)), allowed) === undefined) return false;
    await lstat(path);
    return true;
  } catch {
    return false;
  }
}

/**
 * The real path of one that leads into an allowed directory through a link above it (macOS's `/tmp`), in another case or
 * Unicode form, or as a Windows short name. The last component is not followed, unless it is the directory itself.
 *
 * Network shares are not accessed: connecting to an arbitrary server would send it the user's credentials.
 */
async function underRealName(
  path: string,
  allowed: AllowedDirectories,
): Promise<string | undefined> {
  if (path.startsWith("\\\\")) return undefined;
  const real = async (at: string) => {
    const existing = await deepestExisting(at);
    return join(existing.real, ...existing.missing);
  };
  const candidates = [join(await real(dirname(path)), basename(path)), await real(path)];
  return candidates.find((candidate) => directoryAround(candidate, allowed) !== undefined);
}
