import { statfsSync } from "node:fs";
import { foldsCase, isInside, mayBeInside, type Platform } from "./path-text.ts";
import type { AllowedDirectory, Bound } from "./types.ts";

/** Decides, by text, which allowed directory a path belongs to. */
export interface Membership {
  /** The innermost allowed directory around an absolute real path, from cached state. */
  around(realPath: string): AllowedDirectory | undefined;
  /** The same, but checks the directories again before it returns undefined. */
  surelyAround(realPath: string): AllowedDirectory | undefined;
}

/**
 * Whether `realPath` may be in an allowed directory under another name, which its text alone cannot show.
 */
export function hasOtherName(realPath: string, bound: Bound, platform: Platform): boolean {
  return bound
    .directories()
    .some(
      ({ realPath: directory }) =>
        !isInside(realPath, directory, platform) && mayBeInside(realPath, directory, platform),
    );
}

/** The innermost of `directories` around an absolute real path, by its text. */
export function innermost(
  directories: readonly AllowedDirectory[],
  realPath: string,
  platform: Platform,
): AllowedDirectory | undefined {
  let found: AllowedDirectory | undefined;
  for (const directory of directories) {
    if (!isInside(realPath, directory.realPath, platform)) continue;
    if (found === undefined || directory.realPath.length > found.realPath.length) found = directory;
  }
  return found;
}

export function membershipOf(bound: Bound, platform: Platform): Membership {
  const around = (realPath: string): AllowedDirectory | undefined => {
    if (isSpecialPlace(realPath, platform)) return undefined;
    const found = innermost(bound.directories(), realPath, platform);
    if (found?.unavailable === undefined) return found;
    // It may have returned, and be read-only even if its parent is not.
    bound.refresh?.();
    const available = bound.directories().filter(({ unavailable }) => unavailable === undefined);
    return innermost(available, realPath, platform);
  };
  return {
    around,
    surelyAround(realPath) {
      const found = around(realPath);
      if (found !== undefined || bound.refresh === undefined) return found;
      bound.refresh();
      return around(realPath);
    },
  };
}

/**
 * Directories that show processes, devices and kernel state as files. `/proc/self/root` alone would give access to the
 * whole disk.
 */
const places = ["/proc", "/sys", "/dev"];

/** Whether an absolute real path is in a special file system, whatever directory is allowed. */
export function isSpecialPlace(realPath: string, platform: Platform): boolean {
  if (platform === "win32" || isInside(realPath, "/dev/shm", platform)) return false;
  return places.some((place) => isInside(realPath, place, platform));
}

/** linux/magic.h: file systems that contain no user data, wherever they are mounted. */
const specialTypes = new Set([
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
const localTypes = new Set([
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
    if (specialTypes.has(type)) return "special";
    return localTypes.has(type) ? "local" : "other";
  } catch {
    return "other";
  }
}

/** The allowed directory around `path`, by its text, if the only one does not exist now. */
export function unavailableAround(path: string, bound: Bound): AllowedDirectory | undefined {
  return innermostByText(path, bound, isAvailable) === undefined ? innermostByText(path, bound) : undefined;
}

/** The innermost allowed directory around `path`, by its text: as configured or with links resolved. */
export function innermostByText(
  path: string,
  bound: Bound,
  which: (directory: AllowedDirectory) => boolean = () => true,
): AllowedDirectory | undefined {
  const inside = foldsCase(process.platform) ? mayBeInside : isInside;
  let found: AllowedDirectory | undefined;
  let length = -1;
  for (const directory of bound.directories().filter(which)) {
    for (const start of [directory.path, directory.realPath]) {
      if (start.length <= length || !inside(path, start, process.platform)) continue;
      found = directory;
      length = start.length;
    }
  }
  return found;
}

export function isAvailable({ unavailable }: AllowedDirectory): boolean {
  return unavailable === undefined;
}
