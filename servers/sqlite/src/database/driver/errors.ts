import { type ErrorKind, oneLine, ToolError } from "@refmcp/boundary/answer";
import { CSV_HINT } from "@refmcp/sql/csv";
import type { Progress } from "./handle.ts";

export interface Failure extends Progress {
  readonly message: string;
  readonly code: string | undefined;
}

/** Converts a SQLite error to a ToolError that says what to do next. */
export function explained({ message, code = "", at, line }: Failure, path: string): ToolError {
  const file = oneLine(path);
  const said = oneLine(message.slice(0, 500));
  const place = line !== undefined ? `Line ${line}: ` : at > 0 ? `Statement ${at + 1}: ` : "";
  const make = (kind: ErrorKind, text: string, hint: string) =>
    new ToolError(kind, `${place}${text}`, { hint, ...(code === "" ? {} : { code }) });
  if (code === "REFMCP_WRITES")
    return make(
      "denied",
      "SQLite reports that this statement is not read-only.",
      "Use execute, if this server offers it.",
    );
  if (code === "ENOENT" || code === "ENOTDIR")
    return make(
      "not_found",
      `The database file ${file} does not exist.`,
      "Check --db-path; with --allow-ddl, execute creates it with its first CREATE TABLE.",
    );
  if (code === "REFMCP_IRREGULAR")
    return make(
      "invalid",
      `${file} is not a regular file, so it can't be a database.`,
      "Check --db-path and --db.",
    );
  if (code === "REFMCP_CSV") return make("invalid", said, CSV_HINT);
  if (code === "REFMCP_SWAPPED")
    return make("conflict", `${file} was replaced while it was being opened.`, "Repeat the call.");
  if (code === "REFMCP_LINKED")
    return make(
      "denied",
      `SQLite keeps its own files next to ${file}, and one of them leads to another file (${said}).`,
      "It could lead outside the allowed directories. Remove a symlink; a journal of a transaction in several databases can be rolled back with sqlite3 FILE.",
    );
  if (/^SQLITE_(BUSY|LOCKED)/.test(code))
    return make("unavailable", `Another process has locked ${file}.`, "Try again shortly.");
  if (/^SQLITE_(NOTADB|CORRUPT)/.test(code))
    return make(
      "unavailable",
      `${file} is not a SQLite database, or it is damaged (${said}).`,
      "Nothing was changed. Try sqlite3 FILE .recover, or a backup.",
    );
  if (code === "SQLITE_READONLY_ROLLBACK")
    return make(
      "unavailable",
      `${file} has a journal of an interrupted change, which a read-only connection can't roll back.`,
      "Open it once with write access, for example: sqlite3 FILE 'SELECT 1 FROM sqlite_schema'.",
    );
  if (/^SQLITE_READONLY_(DIRECTORY|CANTINIT|CANTLOCK)$/.test(code))
    return make(
      "denied",
      `${file} is in WAL mode, which needs files next to it, and its directory is not writable (${code}).`,
      "Nothing was changed. Copy it to a writable directory, or ask its owner to run PRAGMA journal_mode=DELETE.",
    );
  if (/^SQLITE_READONLY/.test(code))
    return make(
      "denied",
      `${said} (${code}).`,
      "Nothing was changed. Changes need --allow-write and a writable file.",
    );
  if (/^SQLITE_CANTOPEN/.test(code))
    return make(
      "unavailable",
      `${file} can't be opened (${code}).`,
      "Check that the file and its directory are readable.",
    );
  if (/^SQLITE_(FULL|IOERR_(WRITE|FSYNC))/.test(code))
    return make(
      "unavailable",
      `There is no space left for ${file} (${code}); nothing was changed.`,
      "Free some space first.",
    );
  if (/^SQLITE_(IOERR|NOMEM|TOOBIG)/.test(code))
    return make("too_large", `${said} (${code}).`, "Nothing was changed. Request less at once.");
  if (/^SQLITE_CONSTRAINT/.test(code))
    return make(
      "conflict",
      `${said} (${code}).`,
      "Nothing was changed. describe_tables shows keys and constraints.",
    );
  const [, quoted] = /^(no such column: ".*") - should this be a string literal/s.exec(said) ?? [];
  if (quoted !== undefined)
    return make(
      "not_found",
      `${quoted}.`,
      "Double quotes are for names; write text in single quotes. describe_tables lists the columns.",
    );
  if (/^no such (table|column|function)/.test(message))
    return make("not_found", `${said}.`, "Call describe_tables for the names.");
  return make(
    "invalid",
    `${said}${code === "" ? "" : ` (${code})`}.`,
    "Check the statement and its params; describe_tables shows names and types.",
  );
}
