import { errorCode } from "@refmcp/boundary";
import { sized, ToolError } from "@refmcp/boundary/answer";

const RECOVERY =
  "The file was not changed. Move it away (with its -wal and -shm files) and start again, restore a backup, or recover what is readable: sqlite3 FILE .recover | sqlite3 NEW.";

/** SQLite's result code of an error, for example `SQLITE_FULL`; undefined for other errors. */
export function codeOf(error: unknown): string | undefined {
  const code = errorCode(error);
  return code?.startsWith("SQLITE_") === true ? code : undefined;
}

/** Whether an error can come from a damaged search index. */
export function maybeIndex(error: unknown): boolean {
  return /^SQLITE_(?:CORRUPT|CONSTRAINT|ERROR)/.test(codeOf(error) ?? "");
}

/** Whether another process currently holds the lock. */
export function isBusy(error: unknown): boolean {
  return codeOf(error)?.startsWith("SQLITE_BUSY") === true;
}

/** Converts a SQLite error to one that says what to do next; other errors are returned unchanged. */
export function explained(error: unknown, file: string): unknown {
  const code = codeOf(error);
  if (code === undefined) return error;
  const [, family = ""] = /^(SQLITE_[A-Z]+)/.exec(code) ?? [];
  switch (family) {
    case "SQLITE_NOTADB":
    case "SQLITE_CORRUPT":
      return damaged(file, error);
    case "SQLITE_BUSY":
      return new ToolError("unavailable", `${file} is locked by another program.`, {
        hint: "Close the program that has it open, such as a database browser or a backup, then repeat the call. Nothing was changed.",
        code: "locked",
        cause: error,
      });
    case "SQLITE_FULL":
      return new ToolError("unavailable", `No space left for the memory in ${file}; nothing was written.`, {
        hint: "Free space on that disk, then repeat the call. Existing memories are intact.",
        code: "disk_full",
        cause: error,
      });
    case "SQLITE_READONLY":
    case "SQLITE_PERM":
    case "SQLITE_AUTH":
      return readOnly(file, error);
    case "SQLITE_CANTOPEN":
      return new ToolError("unavailable", `The memory file ${file} cannot be opened.`, {
        hint: "Check that its directory exists and is writable for this user, or choose another file with --file.",
        cause: error,
      });
    case "SQLITE_IOERR":
      return new ToolError(
        "unavailable",
        `Disk error while using the memory in ${file} (${code}); this call changed nothing.`,
        { hint: "Check the disk and its free space, then repeat the call.", cause: error },
      );
    default:
      return error;
  }
}

export function damaged(file: string, cause?: unknown): ToolError {
  return new ToolError("unavailable", `${file} is not a memory of this server, or it is damaged.`, {
    hint: RECOVERY,
    code: "damaged",
    cause,
  });
}

export function readOnly(file: string, cause?: unknown): ToolError {
  return new ToolError("denied", `The memory file ${file} is read-only for this user; nothing was written.`, {
    hint: "Make the file and its directory writable, or choose another file with --file. Tools that only read still work.",
    code: "read_only",
    cause,
  });
}

/** After a call that failed for that reason. */
export function indexDamaged(file: string, problem: string, isRebuilt: boolean): ToolError {
  const what = `The search index of ${file} ${isRebuilt ? "was" : "is"} damaged (${problem})`;
  return new ToolError(
    "unavailable",
    isRebuilt
      ? `${what} and has been rebuilt. This call changed nothing.`
      : `${what}, and the file is read-only.`,
    {
      hint: isRebuilt
        ? "Repeat the call."
        : "Make the file and its directory writable, then repeat the call. Tools that do not search still work.",
      code: "index_damaged",
      cause: problem,
    },
  );
}

/** After waiting for other writers. */
export function lockHeld(file: string, seconds: number, cause: unknown): ToolError {
  return new ToolError(
    "unavailable",
    `Another process has held the write lock of ${file} for ${seconds} s.`,
    {
      hint: "Repeat the call later. If this persists, find the process that has the file open and end it.",
      code: "locked",
      cause,
    },
  );
}

/** Maximum size of a file that is read at once, in bytes. */
const MAX_BYTES = 1024 ** 3;

/** @throws ToolError `too_large` */
export function refuseLarge(file: string, bytes: number): void {
  if (bytes <= MAX_BYTES) return;
  throw new ToolError("too_large", `${file} is ${sized(bytes)}; the limit is ${sized(MAX_BYTES)}.`, {
    hint: "Split the file and import the parts.",
  });
}
