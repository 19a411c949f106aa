import { ToolError } from "../answer/errors.ts";
import { oneLine } from "../answer/untrusted.ts";

/** The code of an error of the operating system (`ENOENT`), or undefined for anything else. */
export function errorCode(error: unknown): string | undefined {
  if (!(error instanceof Error) || !("code" in error)) return undefined;
  return typeof error.code === "string" ? error.code : undefined;
}

/** Whether `error` means that nothing exists there. */
export function isMissing(error: unknown): boolean {
  const code = errorCode(error);
  return code === "ENOENT" || code === "ENOTDIR";
}

type Words = readonly [kind: ToolError["kind"], message: string, hint: string];

/** Messages for errors of the operating system; `@` is replaced with the path, `#` with the code. */
const WORDS: Readonly<Record<string, Words>> = {
  ENOENT: ["not_found", "@ does not exist.", "List the directory to see its contents."],
  ENOTDIR: ["invalid", "A part of @ is a file, not a directory.", "List its parent to see its contents."],
  EISDIR: ["invalid", "@ is a directory, not a file.", "Use the path of a file in it."],
  EEXIST: ["conflict", "@ already exists.", "Choose another name, or allow it to be replaced."],
  ENOTEMPTY: ["conflict", "The directory @ is not empty.", "Choose another name, or empty it first."],
  EACCES: [
    "denied",
    "The operating system denied access to @ (#).",
    "Ask the user to change the permissions, or work on another file.",
  ],
  EROFS: ["denied", "@ is on a read-only file system.", "Write somewhere else."],
  ELOOP: ["invalid", "@ leads through too many links, or through a loop of them.", "Name the file itself."],
  ENAMETOOLONG: ["invalid", "@ is too long for the file system.", "Use a shorter path."],
  EINVAL: ["invalid", "@ is not valid on this file system.", "Choose another path."],
  ENOSPC: ["unavailable", "There is no space left for @; nothing was changed.", "Free some space first."],
  EFBIG: ["too_large", "@ would be larger than the system allows.", "Write less."],
  EMFILE: [
    "unavailable",
    "Too many files are open, so @ cannot be opened.",
    "Wait for other calls, then retry.",
  ],
  EBUSY: ["conflict", "@ is in use (a mount point or a running program).", "Retry later."],
};
const SAME: Readonly<Record<string, string>> = {
  EPERM: "EACCES",
  EDQUOT: "ENOSPC",
  ENFILE: "EMFILE",
  ETXTBSY: "EBUSY",
};
const OTHER: Words = ["unavailable", "I/O error on @ (#).", "Retry; if it persists, tell the user."];

/**
 * Converts an error of the operating system to a ToolError about the path as the caller wrote it. Any other error (a
 * ToolError, a bug) is returned unchanged.
 */
export function systemError(error: unknown, path: string): unknown {
  const code = errorCode(error);
  if (code === undefined || error instanceof ToolError || !/^E[A-Z0-9]+$/.test(code)) return error;
  const [kind, message, hint] = WORDS[SAME[code] ?? code] ?? OTHER;
  const text = message.replace("#", code).replace("@", () => quote(path));
  return new ToolError(kind, text, { hint, code: code.toLowerCase(), cause: error });
}

const MAX_QUOTED_CHARS = 300;

/**
 * A path or name in quotes for a message, on one line, truncated after 300 characters.
 */
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
