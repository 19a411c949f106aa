import { lstatSync, realpathSync, statSync } from "node:fs";
import type { Sqlite } from "@refmcp/sql/native";
import type Database from "better-sqlite3";

/** A database file that passed the boundary: where it is and which file it was then. */
export interface Place {
  readonly file: string;
  readonly device: number;
  readonly inode: number;
}

/**
 * What is set on every handle: a schema or a damaged file cannot run or map anything, and what a sort needs counts as memory
 * of the process, which is limited, instead of filling the disk.
 */
const DEFENCES = ["trusted_schema=OFF", "cell_size_check=ON", "mmap_size=0", "temp_store=MEMORY"];

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
  // SQLite follows links there, and would write where the link leads.
  for (const companion of COMPANIONS)
    if (lstatSync(place.file + companion, { throwIfNoEntry: false })?.isSymbolicLink() === true)
      throw Object.assign(new Error(`${companion} is a link`), { code: "REFMCP_LINKED" });
  const database = new sqlite(place.file, { readonly, fileMustExist: true, timeout: 2_000 });
  // Between the boundary's look at the path and this one somebody may have swapped it.
  const now = statSync(place.file);
  if (now.dev !== place.device || now.ino !== place.inode || realpathSync(place.file) !== place.file) {
    database.close();
    throw Object.assign(new Error("swapped"), { code: "REFMCP_SWAPPED" });
  }
  for (const pragma of DEFENCES) database.pragma(pragma);
  database.defaultSafeIntegers(true);
  return database;
}

/** Whether SQLite itself says that a prepared statement reads. True for ATTACH of some versions, so never alone. */
export function isReading(statement: Database.Statement): boolean {
  return statement.reader && statement.readonly;
}

/** @throws an error with the code `REFMCP_WRITES` where it does not. */
export function demandReading(statement: Database.Statement): void {
  if (!isReading(statement)) throw Object.assign(new Error("not reading"), { code: "REFMCP_WRITES" });
}
