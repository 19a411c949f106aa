import { closeSync, lstatSync, openSync, readSync, realpathSync, statSync } from "node:fs";
import type { Sqlite } from "@refmcp/sql/native";
import { positionText } from "@refmcp/sql/position";
import type Database from "better-sqlite3";
import { tokenize } from "../gate/tokens.ts";

/** A database file: a path that the user named, or a path that passed the boundary with the identity of its file. */
export interface Place {
  readonly file: string;
  readonly device?: number;
  readonly inode?: number;
}

/** How far a runner is in its job, for errors: the number of the statement, from 0, or the line of a CSV file. */
export interface Progress {
  at: number;
  line: number | undefined;
}

/**
 * The identity of the file at a path, and a text that changes whenever the file does.
 *
 * @throws an error with the code `ENOENT`, `REFMCP_IRREGULAR`, or `REFMCP_SWAPPED` if another file passed the
 * boundary
 */
export function fileAt({ file, device, inode }: Place): {
  readonly id: string;
  readonly state: string;
} {
  const there = statSync(file);
  if (!there.isFile()) throw failure("REFMCP_IRREGULAR", "not a regular file");
  const { dev, ino, size, mtimeMs, ctimeMs } = there;
  if (device !== undefined && (dev !== device || ino !== inode))
    throw failure("REFMCP_SWAPPED", "swapped");
  const id = `${file}:${dev}:${ino}`;
  return { id, state: `${id}:${size}:${mtimeMs}:${ctimeMs}` };
}

const failure = (code: string, message: string) => Object.assign(new Error(message), { code });

/**
 * Settings of every handle: a schema or a damaged file can't run or map anything, and sorts take memory of the process,
 * which is limited, instead of filling the disk.
 */
const DEFENSES = ["trusted_schema=OFF", "cell_size_check=ON", "mmap_size=0", "temp_store=MEMORY"];

/** Opens a handle that cannot write: by SQLite's open flags and by query_only. */
export function openReading(sqlite: Sqlite, place: Place): Database.Database {
  const database = open(sqlite, place, true);
  database.pragma("query_only=ON");
  return database;
}

export function openWriting(sqlite: Sqlite, place: Place): Database.Database {
  const database = open(sqlite, place, false);
  database.pragma("foreign_keys=ON");
  return database;
}

/** Files that SQLite creates next to a database, reads, writes and deletes. */
export const COMPANIONS = ["-journal", "-wal", "-shm"];

function open(sqlite: Sqlite, place: Place, readonly: boolean): Database.Database {
  const { id } = fileAt(place);
  const file = realpathSync.native(place.file);
  if (place.device !== undefined && file !== place.file) throw failure("REFMCP_SWAPPED", "swapped");
  // SQLite follows symlinks there, and would write to their targets.
  for (const companion of COMPANIONS)
    if (lstatSync(file + companion, { throwIfNoEntry: false })?.isSymbolicLink() === true)
      throw failure("REFMCP_LINKED", `${companion} is a symlink`);
  if (!readonly && namesAnother(`${file}-journal`))
    throw failure("REFMCP_LINKED", "-journal names another file, which would be deleted");
  const database = new sqlite(file, { readonly, fileMustExist: true, timeout: 2_000 });
  // The file may have been swapped while it was being opened.
  if (fileAt(place).id !== id || realpathSync.native(place.file) !== file) {
    database.close();
    throw failure("REFMCP_SWAPPED", "swapped");
  }
  for (const pragma of DEFENSES) database.pragma(pragma);
  database.defaultSafeIntegers(true);
  return database;
}

/** What a journal ends with if it names a super-journal (SQLite, "Database File Format", 3). */
const SUPER = Buffer.from("d9d505f920a163d7", "hex");

/** Whether SQLite would roll back a journal and then delete the super-journal that it names, which may be any file. */
function namesAnother(path: string): boolean {
  const stat = lstatSync(path, { throwIfNoEntry: false });
  if (stat?.isFile() !== true) return false;
  const file = openSync(path, "r");
  try {
    const [start, end] = [Buffer.alloc(1), Buffer.alloc(SUPER.length)];
    readSync(file, start, 0, 1, 0);
    readSync(file, end, 0, SUPER.length, Math.max(0, stat.size - SUPER.length));
    return start[0] !== 0 && end.equals(SUPER);
  } finally {
    closeSync(file);
  }
}

/**
 * Prepares a statement of the user.
 *
 * @throws SQLite's error; that of a syntax error has the position, which better-sqlite3 does not report
 */
export function prepared(
  database: Database.Database,
  sql: string,
): Database.Statement<unknown[], unknown[]> {
  try {
    return database.prepare<unknown[], unknown[]>(sql);
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    const at = syntaxErrorAt(database, sql, error.message);
    if (at >= 0) error.message += positionText(sql, at);
    throw error;
  }
}

const NEAR = /^near "(.+)": syntax error$/s;

/** Where SQLite found an error: the first token after which the text before it, alone, fails in the same way. */
function syntaxErrorAt(database: Database.Database, sql: string, message: string): number {
  if (message === "incomplete input") return sql.length;
  const near = NEAR.exec(message)?.[1] ?? /^unrecognized token: "(.+)"$/s.exec(message)?.[1];
  if (near === undefined) return -1;
  const fails = (at: number) => {
    try {
      database.prepare(sql.slice(0, at + near.length));
      return false;
    } catch (error) {
      return error instanceof Error && error.message === message;
    }
  };
  const places = tokenize(sql).flatMap(({ at }) => (sql.startsWith(near, at) ? [at] : []));
  let [from, to] = [0, places.length];
  while (from < to) {
    const middle = (from + to) >> 1;
    if (fails(places[middle] ?? 0)) to = middle;
    else from = middle + 1;
  }
  return places[from] ?? -1;
}

/**
 * Whether SQLite itself reports a statement as read-only. In some versions this includes ATTACH, so it is never the only
 * check. It does not include `PRAGMA journal_mode`, which changes something only with a value.
 */
export function isReading({ reader, readonly, source }: Database.Statement): boolean {
  return reader && (readonly || /^\s*PRAGMA\s+(\w+\.)?journal_mode\s*;?\s*$/i.test(source));
}

/** Prepares a statement of the user that may only read. @throws as `prepared` and `requireReadOnly` */
export function preparedReading(database: Database.Database, sql: string) {
  const statement = prepared(database, sql);
  requireReadOnly(statement);
  return statement;
}

/** @throws an error with the code `REFMCP_WRITES` if the statement is not read-only */
function requireReadOnly(statement: Database.Statement): void {
  if (!isReading(statement)) throw failure("REFMCP_WRITES", "not read-only");
}
