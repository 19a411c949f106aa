import { isFileSystemRoot, isInside, type Platform } from "./platform.ts";
import type { AllowedDirectory } from "./types.ts";

/** How the client's roots combine with configured directories. */
export interface Applied {
  readonly directories: AllowedDirectory[];
  /** Roots that were ignored because they are outside the configured directories. */
  readonly outside: AllowedDirectory[];
  /** Roots that were ignored because they are a whole file system. */
  readonly whole: AllowedDirectory[];
}

/**
 * The part of `configured` that the client's `roots` cover: a root inside a configured directory replaces it,
 * a root around one leaves it unchanged. The result never contains anything that was outside before, and
 * read-only directories stay read-only.
 */
export function narrow(
  configured: readonly AllowedDirectory[],
  roots: readonly AllowedDirectory[],
  platform: Platform,
): Applied {
  const directories: AllowedDirectory[] = [];
  const outside: AllowedDirectory[] = [];
  for (const root of roots) {
    const around = deepestAround(configured, root, platform);
    const within = configured.filter((one) => isInside(one.realPath, root.realPath, platform));
    if (around === undefined && within.length === 0) outside.push(root);
    if (around !== undefined && around.realPath !== root.realPath) {
      directories.push({ ...root, writable: around.writable });
    }
    directories.push(...within);
  }
  return { directories: withoutDuplicates(directories), outside, whole: [] };
}

/**
 * The client's `roots` instead of `configured`, as the official server does, but for two things: a whole file system
 * is taken only if one is configured, and what is configured as read-only stays so.
 */
export function replace(
  configured: readonly AllowedDirectory[],
  roots: readonly AllowedDirectory[],
  platform: Platform,
): Applied {
  const wholeAllowed = configured.some((one) => isFileSystemRoot(one.realPath, platform));
  const directories: AllowedDirectory[] = [];
  const whole: AllowedDirectory[] = [];
  for (const root of roots) {
    if (isFileSystemRoot(root.realPath, platform) && !wholeAllowed) {
      whole.push(root);
      continue;
    }
    const around = deepestAround(configured, root, platform);
    directories.push({ ...root, writable: around?.writable ?? true });
    directories.push(
      ...configured.filter((one) => !one.writable && isInside(one.realPath, root.realPath, platform)),
    );
  }
  return { directories: withoutDuplicates(directories), outside: [], whole };
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

function deepestAround(
  configured: readonly AllowedDirectory[],
  root: AllowedDirectory,
  platform: Platform,
): AllowedDirectory | undefined {
  let deepest: AllowedDirectory | undefined;
  for (const one of configured) {
    if (!isInside(root.realPath, one.realPath, platform)) continue;
    if (deepest === undefined || one.realPath.length > deepest.realPath.length) deepest = one;
  }
  return deepest;
}
