import type { StatsBase } from "node:fs";
import { shorten } from "../answer/budget.ts";
import { errorCode, errorsOf, ToolError, type ToolErrorOptions } from "../answer/errors.ts";
import { oneLine } from "../answer/untrusted.ts";
import type { AllowedDirectories } from "./types.ts";

export { errorCode };

const INSIDE =
  "Use a path inside, or ask the user to start the server with that directory as an argument or --root.";
/** Other codes of the operating system for the same thing. */
const CODE_SYNONYMS: Readonly<Record<string, string>> = {
  eisdir: "is_directory",
  eperm: "eacces",
  edquot: "enospc",
  enfile: "emfile",
  etxtbsy: "ebusy",
};

/**
 * Every error code of a path: its kind, what to do, and the message, in which `@` is replaced with the path and `#` with
 * a detail. Those that begin with `e` are the operating system's.
 */
const pathFailure = errorsOf({
  outside: ["denied", INSIDE, "@ is outside the allowed directories; #."],
  directory_unavailable: [
    "unavailable",
    "Ask the user to create it, or to start the server with another directory argument or --root.",
    "@ cannot be used: the allowed directory #.",
  ],
  read_only: ["denied", "Write in another directory.", "@ cannot be changed: # is read-only."],
  allowed_directory: [
    "denied",
    "Change its contents instead.",
    "@ is or contains the allowed directory #, which cannot be replaced, moved or deleted.",
  ],
  hidden: [
    "denied",
    "Choose another path; list_changes and undo_change show and restore what it keeps.",
    "@ is, contains or is in the journal or the trash, which tools cannot access.",
  ],
  special_file: ["denied", "Choose a regular file.", "@ is #, neither a file nor a directory."],
  several_links: [
    "denied",
    "Copy it to a new file, change the copy, then move the copy over this name.",
    "@ has # hard links, and this would change the file under all of its names, which may be outside.",
  ],
  into_itself: ["invalid", "Choose a place outside it.", "@ cannot be moved into itself (#)."],
  source_remains: [
    "conflict",
    "No data is lost: compare the two, then delete one.",
    "@ was copied to #, but the original could not be fully removed.",
  ],
  is_directory: ["invalid", "Use the path of a file in it.", "@ is a directory, not a file."],
  not_directory: ["invalid", "Use its directory.", "@ is a file, not a directory."],
  not_link: ["invalid", "Read it as a file or list it as a directory.", "@ is not a symlink."],
  not_writable: ["denied", "Ask the user to make it writable.", "@ is write-protected."],
  changed_meanwhile: ["conflict", "Check it, then retry.", "@ was changed by another program."],
  enoent: ["not_found", "List the directory to see its contents.", "@ does not exist#."],
  enotdir: ["invalid", "List its parent.", "A part of @ is a file, not a directory."],
  eexist: ["conflict", "Choose another name, or allow it to be replaced.", "@ already exists."],
  enotempty: ["conflict", "Choose another name, or empty it.", "The directory @ is not empty."],
  eacces: ["denied", "Ask the user to change its permissions.", "The system denied access to @."],
  erofs: ["denied", "Write somewhere else.", "@ is on a read-only file system."],
  eloop: ["invalid", "Name the file itself.", "@ leads through too many links, or a loop of them."],
  enametoolong: ["invalid", "Use a shorter path.", "@ is too long for the file system."],
  einval: ["invalid", "Choose another path.", "@ is not valid on this file system."],
  enospc: ["unavailable", "Free some space first.", "No space is left for @; it is unchanged."],
  efbig: ["too_large", "Write less.", "@ would be larger than the system allows."],
  emfile: ["unavailable", "Wait for other calls, then retry.", "Too many files are open for @."],
  held: [
    "conflict",
    "Close it in other programs and retry; if this persists, ask the user to check its permissions.",
    "@ could not be renamed or removed: another program has it open, or its permissions forbid it.",
  ],
  ebusy: ["conflict", "Retry later.", "@ is in use (a mount point or a running program)."],
});
type PathCode = keyof typeof pathFailure.table;

/** The error of a code, about a path; @param options.detail replaces `#` in the message */
export function pathError(
  code: PathCode,
  path: string,
  { detail = "", ...options }: Omit<ToolErrorOptions, "code"> & { detail?: string } = {},
): ToolError {
  const [, , text = ""] = pathFailure.table[code];
  const message = text.replace(/[@#]/g, (sign) => (sign === "@" ? quote(path) : detail));
  return pathFailure(code, message, options);
}

export function isMissing(error: unknown): boolean {
  const code = errorCode(error);
  return code === "ENOENT" || code === "ENOTDIR";
}

/** For `catch`: undefined if nothing is there; rethrows every other error. */
export function orMissing(error: unknown): undefined {
  if (!isMissing(error)) throw error;
}

/**
 * Converts an error of the operating system to a ToolError about the path as the caller wrote it. Any other error (a
 * ToolError, a bug) is returned unchanged.
 */
export function systemError(error: unknown, path: string): unknown {
  const systemCode = errorCode(error) ?? "";
  if (error instanceof ToolError || !/^E[A-Z0-9]+$/.test(systemCode)) return error;
  const lower = systemCode.toLowerCase();
  const code = CODE_SYNONYMS[lower] ?? lower;
  if (isKnown(code)) return pathError(code, path, { cause: error });
  const options = { hint: "Retry; if it persists, tell the user.", code, cause: error };
  return new ToolError("unavailable", `I/O error on ${quote(path)} (${systemCode}).`, options);
}

const isKnown = (code: string): code is PathCode => Object.hasOwn(pathFailure.table, code);

/**
 * The only refusal for everything outside the allowed directories. It is the same whether the path exists or not, so it
 * cannot be used to probe the disk.
 */
export function outsideError(path: string, allowed: AllowedDirectories): ToolError {
  return pathError("outside", path, { detail: describeAllowed(allowed) });
}

/** Like `outsideError`, for a path whose text is inside. */
export function leadsOutsideError(path: string, allowed: AllowedDirectories): ToolError {
  const detail = `it leads through a symlink, and ${describeAllowed(allowed)}`;
  const hint = "Use a path that stays inside, or ask the user to allow the symlink's target.";
  return pathError("outside", path, { detail, hint });
}

export function specialFileError(
  path: string,
  stat: Pick<StatsBase<number | bigint>, "isFIFO" | "isSocket">,
): ToolError {
  const detail = stat.isFIFO() ? "a FIFO (named pipe)" : stat.isSocket() ? "a socket" : "a device";
  return pathError("special_file", path, { detail });
}

/** For `/proc` and similar, wherever they are mounted. */
export function inSpecialFileSystem(path: string): ToolError {
  return pathError("special_file", path, { detail: "a device, or data of the kernel" });
}

/**
 * The part of an error message that names the allowed directories, or what to do if there are none:
 * `the allowed directories are "/a" and "/b" (read-only)`.
 */
export function describeAllowed(allowed: AllowedDirectories): string {
  const names = allowed.directories().map(({ path, writable, unavailable = "" }) => {
    const remarks = [writable ? "" : "read-only", unavailable].filter((remark) => remark !== "");
    return quote(path) + (remarks.length > 0 ? ` (${remarks.join(", ")})` : "");
  });
  if (names.length === 0)
    return "no directory is allowed: start the server with a directory argument or --root, or open a folder in the client";
  const are = names.length === 1 ? "directory is" : "directories are";
  return `the allowed ${are} ${joinNames(names)}`;
}

const MAX_QUOTED_CHARS = 300;

/** A path or name in quotes for a message, on one line, truncated after 300 characters. */
export function quote(text: string): string {
  return `"${oneLine(shorten(text, MAX_QUOTED_CHARS + 1))}"`;
}

/** `a`, `a and b`, `a, b and c`; with more than `max` items: `a, b and 5 more`. */
export function joinNames(items: readonly string[], max = 10): string {
  const visibleItems = items.slice(0, max);
  const hiddenCount = items.length - visibleItems.length;
  if (hiddenCount > 0) return `${visibleItems.join(", ")} and ${hiddenCount} more`;
  if (visibleItems.length < 2) return visibleItems.join("");
  return `${visibleItems.slice(0, -1).join(", ")} and ${visibleItems.at(-1) ?? ""}`;
}
