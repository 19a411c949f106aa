import { ToolError } from "../../answer/errors.ts";
import { oneLine } from "../../answer/untrusted.ts";

/** The code of an error of the operating system (`ENOENT`), or undefined for anything else. */
export function errorCode(error: unknown): string | undefined {
  if (!(error instanceof Error) || !("code" in error)) return undefined;
  return typeof error.code === "string" ? error.code : undefined;
}

/** Whether `error` says that nothing is there. */
export function isMissing(error: unknown): boolean {
  const code = errorCode(error);
  return code === "ENOENT" || code === "ENOTDIR";
}

/**
 * An error of the operating system in words, about the path as the caller wrote it. What is not one (a ToolError, a
 * bug) is returned unchanged.
 */
export function systemError(error: unknown, path: string): unknown {
  const code = errorCode(error);
  if (code === undefined || error instanceof ToolError || !/^E[A-Z0-9]+$/.test(code)) return error;
  const name = quote(path);
  const say = (kind: ToolError["kind"], message: string, hint: string): ToolError =>
    new ToolError(kind, message, { hint, code: code.toLowerCase(), cause: error });
  switch (code) {
    case "ENOENT":
      return say("not_found", `${name} does not exist.`, "List the directory to see its contents.");
    case "ENOTDIR":
      return say(
        "invalid",
        `A part of ${name} is a file, not a directory.`,
        "List its parent to see its contents.",
      );
    case "EISDIR":
      return say("invalid", `${name} is a directory, not a file.`, "Use the path of a file in it.");
    case "EEXIST":
      return say("conflict", `${name} already exists.`, "Choose another name, or allow it to be replaced.");
    case "ENOTEMPTY":
      return say(
        "conflict",
        `The directory ${name} is not empty.`,
        "Choose another name, or empty it first.",
      );
    case "EACCES":
    case "EPERM":
      return say(
        "denied",
        `The operating system denied access to ${name} (${code}).`,
        "Ask the user to change the permissions, or work on another file.",
      );
    case "EROFS":
      return say("denied", `${name} is on a read-only file system.`, "Write somewhere else.");
    case "ELOOP":
      return say(
        "invalid",
        `${name} leads through too many links, or through a loop of them.`,
        "Name the file itself.",
      );
    case "ENAMETOOLONG":
      return say("invalid", `${name} is too long for the file system.`, "Give a shorter path.");
    case "EINVAL":
      return say("invalid", `${name} is not valid on this file system.`, "Choose another path.");
    case "ENOSPC":
    case "EDQUOT":
      return say(
        "unavailable",
        `There is no space left for ${name}; nothing was changed.`,
        "Free some space first.",
      );
    case "EFBIG":
      return say("too_large", `${name} would be larger than the system allows.`, "Write less.");
    case "EMFILE":
    case "ENFILE":
      return say(
        "unavailable",
        `Too many files are open, so ${name} cannot be opened.`,
        "Wait for other calls, then retry.",
      );
    case "EBUSY":
    case "ETXTBSY":
      return say("conflict", `${name} is in use (a mount point or a running program).`, "Retry later.");
    default:
      return say("unavailable", `I/O error on ${name} (${code}).`, "Retry; if it persists, tell the user.");
  }
}

const longest = 300;

/**
 * A path or name inside quotes for a message, on one line whatever it contains, truncated after 300
 * characters.
 */
export function quote(text: string): string {
  return `"${oneLine(text.length > longest ? `${text.slice(0, longest)}…` : text)}"`;
}

/** `a`, `a and b`, `a, b and c`; with more than `most` items: `a, b and 5 more`. */
export function listed(items: readonly string[], most = 10): string {
  const shown = items.slice(0, most);
  const hidden = items.length - shown.length;
  if (hidden > 0) return `${shown.join(", ")} and ${hidden} more`;
  if (shown.length < 2) return shown.join("");
  return `${shown.slice(0, -1).join(", ")} and ${shown.at(-1) ?? ""}`;
}
