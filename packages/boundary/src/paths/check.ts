import { realpathSync, statfsSync } from "node:fs";
import { lstat, readlink, realpath } from "node:fs/promises";
import { homedir } from "node:os";
import { basename, dirname, isAbsolute, join, parse, resolve, sep } from "node:path";
import type { ToolError } from "../answer/errors.ts";
import { formsOf, isInside, isInsideByAnyName, parsePath, within } from "./names.ts";
import { inSpecialFileSystem, outsideError, pathError, quote } from "./path-errors.ts";
import type { AllowedDirectories, AllowedDirectory } from "./types.ts";

/** The innermost of `directories` around a real path. */
export function innermost(
  directories: readonly AllowedDirectory[],
  realPath: string,
): AllowedDirectory | undefined {
  const parents = directories.filter((root) => isInsideByAnyName(realPath, root.realPath));
  return parents.sort((a, b) => b.realPath.length - a.realPath.length)[0];
}

/** The innermost allowed directory around an absolute real path; checks the directories again before it returns undefined. */
export function directoryAround(
  realPath: string,
  allowed: AllowedDirectories,
): AllowedDirectory | undefined {
  if (isSpecialPlace(realPath) || allowed.hidden?.hides(realPath)) return undefined;
  const directory = innermost(allowed.directories(), realPath);
  if (directory !== undefined && directory.unavailable === undefined) return directory;
  // One that has returned may be read-only even if its parent is not.
  allowed.refresh?.();
  return innermost(allowed.directories().filter(isAvailable), realPath);
}

const isAvailable = ({ unavailable }: AllowedDirectory): boolean => unavailable === undefined;

/** The allowed directories that a path is in by its text, under the names that the user gave them or their real ones. */
function directoriesByText(path: string, allowed: AllowedDirectories): AllowedDirectory[] {
  const directories = allowed.directories();
  return directories.filter((root) => within(path, root.path) || within(path, root.realPath));
}

/** The error for `path` if the only allowed directory around it, by its text, cannot be used now. */
export function unavailableAround(
  path: string,
  allowed: AllowedDirectories,
): ToolError | undefined {
  const parents = directoriesByText(path, allowed);
  const [first] = parents;
  if (first === undefined || parents.some(isAvailable)) return undefined;
  const detail = `${quote(first.path)} (${first.source}) ${first.unavailable}`;
  return pathError("directory_unavailable", path, { detail });
}

/**
 * Whether an absolute real path is in a special file system, in any allowed directory: one that shows processes,
 * devices or kernel state as files. `/proc/self/root` alone would give access to the whole disk.
 */
export function isSpecialPlace(realPath: string): boolean {
  if (process.platform === "win32" || isInside(realPath, "/dev/shm")) return false;
  return ["/proc", "/sys", "/dev"].some((place) => isInside(realPath, place));
}

/**
 * linux/magic.h: file systems that contain no user data, wherever they are mounted. proc, sysfs, devpts, cgroup, cgroup2,
 * debugfs, tracefs, securityfs, configfs, bpf, pstore, efivarfs, selinuxfs, nsfs, binfmt_misc, mqueue.
 */
const SPECIAL_TYPES = new Set([
  0x9fa0, 0x62656572, 0x1cd1, 0x27e0eb, 0x63677270, 0x64626720, 0x74726163, 0x73636673, 0x62656570,
  0xcafe4a11, 0x6165676c, 0xde5e81e4, 0xf97cff8c, 0x6e736673, 0x42494e4d, 0x19800202,
]);

/**
 * File systems on a disk of this machine or in its memory: ext2 to ext4, btrfs, xfs, f2fs, zfs, bcachefs, overlayfs,
 * tmpfs.
 */
const LOCAL_TYPES = new Set([
  0xef53, 0x9123683e, 0x58465342, 0xf2f52010, 0x2fc12fc1, 0xca451a4e, 0x794c7630, 0x01021994,
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
 * @param isExact looks up no name in its other Unicode form
 * @throws ToolError `invalid`, `denied` (outside), `unavailable` (the allowed directory does not exist)
 */
export async function locate(
  text: string,
  allowed: AllowedDirectories,
  isExact: boolean,
): Promise<string> {
  const location = parsePath(text, { platform: process.platform, home: homedir });
  const path = location.absolute ? location.path : await belowDirectories(location.path, allowed);
  if (path === undefined) throw outsideError(text, allowed);
  const isWrittenInside = () => directoriesByText(path, allowed).some(isAvailable);
  if (!isWrittenInside()) allowed.refresh?.();
  const unavailableError = unavailableAround(path, allowed);
  if (unavailableError !== undefined) throw unavailableError;
  const insidePath = isWrittenInside() ? path : await underRealName(path, allowed);
  if (insidePath === undefined) throw outsideError(text, allowed);
  if (isSpecialPlace(insidePath)) throw inSpecialFileSystem(text);
  return isExact ? insidePath : storedPath(insidePath, allowed);
}

/** Undefined without directories. A link that leads outside does not count: the choice would reveal its target. */
async function belowDirectories(
  path: string,
  allowed: AllowedDirectories,
): Promise<string | undefined> {
  const candidates = allowed.directories().map((directory) => resolve(directory.path, path));
  for (const candidate of candidates.length > 1 ? candidates : []) {
    const parent = await realpath(dirname(candidate)).catch(() => undefined);
    if (parent === undefined || directoryAround(parent, allowed) === undefined) continue;
    if ((await lstat(candidate).catch(() => undefined)) !== undefined) return candidate;
  }
  return candidates[0];
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
  for (const [start, name] of [[dirname(path), basename(path)] as const, [path, ""] as const]) {
    const { real, missing } = await deepestExisting(start);
    const candidate = join(real, ...missing, name);
    if (directoryAround(candidate, allowed) !== undefined) return candidate;
  }
  return undefined;
}

/** `path`, or if a name in it is missing, the path with the other Unicode form of the name (NFC, NFD) that exists. */
async function storedPath(path: string, allowed: AllowedDirectories): Promise<string> {
  if (formsOf(path).length === 1) return path;
  const { real, missing } = await deepestExisting(path);
  const [name, ...restNames] = missing;
  if (name === undefined || directoryAround(real, allowed) === undefined) return path;
  for (const form of formsOf(name).slice(1)) {
    const storedName = join(real, form);
    if ((await lstat(storedName).catch(() => undefined)) !== undefined)
      return storedPath(join(storedName, ...restNames), allowed);
  }
  return path;
}

/** How much of a path exists: its deepest existing part, and the missing names below it. */
export interface ExistingPart {
  /** Absolute, every link resolved. */
  readonly real: string;
  /** The names below `real` that do not exist; none if the path exists. */
  readonly missing: readonly string[];
  /** The path's own text up to `real`; if a dangling link was followed, `real` itself. */
  readonly existingText: string;
}

/** How many links Linux follows in one path. */
const MAX_LINKS = 40;

/**
 * Follows an absolute path as far as it exists, including dangling links, whose target counts instead of their
 * location. It also looks outside the allowed directories, so the caller must not reveal anything before it has checked
 * that `real` is inside.
 */
export async function existingPart(path: string): Promise<ExistingPart> {
  let at = path;
  for (let links = 0; ; links++) {
    const { real, missing } = await deepestExisting(at);
    const [next, ...restNames] = missing;
    // A loop of links has no target, so its own location counts.
    const target =
      next === undefined || links >= MAX_LINKS
        ? undefined
        : await readlink(join(real, next)).catch(() => undefined);
    if (target === undefined && !missing.includes("..")) {
      const existingText = links === 0 ? missing.reduce((part) => dirname(part), path) : real;
      return { real, missing, existingText };
    }
    // Not normalized if it is a link: `..` after it is the parent of the link's target.
    at =
      target === undefined
        ? join(real, ...missing)
        : [isAbsolute(target) ? target : real + sep + target, ...restNames].join(sep);
  }
}

/** The same without following a dangling link, which counts as missing. */
async function deepestExisting(path: string): Promise<{ real: string; missing: string[] }> {
  const { root } = parse(path);
  const names = path
    .slice(root.length)
    .split(sep === "\\" ? /[\\/]/ : "/")
    .filter((name) => name !== "" && name !== ".");
  for (let length = names.length; ; length--) {
    try {
      const real = await realpath(root + names.slice(0, length).join(sep));
      return { real, missing: names.slice(length) };
    } catch {
      if (length === 0) return { real: root, missing: names };
    }
  }
}

/** The real path that an absolute path has or, with its missing end, would have. */
export function realPathOf(path: string): string {
  try {
    return realpathSync.native(path);
  } catch {
    return dirname(path) === path ? path : join(realPathOf(dirname(path)), basename(path));
  }
}
