import path from "node:path";

/** Which system's path rules apply. A parameter everywhere, so that Windows' rules can be tested on Linux. */
export type Platform = NodeJS.Platform;

/** Node.js' path functions for `platform`. */
export function pathsOf(platform: Platform): path.PlatformPath {
  return platform === "win32" ? path.win32 : path.posix;
}

/** Whether file names on `platform` are usually case-insensitive, so text alone cannot distinguish them. */
export function foldsCase(platform: Platform): boolean {
  return platform === "win32" || platform === "darwin";
}

/**
 * `text` composed (NFC) and in lower case, which makes variants of one name equal. Only for comparing, never for
 * opening.
 */
export function fold(text: string): string {
  return text.normalize("NFC").toLowerCase();
}

/**
 * Whether `target` is `directory` or below it, by text alone; both absolute and normalized. Compares whole components:
 * `/a/proj-evil` is not inside `/a/proj` (CVE-2025-53110).
 */
export function isInside(target: string, directory: string, platform: Platform): boolean {
  if (target === directory) return true;
  const { sep } = pathsOf(platform);
  return target.startsWith(directory.endsWith(sep) ? directory : directory + sep);
}

/**
 * Like `isInside`, for names that may differ in case or Unicode form. Only a hint; callers verify it.
 */
export function mayBeInside(target: string, directory: string, platform: Platform): boolean {
  return isInside(fold(target), fold(directory), platform);
}

/** Whether `target` is the root of a file system: `/`, a drive or a share. */
export function isFileSystemRoot(target: string, platform: Platform): boolean {
  const paths = pathsOf(platform);
  return paths.parse(paths.resolve(target)).root === paths.resolve(target);
}
