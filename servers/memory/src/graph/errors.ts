import { errorCode } from "@refmcp/boundary";
import { errorsOf, sizeOf, ToolError } from "@refmcp/boundary/answer";

/** The error codes of this server. */
export const failure = errorsOf({
  exists: ["conflict"],
  unknown_entity: ["not_found"],
  foreign: ["unavailable", "It was not changed. Choose another file with --file."],
  damaged: [
    "unavailable",
    "The file was not changed. Move it away (with its -wal and -shm files) and start again, restore a backup, or recover what is readable: sqlite3 FILE .recover | sqlite3 NEW.",
  ],
  index_damaged: ["unavailable", "Repeat the call."],
  locked: [
    "unavailable",
    "Close the program that has it open, such as a database browser or a backup, then repeat the call. Nothing was changed.",
  ],
  disk_full: [
    "unavailable",
    "Free space on that disk, then repeat the call. Existing memories are intact.",
  ],
  read_only: [
    "denied",
    "Make the file and its directory writable, or choose another file with --file. Tools that only read still work.",
  ],
});

export const damaged = (file: string, cause?: unknown) =>
  failure("damaged", `${file} is not a memory of this server, or it is damaged.`, { cause });

export const readOnly = (file: string, cause?: unknown) =>
  failure("read_only", `The memory file ${file} is read-only for this user; nothing was written.`, {
    cause,
  });

/** SQLite's result code of an error, for example `SQLITE_FULL`; empty for other errors. */
export function sqliteCode(error: unknown): string {
  const code = errorCode(error) ?? "";
  return code.startsWith("SQLITE_") ? code : "";
}

/** Converts a SQLite error to one that says what to do next; other errors are returned unchanged. */
export function explainedSqlite(cause: unknown, file: string): unknown {
  const code = sqliteCode(cause);
  switch (/^SQLITE_[A-Z]+/.exec(code)?.[0]) {
    case "SQLITE_NOTADB":
    case "SQLITE_CORRUPT":
      return damaged(file, cause);
    case "SQLITE_BUSY":
      return failure("locked", `${file} is locked by another program.`, { cause });
    case "SQLITE_FULL":
      return failure("disk_full", `No space left for the memory in ${file}; nothing was written.`, {
        cause,
      });
    case "SQLITE_READONLY":
    case "SQLITE_PERM":
    case "SQLITE_AUTH":
      return readOnly(file, cause);
    case "SQLITE_CANTOPEN":
      return new ToolError("unavailable", `The memory file ${file} cannot be opened.`, {
        hint: "Check that its directory exists and is writable for this user, or choose another file with --file.",
        cause,
      });
    case "SQLITE_IOERR": {
      const message = `Disk error while using the memory in ${file} (${code}); this call changed nothing.`;
      const hint = "Check the disk and its free space, then repeat the call.";
      return new ToolError("unavailable", message, { hint, cause });
    }
    default:
      return cause;
  }
}

/** PostgreSQL's SQLSTATEs and the operating system's codes: what to say after "PostgreSQL at LOCATION", and what to do. */
const POSTGRES: readonly (readonly [code: RegExp, what: (code: string) => string, hint: string])[] =
  [
    [
      /^53[12]00$/,
      (code) => `has no ${code === "53100" ? "disk space" : "memory"} left; nothing was written`,
      "Free some on the database server, then repeat the call.",
    ],
    [/^57014$/, () => "stopped the statement", "Request less, or repeat the call."],
    [
      /^28|^3D000$/,
      (code) =>
        `refused the connection (${code === "3D000" ? "no such database" : "user or password"})`,
      "Check --store: postgres://user:password@host:port/database.",
    ],
    [
      /^$|^E[A-Z]+$|^08|^57P/,
      (code) => `is unreachable${code === "" ? "" : ` (${code})`}`,
      "Check that it is running and that --store is correct, then check with recent_changes whether the last write was saved.",
    ],
  ];

/** Converts a PostgreSQL error to one that says what to do next; other errors are returned unchanged. */
export function explainedPostgres(cause: unknown, location: string): unknown {
  if (cause instanceof ToolError || !(cause instanceof Error)) return cause;
  const code = errorCode(cause) ?? "";
  if (code === "" && !/connection terminated|timeout exceeded/i.test(cause.message)) return cause;
  if (code === "55P03")
    return new ToolError(
      "unavailable",
      `Another writer has held the memory's lock at ${location} for 30 s.`,
      {
        hint: "Repeat the call later; pg_stat_activity shows who holds it.",
        cause,
      },
    );
  if (code === "25006" || code === "42501")
    return new ToolError("denied", `This user has no write permission at ${location}.`, {
      hint: "Grant the --store user permission to create a schema in the database, and make sure --store is the primary server.",
      cause,
    });
  const [, what, hint] = POSTGRES.find(([pattern]) => pattern.test(code)) ?? [];
  return what === undefined
    ? cause
    : new ToolError("unavailable", `PostgreSQL at ${location} ${what(code)}.`, { hint, cause });
}

/** Maximum size of a file that is read at once, in bytes. */
const MAX_BYTES = 1024 ** 3;

/** @throws ToolError `too_large` */
export function refuseLarge(file: string, bytes: number): void {
  if (bytes <= MAX_BYTES) return;
  throw new ToolError(
    "too_large",
    `${file} is ${sizeOf(bytes)}; the limit is ${sizeOf(MAX_BYTES)}.`,
    {
      hint: "Split the file and import the parts.",
    },
  );
}
