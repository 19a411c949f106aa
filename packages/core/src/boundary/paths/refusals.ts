import type { StatsBase } from "node:fs";
import { ToolError } from "../../answer/errors.ts";
import { describeBound } from "./directories.ts";
import { quote } from "./system-error.ts";
import type { AllowedDirectory, Bound } from "./types.ts";

/**
 * The one refusal of everything outside the bound. It is the same whether the thing exists or not, so that it
 * cannot be used to probe the disk.
 */
export function outside(path: string, bound: Bound): ToolError {
  if (bound.directories().length === 0) {
    return new ToolError("denied", `${quote(path)} cannot be used: no directory is allowed.`, {
      code: "no_directories",
      hint: "Start the server with a directory argument or --root, or open a folder in the client.",
    });
  }
  return new ToolError(
    "denied",
    `${quote(path)} is outside the allowed directories; ${describeBound(bound)}.`,
    {
      code: "outside",
      hint: "Use a path inside, or ask the user to start the server with that directory as an argument or --root.",
    },
  );
}

/** As `outside`, for a path that is inside by its text. */
export function leadsOutside(path: string, bound: Bound): ToolError {
  return new ToolError(
    "denied",
    `${quote(path)} leads through a symlink to a path outside the allowed directories; ${describeBound(bound)}.`,
    {
      code: "outside",
      hint: "Use a path that stays inside, or ask the user to allow the symlink's target.",
    },
  );
}

/** An allowed directory that does not exist now. */
export function gone(path: string, directory: AllowedDirectory): ToolError {
  return new ToolError(
    "unavailable",
    `${quote(path)} cannot be used: the allowed directory ${quote(directory.path)} (${directory.source}) ${directory.unavailable ?? "does not exist"}.`,
    {
      code: "directory_unavailable",
      hint: "Ask the user to create it, or to start the server with another directory argument or --root.",
    },
  );
}

export function readOnly(path: string, directory: AllowedDirectory): ToolError {
  return new ToolError("denied", `${quote(path)} cannot be changed: ${quote(directory.path)} is read-only.`, {
    code: "read_only",
    hint: "Write in another allowed directory, or ask the user to allow changes in this one.",
  });
}

export function isAllowedDirectory(path: string, directory: AllowedDirectory): ToolError {
  return new ToolError(
    "denied",
    `${quote(path)} is or contains the allowed directory ${quote(directory.path)}, which cannot be replaced, moved or deleted.`,
    { code: "allowed_directory", hint: "Change its contents instead." },
  );
}

/** Only regular files and directories are accessed. */
export function specialFile(
  path: string,
  stat: Pick<StatsBase<number | bigint>, "isFIFO" | "isSocket" | "isCharacterDevice" | "isBlockDevice">,
): ToolError {
  let what = "neither a regular file nor a directory";
  if (stat.isFIFO()) what = "a FIFO (named pipe)";
  else if (stat.isSocket()) what = "a socket";
  else if (stat.isCharacterDevice() || stat.isBlockDevice()) what = "a device";
  return new ToolError(
    "denied",
    `${quote(path)} is ${what}; only regular files and directories can be used.`,
    {
      code: "special_file",
      hint: "Choose a regular file.",
    },
  );
}

/** Files of a special file system: `/proc` and similar. */
export function specialPlace(path: string): ToolError {
  return new ToolError(
    "denied",
    `${quote(path)} contains devices or kernel data, not files; it is never allowed.`,
    {
      code: "special_file",
      hint: "Choose a regular file.",
    },
  );
}

export function isDirectory(path: string): ToolError {
  return new ToolError("invalid", `${quote(path)} is a directory, not a file.`, {
    code: "is_directory",
    hint: "Use the path of a file in it.",
  });
}

export function isNoDirectory(path: string): ToolError {
  return new ToolError("invalid", `${quote(path)} is a file, not a directory.`, {
    code: "not_directory",
    hint: "Use the directory that contains it.",
  });
}

/** Another program changed the disk during an operation. */
export function changedConcurrently(path: string): ToolError {
  return new ToolError("conflict", `${quote(path)} was changed by another program during this operation.`, {
    code: "changed_meanwhile",
    hint: "Check it, then retry.",
  });
}

export function exists(path: string): ToolError {
  return new ToolError("conflict", `${quote(path)} already exists.`, {
    code: "eexist",
    hint: "Choose another name, or allow it to be replaced.",
  });
}
