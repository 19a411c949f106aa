import { oneLine, ToolError } from "@refmcp/core/answer";
import type { Failure } from "./protocol.ts";

/** What SQLite said, as what the agent can do about it. */
export function explained({ message, code = "", at, line }: Failure, file: string): ToolError {
  const said = oneLine(message.slice(0, 500));
  const place = line !== undefined ? `Line ${line}: ` : at > 0 ? `Statement ${at + 1}: ` : "";
  const make = (kind: ConstructorParameters<typeof ToolError>[0], text: string, hint: string) =>
    new ToolError(kind, `${place}${text}`, { hint, ...(code === "" ? {} : { code }) });
  if (code === "REFMCP_WRITES")
    return make(
      "denied",
      "SQLite says that this statement does not only read.",
      "Use write_query, where it is offered.",
    );
  if (code === "REFMCP_SWAPPED")
    return make("conflict", `${file} was replaced while it was opened.`, "Repeat the call.");
  if (code === "REFMCP_LINKED")
    return make(
      "denied",
      `Beside ${file} there is a link where SQLite keeps its own files (${said}).`,
      "It would lead out of the database; remove it.",
    );
  if (/^SQLITE_(BUSY|LOCKED)/.test(code))
    return make(
      "unavailable",
      `Another process holds the lock of ${file}.`,
      "Repeat the call a little later.",
    );
  if (/^SQLITE_(NOTADB|CORRUPT)/.test(code))
    return make(
      "unavailable",
      `${file} is no SQLite database, or it is damaged (${said}).`,
      "Nothing was changed. Try sqlite3 FILE .recover, or a backup.",
    );
  if (code === "SQLITE_READONLY_ROLLBACK")
    return make(
      "unavailable",
      `${file} has the journal of a change that was cut off, and this handle may not roll it back.`,
      "Open it once with a program that may write, for example sqlite3 FILE 'SELECT 1 FROM sqlite_schema'.",
    );
  if (/^SQLITE_READONLY_(DIRECTORY|CANTINIT|CANTLOCK)$/.test(code))
    return make(
      "denied",
      `${file} is in journal mode WAL, for which SQLite makes files beside it, and its folder cannot be written (${code}).`,
      "Nothing was changed. Copy it to a folder that can be written, or have its owner run PRAGMA journal_mode=DELETE.",
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
      `${file} cannot be opened (${code}).`,
      "Check that the file and its folder can be read.",
    );
  if (/^SQLITE_(FULL|IOERR|NOMEM|TOOBIG)/.test(code))
    return make("too_large", `${said} (${code}).`, "Nothing was changed. Ask for less at once.");
  if (/^SQLITE_CONSTRAINT/.test(code))
    return make(
      "conflict",
      `${said} (${code}).`,
      "Nothing was changed. describe_table shows keys and constraints.",
    );
  if (/^no such (table|column|function)/.test(message))
    return make("not_found", `${said}.`, "list_tables and describe_table show what there is.");
  return make(
    "invalid",
    `${said}${code === "" ? "" : ` (${code})`}.`,
    "Check the statement and its params; describe_table shows names and types.",
  );
}
