import type { StatsBase } from "node:fs";
import { errorsOf, ToolError, type ToolErrorOptions } from "../answer/errors.ts";
import { oneLine } from "../answer/untrusted.ts";
import type { AllowedDirectories, AllowedDirectory } from "./types.ts";

const DENIED = "The operating system denied access to @ (#).";
const PERMISSIONS_HINT = "Ask the user to change the permissions, or work on another file.";
const NO_SPACE = [
  "unavailable",
  "Free some space first.",
  "There is no space left for @; nothing was changed.",
] as const;
const TOO_MANY_OPEN = [
  "unavailable",
  "Wait for other calls, then retry.",
  "Too many files are open, so @ cannot be opened.",
] as const;
const IN_USE = [
  "conflict",
  "Retry later.",
  "@ is in use (a mount point or a running program).",
] as const;

/**
 * Every error code of a path; those that begin with `e` are the operating system's. In a message that is always the
 * same, `@` is replaced with the path, `#` with the operating system's code.
 */
export const pathFailure = errorsOf({
  outside: [
    "denied",
    "Use a path inside, or ask the user to start the server with that directory as an argument or --root.",
  ],
  no_directories: [
    "denied",
    "Start the server with a directory argument or --root, or open a folder in the client.",
  ],
  directory_unavailable: [
    "unavailable",
    "Ask the user to create it, or to start the server with another directory argument or --root.",
  ],
  read_only: [
    "denied",
    "Write in another allowed directory, or ask the user to allow changes in this one.",
  ],
  allowed_directory: ["denied", "Change its contents instead."],
  hidden: [
    "denied",
    "Choose another path; list_changes and undo_change show and restore what it keeps.",
  ],
  special_file: ["denied", "Choose a regular file."],
  several_links: [
    "denied",
    "Copy it to a new file, change the copy, then move the copy over this name.",
  ],
  into_itself: ["invalid", "Choose a destination outside the directory being moved."],
  source_remains: ["conflict", "No data is lost: compare the two, then delete one."],
  is_directory: ["invalid", "Use the path of a file in it.", "@ is a directory, not a file."],
  not_directory: [
    "invalid",
    "Use the directory that contains it.",
    "@ is a file, not a directory.",
  ],
  not_link: ["invalid", "Read it as a file or list it as a directory.", "@ is not a symlink."],
  not_writable: [
    "denied",
    "Ask the user to make it writable, or write another file.",
    "@ is write-protected by its permissions.",
  ],
  changed_meanwhile: [
    "conflict",
    "Check it, then retry.",
    "@ was changed by another program during this operation.",
  ],
  enoent: ["not_found", "List the directory to see its contents.", "@ does not exist."],
  enotdir: [
    "invalid",
    "List its parent to see its contents.",
    "A part of @ is a file, not a directory.",
  ],
  eisdir: ["invalid", "Use the path of a file in it.", "@ is a directory, not a file."],
  eexist: ["conflict", "Choose another name, or allow it to be replaced.", "@ already exists."],
  enotempty: [
    "conflict",
    "Choose another name, or empty it first.",
    "The directory @ is not empty.",
  ],
  eacces: ["denied", PERMISSIONS_HINT, DENIED],
  eperm: ["denied", PERMISSIONS_HINT, DENIED],
  erofs: ["denied", "Write somewhere else.", "@ is on a read-only file system."],
  eloop: [
    "invalid",
    "Name the file itself.",
    "@ leads through too many links, or through a loop of them.",
  ],
  enametoolong: ["invalid", "Use a shorter path.", "@ is too long for the file system."],
  einval: ["invalid", "Choose another path.", "@ is not valid on this file system."],
  enospc: NO_SPACE,
  edquot: NO_SPACE,
  efbig: ["too_large", "Write less.", "@ would be larger than the system allows."],
  emfile: TOO_MANY_OPEN,
  enfile: TOO_MANY_OPEN,
  held: [
    "conflict",
    "Close it in other programs and retry; if this persists, ask the user to check its permissions.",
    "@ could not be renamed or removed: another program has it open, or its permissions forbid it.",
  ],
  ebusy: IN_USE,
  etxtbsy: IN_USE,
});
type PathCode = keyof typeof pathFailure.table;

/** The error of a code whose message is always the same. */
export function pathError(code: PathCode, path: string, options?: ToolErrorOptions): ToolError {
  const [, , text = "@: #"] = pathFailure.table[code];
  const message = text.replace("#", code.toUpperCase()).replace("@", () => quote(path));
  return pathFailure(code, message, options);
}

/** The code of an error of the operating system (`ENOENT`), or undefined for anything else. */
export function errorCode(error: unknown): string | undefined {
  if (!(error instanceof Error) || !("code" in error)) return undefined;
  return typeof error.code === "string" ? error.code : undefined;
}

export function isMissing(error: unknown): boolean {
  const code = errorCode(error);
  return code === "ENOENT" || code === "ENOTDIR";
}

/**
 * Converts an error of the operating system to a ToolError about the path as the caller wrote it. Any other error (a
 * ToolError, a bug) is returned unchanged.
 */
export function systemError(error: unknown, path: string): unknown {
  const written = errorCode(error);
  if (written === undefined || error instanceof ToolError || !/^E[A-Z0-9]+$/.test(written))
    return error;
  const code = written.toLowerCase();
  if (isKnown(code)) return pathError(code, path, { cause: error });
  const hint = "Retry; if it persists, tell the user.";
  return new ToolError("unavailable", `I/O error on ${quote(path)} (${written}).`, {
    hint,
    code,
    cause: error,
  });
}

const isKnown = (code: string): code is PathCode => Object.hasOwn(pathFailure.table, code);

/**
 * The only refusal for everything outside the allowed directories. It is the same whether the path exists or not, so it
 * cannot be used to probe the disk.
 */
export function outside(path: string, allowed: AllowedDirectories): ToolError {
  return allowed.directories().length === 0
    ? pathFailure("no_directories", `${quote(path)} cannot be used: no directory is allowed.`)
    : pathFailure(
        "outside",
        `${quote(path)} is outside the allowed directories; ${describeAllowed(allowed)}.`,
      );
}

/** Like `outside`, for a path whose text is inside. */
export function leadsOutside(path: string, allowed: AllowedDirectories): ToolError {
  const what = `leads through a symlink to a path outside the allowed directories; ${describeAllowed(allowed)}`;
  const hint = "Use a path that stays inside, or ask the user to allow the symlink's target.";
  return pathFailure("outside", `${quote(path)} ${what}.`, { hint });
}

export function directoryUnavailable(path: string, directory: AllowedDirectory): ToolError {
  const { source, unavailable = "does not exist" } = directory;
  const what = `cannot be used: the allowed directory ${quote(directory.path)} (${source}) ${unavailable}`;
  return pathFailure("directory_unavailable", `${quote(path)} ${what}.`);
}

export function readOnly(path: string, directory: AllowedDirectory): ToolError {
  return pathFailure(
    "read_only",
    `${quote(path)} cannot be changed: ${quote(directory.path)} is read-only.`,
  );
}

export function isAllowedDirectory(path: string, directory: AllowedDirectory): ToolError {
  const what = `is or contains the allowed directory ${quote(directory.path)}, which cannot be replaced, moved or deleted`;
  return pathFailure("allowed_directory", `${quote(path)} ${what}.`);
}

/** For this server's journal and trash, and what contains them. */
export function hiddenPlace(path: string): ToolError {
  const what = "is, contains or is in the journal or the trash, which tools cannot access";
  return pathFailure("hidden", `${quote(path)} ${what}.`);
}

export function specialFile(
  path: string,
  stat: Pick<
    StatsBase<number | bigint>,
    "isFIFO" | "isSocket" | "isCharacterDevice" | "isBlockDevice"
  >,
): ToolError {
  let type = "neither a regular file nor a directory";
  if (stat.isFIFO()) type = "a FIFO (named pipe)";
  else if (stat.isSocket()) type = "a socket";
  else if (stat.isCharacterDevice() || stat.isBlockDevice()) type = "a device";
  const what = `is ${type}; only regular files and directories can be used`;
  return pathFailure("special_file", `${quote(path)} ${what}.`);
}

export function inSpecialFileSystem(path: string): ToolError {
  const what = "contains devices or kernel data, not files; it is never allowed";
  return pathFailure("special_file", `${quote(path)} ${what}.`);
}

/**
 * The part of an error message that names the allowed directories, or what to do if there are none:
 * `the allowed directories are "/a" and "/b" (read-only)`.
 */
export function describeAllowed(allowed: AllowedDirectories): string {
  const names = allowed.directories().map(({ path, writable, unavailable }) => {
    const remarks = [
      ...(writable ? [] : ["read-only"]),
      ...(unavailable === undefined ? [] : [unavailable]),
    ];
    return quote(path) + (remarks.length > 0 ? ` (${remarks.join(", ")})` : "");
  });
  if (names.length === 0)
    return "no directory is allowed; start the server with a directory argument or --root, or open a folder in the client";
  return names.length === 1
    ? `the allowed directory is ${names.join("")}`
    : `the allowed directories are ${listed(names)}`;
}

const MAX_QUOTED_CHARS = 300;

/** A path or name in quotes for a message, on one line, truncated after 300 characters. */
export function quote(text: string): string {
  return `"${oneLine(text.length > MAX_QUOTED_CHARS ? `${text.slice(0, MAX_QUOTED_CHARS)}…` : text)}"`;
}

/** `a`, `a and b`, `a, b and c`; with more than `max` items: `a, b and 5 more`. */
export function listed(items: readonly string[], max = 10): string {
  const shown = items.slice(0, max);
  const hidden = items.length - shown.length;
  if (hidden > 0) return `${shown.join(", ")} and ${hidden} more`;
  if (shown.length < 2) return shown.join("");
  return `${shown.slice(0, -1).join(", ")} and ${shown.at(-1) ?? ""}`;
}
