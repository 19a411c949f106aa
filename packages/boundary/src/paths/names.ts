import { lstatSync, statSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { ToolError } from "../answer/errors.ts";
import { quote } from "./path-errors.ts";
import { isSame } from "./types.ts";

/** Which system's path rules apply. A parameter everywhere, so that Windows' rules can be tested on Linux. */
export type Platform = NodeJS.Platform;

const pathsOf = (platform: Platform): path.PlatformPath =>
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

/** What is refused, why, and what to do. */
type Rule = readonly [pattern: RegExp, why: string, hint: string];

const CHARACTERS: readonly Rule[] = [
  [/^$/, "is empty", 'Use an absolute path or a relative one; "." is the first allowed directory.'],
  [/\0/, "contains a NUL character, which paths cannot contain", "Remove it."],
  [/\p{Surrogate}/u, "is not well-formed Unicode (a lone surrogate)", "Use it exactly as listed."],
];

/**
 * RFC 8089. A query, a fragment and raw whitespace are refused: they would be dropped silently, and another file
 * opened.
 */
const URIS: readonly Rule[] = [
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is looked for
  [/[\u0000-\u0020]/, "is a URI with whitespace", "Write a space as %20, or use the plain path."],
  [/[?#]/, "is a URI with a query or a fragment", "Write ? as %3F and # as %23."],
  [/^file:\/\/(?!localhost\/|\/)/i, "is a URI with a host", "Write file:///absolute/path."],
];

/**
 * Refers to a different file than it seems to: no normalization, devices, relative to a current directory or drive. For
 * text with backslashes.
 */
const WINDOWS_PATHS: readonly Rule[] = [
  [/^\\\\[?.](?:\\|$)|^\\\?\?\\/, "is a device path", "Write it with a drive letter: C:\\folder."],
  [/^[a-z]:(?!\\)/i, "is relative to a drive's current directory", "Write C:\\ and the full path."],
  [/^\\(?!\\)/, "has no drive", "Write it with its drive letter: C:\\folder\\file."],
];

/** Names that Windows does not allow or would change (Microsoft, "Naming Files, Paths, and Namespaces"). */
const WINDOWS_NAMES: readonly Rule[] = [
  [/:/, "refers to an alternate data stream", "Use the file name without a colon."],
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is looked for
  [/[<>"|?*\u0001-\u001f]/, "contains a character not allowed in names", 'Remove < > " | ? *.'],
  [/[. ]$/, "has a name that ends in a dot or a space", "Windows would strip it: remove it."],
  // Devices exist in every directory, with any extension.
  [
    /^(?:con|prn|aux|nul|conin\$|conout\$|(?:com|lpt)[0-9¹²³])\s*(?:\.|$)/i,
    "contains a reserved device name",
    "Choose another name.",
  ],
];

function invalid(text: string, why: string, hint: string): ToolError {
  return new ToolError("invalid", `The path ${quote(text)} ${why}.`, { hint });
}

function refuse(text: string, rules: readonly Rule[], part = text): void {
  for (const [pattern, why, hint] of rules) if (pattern.test(part)) throw invalid(text, why, hint);
}

/**
 * Parses the text of a path from an argument: `~` is the home directory, a `file://` URI is decoded, `/c/x` (Git Bash) is
 * `C:\x` on Windows, and everything else, including percent signs, is literal. `..` is resolved by text, as in `cd`.
 *
 * @throws ToolError `invalid` for text that is not a path: empty, NUL, lone surrogates, too long, a URI with a host,
 * and on `win32` device, reserved, stream and drive-relative names.
 * @returns the path, normalized if absolute, otherwise as written
 */
export function parsePath(
  text: string,
  { platform, home }: { readonly platform: Platform; home(): string },
): { readonly path: string; readonly absolute: boolean } {
  const isWindows = platform === "win32";
  const paths = pathsOf(platform);
  refuse(text, CHARACTERS);
  let path = text;
  if (/^file:\/\//i.test(text)) path = pathOfUri(text, isWindows);
  else if ((isWindows ? /^~(?:[\\/]|$)/ : /^~(?:\/|$)/).test(text))
    path = paths.join(home(), text.slice(1));
  if (isWindows) {
    path = path.replace(/^\/([a-z])(?=\/|$)\/?/i, "$1:\\");
    refuse(path, WINDOWS_PATHS, path.replaceAll("/", "\\"));
  }
  const names = (isWindows ? path.replace(/^[a-z]:/i, "") : path).split(isWindows ? /[\\/]/ : "/");
  for (const name of isWindows ? names : [])
    if (!/^\.{0,2}$/.test(name)) refuse(path, WINDOWS_NAMES, name);
  // Linux limits the bytes of a name, other systems its characters.
  checkLength(path, isWindows ? 32_767 : 4096, !isWindows);
  for (const name of names) checkLength(name, 255, platform === "linux");
  const absolute = paths.isAbsolute(path);
  return { path: absolute ? paths.resolve(path) : path, absolute };
}

function pathOfUri(uri: string, windows: boolean): string {
  refuse(uri, URIS);
  let path: string;
  try {
    path = fileURLToPath(uri, { windows });
  } catch {
    throw invalid(uri, "has an invalid percent-encoding or drive", "Encode it without %2F.");
  }
  refuse(path, CHARACTERS);
  return path;
}

function checkLength(text: string, max: number, inBytes: boolean): void {
  const size = inBytes ? Buffer.byteLength(text) : text.length;
  const unit = inBytes ? "bytes" : "characters";
  if (size > max)
    throw invalid(text, `is ${size} ${unit} long; the limit is ${max}`, "Use a shorter one.");
}
