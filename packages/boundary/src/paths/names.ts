import { lstatSync, statSync } from "node:fs";
import path from "node:path";
import { isSame } from "./types.ts";

/** Which system's path rules apply. A parameter everywhere, so that Windows' rules can be tested on Linux. */
export type Platform = NodeJS.Platform;

export const pathsOf = (platform: Platform): path.PlatformPath =>
  platform === "win32" ? path.win32 : path.posix;

/** Whether file names on `platform` are usually case-insensitive, so text alone cannot distinguish them. */
function foldsCase(platform: Platform = process.platform): boolean {
  return platform === "win32" || platform === "darwin";
}

/** `text` composed (NFC) and in lower case, so that variants of one name are equal. Never for opening. */
export function fold(text: string): string {
  return text.normalize("NFC").toLowerCase();
}

/** Equal for names that may be the same file on this system. */
export function keyOf(text: string): string {
  return foldsCase() ? fold(text) : text.normalize("NFC");
}

/** `text` itself, and its other Unicode forms (NFC, NFD), in which it may be stored. */
export function formsOf(text: string): string[] {
  if (!/[\u0080-\uffff]/.test(text)) return [text];
  return [...new Set([text, text.normalize("NFC"), text.normalize("NFD")])];
}

/**
 * Whether `target` is `directory` or below it, by text alone; both absolute and normalized. Compares whole components:
 * `/a/proj-evil` is not inside `/a/proj` (CVE-2025-53110).
 */
export function isInside(
  target: string,
  directory: string,
  platform: Platform = process.platform,
): boolean {
  if (!target.startsWith(directory)) return false;
  const { sep } = pathsOf(platform);
  return (
    target.length === directory.length ||
    directory.endsWith(sep) ||
    target[directory.length] === sep
  );
}

/** Like `isInside`, for names that may differ in case or Unicode form. Only a hint; callers verify it. */
export function mayBeInside(target: string, directory: string, platform?: Platform): boolean {
  return isInside(fold(target), fold(directory), platform);
}

/** `isInside`, or where names are usually case-insensitive `mayBeInside`: for paths as somebody wrote them. */
export function within(target: string, directory: string): boolean {
  return foldsCase() ? mayBeInside(target, directory) : isInside(target, directory);
}

/**
 * Whether the real path `target` is in `directory`, also on a file system where a directory has several names (case,
 * Unicode form): the names decide unless they differ only so; then device and inode do.
 */
export function isInsideByAnyName(target: string, directory: string): boolean {
  if (isInside(target, directory)) return true;
  return mayBeInside(target, directory) && isOneDirectory(upTo(directory, target), directory);
}

/** Whether the real path `target` is an allowed `directory` or contains it, under any of its names. */
export function containsByAnyName(target: string, directory: string): boolean {
  if (isInside(directory, target)) return true;
  return mayBeInside(directory, target) && isOneDirectory(target, upTo(target, directory));
}

/** The start of `target` with as many components as `other` has. */
const upTo = (reference: string, target: string): string =>
  target.split(path.sep).slice(0, reference.split(path.sep).length).join(path.sep);

/** @param real a path that must not be a link; `configured` may be one */
function isOneDirectory(real: string, configured: string): boolean {
  const here = lstatSync(real, { bigint: true, throwIfNoEntry: false });
  const there = statSync(configured, { bigint: true, throwIfNoEntry: false });
  return here !== undefined && there !== undefined && isSame(here, there);
}

/** Whether `target` is the root of a file system: `/`, a drive or a share. */
export function isFileSystemRoot(target: string, platform: Platform = process.platform): boolean {
  const paths = pathsOf(platform);
  return paths.parse(paths.resolve(target)).root === paths.resolve(target);
}
