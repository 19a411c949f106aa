import type { StatsBase } from "node:fs";
import { type ErrorKind, ToolError } from "../answer/errors.ts";
import { describeBound } from "./directories.ts";
import { quote } from "./system-error.ts";
import type { AllowedDirectory, Bound } from "./types.ts";

function refusal(kind: ErrorKind, code: string, path: string, what: string, hint: string): ToolError {
  return new ToolError(kind, `${quote(path)} ${what}.`, { code, hint });
}

/**
 * The only refusal for everything outside the bound. It is the same whether the path exists or not, so it cannot be
 * used to probe the disk.
 */
export function outside(path: string, bound: Bound): ToolError {
  if (bound.directories().length === 0) {
    const hint = "Start the server with a directory argument or --root, or open a folder in the client.";
    return refusal("denied", "no_directories", path, "cannot be used: no directory is allowed", hint);
  }
  const what = `is outside the allowed directories; ${describeBound(bound)}`;
  const hint =
    "Use a path inside, or ask the user to start the server with that directory as an argument or --root.";
  return refusal("denied", "outside", path, what, hint);
}

/** Like `outside`, for a path whose text is inside. */
export function leadsOutside(path: string, bound: Bound): ToolError {
  const what = `leads through a symlink to a path outside the allowed directories; ${describeBound(bound)}`;
  const hint = "Use a path that stays inside, or ask the user to allow the symlink's target.";
  return refusal("denied", "outside", path, what, hint);
}

/** An allowed directory that does not exist now. */
export function gone(path: string, directory: AllowedDirectory): ToolError {
  const { source, unavailable = "does not exist" } = directory;
  const what = `cannot be used: the allowed directory ${quote(directory.path)} (${source}) ${unavailable}`;
  const hint = "Ask the user to create it, or to start the server with another directory argument or --root.";
  return refusal("unavailable", "directory_unavailable", path, what, hint);
}

export function readOnly(path: string, directory: AllowedDirectory): ToolError {
  const what = `cannot be changed: ${quote(directory.path)} is read-only`;
  const hint = "Write in another allowed directory, or ask the user to allow changes in this one.";
  return refusal("denied", "read_only", path, what, hint);
}

export function isAllowedDirectory(path: string, directory: AllowedDirectory): ToolError {
  const what = `is or contains the allowed directory ${quote(directory.path)}, which cannot be replaced, moved or deleted`;
  return refusal("denied", "allowed_directory", path, what, "Change its contents instead.");
}

/** The refusal of everything except regular files and directories. */
export function specialFile(
  path: string,
  stat: Pick<StatsBase<number | bigint>, "isFIFO" | "isSocket" | "isCharacterDevice" | "isBlockDevice">,
): ToolError {
  let type = "neither a regular file nor a directory";
  if (stat.isFIFO()) type = "a FIFO (named pipe)";
  else if (stat.isSocket()) type = "a socket";
  else if (stat.isCharacterDevice() || stat.isBlockDevice()) type = "a device";
  const what = `is ${type}; only regular files and directories can be used`;
  return refusal("denied", "special_file", path, what, "Choose a regular file.");
}

/** The refusal of files in a special file system, such as `/proc`. */
export function specialPlace(path: string): ToolError {
  const what = "contains devices or kernel data, not files; it is never allowed";
  return refusal("denied", "special_file", path, what, "Choose a regular file.");
}

export function isDirectory(path: string): ToolError {
  const hint = "Use the path of a file in it.";
  return refusal("invalid", "is_directory", path, "is a directory, not a file", hint);
}

export function isNotDirectory(path: string): ToolError {
  const hint = "Use the directory that contains it.";
  return refusal("invalid", "not_directory", path, "is a file, not a directory", hint);
}

/** The refusal if another program changed the disk during an operation. */
export function changedConcurrently(path: string): ToolError {
  const what = "was changed by another program during this operation";
  return refusal("conflict", "changed_meanwhile", path, what, "Check it, then retry.");
}

export function exists(path: string): ToolError {
  const hint = "Choose another name, or allow it to be replaced.";
  return refusal("conflict", "eexist", path, "already exists", hint);
}
