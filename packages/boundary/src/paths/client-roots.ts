import { innermost } from "./membership.ts";
import { isFileSystemRoot, isInside, type Platform } from "./path-text.ts";
import type { AllowedDirectory } from "./types.ts";

/** How the client's roots combine with configured directories. */
export interface Applied {
  readonly directories: AllowedDirectory[];
  readonly ignored: AllowedDirectory[];
  /** Ignored roots, and why. */
  readonly why: string;
}

/**
 * The part of `configured` that the client's `roots` cover: a root inside a configured directory replaces it,
 * a root around one leaves it unchanged. The result never contains anything that was outside before, and read-only
 * directories stay read-only.
 */
export function narrow(
  configured: readonly AllowedDirectory[],
  roots: readonly AllowedDirectory[],
  platform: Platform,
): Applied {
  const directories: AllowedDirectory[] = [];
  const ignored: AllowedDirectory[] = [];
  for (const root of roots) {
    const around = innermost(configured, root.realPath, platform);
    const within = configured.filter((one) => isInside(one.realPath, root.realPath, platform));
    if (around === undefined && within.length === 0) ignored.push(root);
    if (around !== undefined && around.realPath !== root.realPath) {
      directories.push({ ...root, writable: around.writable });
    }
    directories.push(...within);
  }
  const why = "it is outside the configured directories";
  return { directories: withoutDuplicates(directories), ignored, why };
}

/**
 * The client's `roots` instead of `configured`, as in the official server, with two exceptions: a whole file system is
 * accepted only if one is configured, and directories configured as read-only stay read-only.
 */
export function replace(
  configured: readonly AllowedDirectory[],
  roots: readonly AllowedDirectory[],
  platform: Platform,
): Applied {
  const wholeAllowed = configured.some((one) => isFileSystemRoot(one.realPath, platform));
  const directories: AllowedDirectory[] = [];
  const ignored: AllowedDirectory[] = [];
  for (const root of roots) {
    if (isFileSystemRoot(root.realPath, platform) && !wholeAllowed) {
      ignored.push(root);
      continue;
    }
    const around = innermost(configured, root.realPath, platform);
    directories.push({ ...root, writable: around?.writable ?? true });
    directories.push(
      ...configured.filter((one) => !one.writable && isInside(one.realPath, root.realPath, platform)),
    );
  }
  const why = "it is a whole file system, which only a directory argument or --root can allow";
  return { directories: withoutDuplicates(directories), ignored, why };
}

/** The first of each real path, read-only if any of its duplicates is. */
export function withoutDuplicates(directories: readonly AllowedDirectory[]): AllowedDirectory[] {
  const kept = new Map<string, AllowedDirectory>();
  for (const directory of directories) {
    const known = kept.get(directory.realPath);
    if (known === undefined) kept.set(directory.realPath, directory);
    else if (known.writable && !directory.writable)
      kept.set(directory.realPath, { ...known, writable: false });
  }
  return [...kept.values()];
}
