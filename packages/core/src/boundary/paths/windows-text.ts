import { ToolError } from "../../answer/errors.ts";
import { quote } from "./quote.ts";

/** Microsoft, "Naming Files, Paths, and Namespaces": devices in every directory, with any extension. */
const reserved = /^(?:con|prn|aux|nul|conin\$|conout\$|(?:com|lpt)[0-9¹²³])$/i;

/**
 * Checks a path's text by Windows' rules and returns it with `/c/x` (as Git Bash writes it) turned into `C:\x`.
 *
 * Refused, because they refer to something other than the file they seem to: `\\?\` and `\\.\` (past all
 * normalisation, devices), `C:x` and `\x` (relative to a current directory or drive), reserved names,
 * trailing dots and spaces (stripped by the system), `name:stream` (alternate data streams), characters no
 * name can hold.
 *
 * @throws ToolError `invalid`
 */
export function checkWindowsText(text: string): string {
  const refuse = (why: string, hint: string): ToolError =>
    new ToolError("invalid", `The path ${quote(text)} ${why}.`, { hint });

  const slashed = text.replaceAll("/", "\\");
  if (/^\\\\[?.](?:\\|$)/.test(slashed) || slashed.startsWith("\\??\\")) {
    throw refuse("is a device path (\\\\?\\ or \\\\.\\)", "Write it with a drive letter: C:\\folder\\file.");
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
    if (name.includes(":")) {
      throw refuse(
        `refers to an alternate data stream (${quote(name)})`,
        "Use the file name without a colon.",
      );
    }
    // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is looked for
    if (/[<>"|?*\u0001-\u001f]/.test(name)) {
      throw refuse(
        `contains a character not allowed in names (${quote(name)})`,
        'Remove < > " | ? * and control characters.',
      );
    }
    if (/[. ]$/.test(name)) {
      throw refuse(
        `has a name that ends in a dot or a space (${quote(name)})`,
        "Windows would strip it: remove it.",
      );
    }
    if (reserved.test((name.split(".", 1)[0] ?? "").trimEnd())) {
      throw refuse(`contains a reserved device name (${quote(name)})`, "Choose another name.");
    }
  }
  return plain;
}
