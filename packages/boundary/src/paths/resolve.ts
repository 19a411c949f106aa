import { fileURLToPath } from "node:url";
import { ToolError } from "../answer/errors.ts";
import { type Platform, pathsOf } from "./names.ts";
import { quote } from "./path-errors.ts";

/**
 * Parses the text of a path from an argument: `~` is the home directory, a `file://` URI is decoded, and everything
 * else, including percent signs, is literal. `..` is resolved by text, as in a shell's `cd`.
 *
 * @throws ToolError `invalid` for text that is not a path: empty, NUL, lone surrogates, too long, a URI with a host,
 * and on `win32` device, reserved, stream and drive-relative names.
 * @returns the path, normalized if absolute, otherwise as written
 */
export function parsePath(
  text: string,
  rules: { readonly platform: Platform; home(): string },
): { readonly path: string; readonly absolute: boolean } {
  checkCharacters(text);
  const paths = pathsOf(rules.platform);
  let plain = text;
  if (/^file:\/\//i.test(text)) plain = pathOfUri(text, rules.platform);
  else if (
    text === "~" ||
    text.startsWith("~/") ||
    (rules.platform === "win32" && text.startsWith("~\\"))
  ) {
    plain = paths.join(rules.home(), text.slice(1));
  }
  if (rules.platform === "win32") plain = checkWindowsText(plain);
  checkLengths(plain, rules.platform);
  const absolute = paths.isAbsolute(plain);
  return { path: absolute ? paths.resolve(plain) : plain, absolute };
}

/** What is wrong with the text of a path, and what to do. */
function invalid(message: string, hint: string): ToolError {
  return new ToolError("invalid", message, { hint });
}

function checkCharacters(text: string): void {
  if (text === "")
    throw invalid(
      "The path is empty.",
      'Use an absolute path or one relative to an allowed directory; "." is the first allowed directory.',
    );
  if (text.includes("\0"))
    throw invalid(
      `The path ${quote(text)} contains a NUL character, which paths cannot contain.`,
      "Remove it.",
    );
  if (/\p{Surrogate}/u.test(text))
    throw invalid(
      `The path ${quote(text)} is not well-formed Unicode (a lone surrogate).`,
      "Use the path exactly as listed.",
    );
}

/**
 * RFC 8089. A query, a fragment and raw whitespace are refused: they would be dropped silently, and another file
 * opened.
 */
function pathOfUri(uri: string, platform: Platform): string {
  const refuse = (why: string, hint: string) =>
    invalid(`${quote(uri)} is not a usable file URI: ${why}.`, hint);
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is looked for
  if (/[\u0000-\u0020]/.test(uri)) {
    throw refuse("it contains whitespace", "Write a space as %20, or use the plain path.");
  }
  if (/[?#]/.test(uri)) {
    throw refuse(
      "it has a query or a fragment",
      "Write ? as %3F and # as %23, or use the plain path.",
    );
  }
  let url: URL;
  try {
    url = new URL(uri);
  } catch {
    throw refuse("it cannot be parsed", "Write file:///absolute/path, or use the plain path.");
  }
  if (url.host !== "") {
    throw refuse(
      `it names the host ${quote(url.host)}`,
      "Only files on this machine can be used: write file:///absolute/path.",
    );
  }
  let decoded: string;
  try {
    decoded = fileURLToPath(url, { windows: platform === "win32" });
  } catch {
    throw refuse(
      "its percent-encoding or drive is invalid",
      "Encode as UTF-8, without %2F in names, or use the plain path.",
    );
  }
  checkCharacters(decoded);
  return decoded;
}

function checkLengths(text: string, platform: Platform): void {
  const isWindows = platform === "win32";
  const refuse = (what: string, size: number, unit: string, max: number) =>
    invalid(`${what} is ${size} ${unit} long; the limit is ${max}.`, "Use a shorter one.");
  const size = isWindows ? text.length : Buffer.byteLength(text);
  const max = isWindows ? 32_767 : 4096;
  if (size > max) {
    throw refuse(`The path ${quote(text)}`, size, isWindows ? "characters" : "bytes", max);
  }
  // Linux limits a name's bytes, other systems its characters.
  const countsBytes = platform === "linux";
  for (const name of text.split(isWindows ? /[\\/]/ : "/")) {
    const length = countsBytes ? Buffer.byteLength(name) : name.length;
    if (length > 255)
      throw refuse(`The name ${quote(name)}`, length, countsBytes ? "bytes" : "characters", 255);
  }
}

/** Names that Windows does not allow or would change, and what to do (Microsoft, "Naming Files, Paths, and Namespaces"). */
const WINDOWS_NAMES: readonly (readonly [pattern: RegExp, why: string, hint: string])[] = [
  [/:/, "refers to an alternate data stream", "Use the file name without a colon."],
  [
    // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is looked for
    /[<>"|?*\u0001-\u001f]/,
    "contains a character not allowed in names",
    'Remove < > " | ? * and control characters.',
  ],
  [/[. ]$/, "has a name that ends in a dot or a space", "Windows would strip it: remove it."],
  // Devices exist in every directory, with any extension.
  [
    /^(?:con|prn|aux|nul|conin\$|conout\$|(?:com|lpt)[0-9¹²³])\s*(?:\.|$)/i,
    "contains a reserved device name",
    "Choose another name.",
  ],
];

/**
 * Checks a path by Windows' rules, and converts `/c/x` (Git Bash) to `C:\x`.
 *
 * Refuses paths that refer to a different file than they seem to: `\\?\` and `\\.\` (no normalization, devices), `C:x`
 * and `\x` (relative to a current directory or drive), reserved names, trailing dots and spaces (stripped by the
 * system), `name:stream` (alternate data streams), and characters that are not allowed in names.
 *
 * @throws ToolError `invalid`
 */
function checkWindowsText(text: string): string {
  const refuse = (why: string, hint: string) => invalid(`The path ${quote(text)} ${why}.`, hint);
  const slashed = text.replaceAll("/", "\\");
  if (/^\\\\[?.](?:\\|$)/.test(slashed) || slashed.startsWith("\\??\\")) {
    throw refuse(
      "is a device path (\\\\?\\ or \\\\.\\)",
      "Write it with a drive letter: C:\\folder\\file.",
    );
  }
  const bash = /^\/([a-z])(?:\/|$)/i.exec(text);
  const plain = bash === null ? text : `${(bash[1] ?? "").toUpperCase()}:\\${text.slice(3)}`;
  if (/^[a-z]:(?![\\/])/i.test(plain)) {
    throw refuse(
      "is relative to a drive's current directory",
      `Write ${plain.slice(0, 2)}\\ and the full path, or a path without a drive.`,
    );
  }
  if (/^[\\/](?![\\/])/.test(plain)) {
    throw refuse("has no drive", "Write it with its drive letter: C:\\folder\\file.");
  }

  const names = plain
    .replace(/^[a-z]:/i, "")
    .split(/[\\/]/)
    .filter((name) => name !== "" && name !== "." && name !== "..");
  for (const name of names) {
    const [, why, hint = ""] = WINDOWS_NAMES.find(([pattern]) => pattern.test(name)) ?? [];
    if (why !== undefined) throw refuse(`${why} (${quote(name)})`, hint);
  }
  return plain;
}
