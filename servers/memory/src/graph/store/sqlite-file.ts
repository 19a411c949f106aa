import { closeSync, constants, existsSync, openSync, readFileSync, statSync } from "node:fs";
import { dirname } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { ensureDirectory, errorCode } from "@refmcp/boundary";
import { ToolError } from "@refmcp/boundary/answer";
import type { Sqlite } from "@refmcp/sql/native";
import type { Database } from "better-sqlite3";
import { damaged, explainedSqlite, failure, readOnly, refuseLarge, sqliteCode } from "../errors.ts";
import { SCHEMA_VERSION, tablesOf } from "./tables.ts";

/** "RMEM" marks the file as a memory, so that other programs' databases are never written to. */
const APPLICATION_ID = 0x524d454d;

/**
 * The search index has one row for each live entity (name and type, under its negative id) and one for each current
 * observation (content, under its id), folded. It does not store these texts ("contentless"), so a row is removed by its
 * id, even if another Node.js version with other Unicode tables folded it. What is removed leaves it with later merges, not
 * at once (`deletemerge`), which would block for 0.3 s. `terms` lists the stems in it.
 */
export const SEARCH_INDEX = `
CREATE VIRTUAL TABLE search USING fts5 (
  text, content = '', contentless_delete = 1,
  tokenize = "porter unicode61 remove_diacritics 0 categories 'L* N* Co M*'"
);
INSERT INTO search (search, rank) VALUES ('deletemerge', 0);
CREATE VIRTUAL TABLE terms USING fts5vocab (search, row);
`;

/** The tables of a graph and its search index. */
const SCHEMA = `
${tablesOf({ id: "INTEGER PRIMARY KEY AUTOINCREMENT", integer: "INTEGER", byCodePoint: "TEXT", options: " STRICT" })}
${SEARCH_INDEX}
`;

/** How long work waits for other processes, in milliseconds. */
export const LOCK_WAIT_MS = 30_000;
/** How long opening waits for a program that lets nobody read; processes of this server never do that for long. */
const OPEN_WAIT_MS = 2_000;
/**
 * SQLite itself waits for a lock only to read, and shortly, because it blocks the event loop: a reader meets one only while
 * another process recovers the WAL. For writing see `untilFree`.
 */
const [READ_WAIT_MS, WRITE_WAIT_MS] = [40, 0];

/**
 * Opens a memory file, or creates it (mode 0600, its folder 0700). A file that cannot be written is opened for reading,
 * without a writer.
 *
 * @throws ToolError `unavailable` for a damaged file or another program's file, which is not changed; `denied` for a
 *   read-only location without a file.
 */
export async function openFile(Sqlite: Sqlite, file: string) {
  createMissing(file);
  let writer: Database | undefined;
  try {
    writer = await prepareWriter(Sqlite, file);
    return { writer, reader: await openReader(Sqlite, file) };
  } catch (error) {
    writer?.close();
    throw explainedSqlite(error, file);
  }
}

function createMissing(file: string): void {
  const facts = existsSync(file) ? statSync(file) : undefined;
  if (facts?.isFile() === true) return;
  if (facts !== undefined)
    throw new ToolError("invalid", `${file} is not a regular file.`, {
      hint: "Choose a file with --file; it is created if missing.",
    });
  try {
    ensureDirectory(dirname(file), 0o700);
    closeSync(openSync(file, constants.O_CREAT | constants.O_RDWR, 0o600));
  } catch (cause) {
    throw new ToolError(
      "unavailable",
      `The memory file ${file} cannot be created: ${errorCode(cause) ?? String(cause)}.`,
      { hint: "Choose a location that this user can write to with --file.", cause },
    );
  }
}

/** A connection for writing; undefined if the file exists and is read-only. */
async function prepareWriter(Sqlite: Sqlite, file: string): Promise<Database | undefined> {
  if (!isWritable(file)) {
    if (statSync(file).size === 0) throw readOnly(file);
    const reader = await openReader(Sqlite, file);
    try {
      checkOwner(reader, file);
    } finally {
      reader.close();
    }
    return undefined;
  }
  const db = new Sqlite(file, { timeout: WRITE_WAIT_MS });
  try {
    // Before anything is written, so that another program's file is not changed.
    await untilFree(() => checkOwner(db, file), OPEN_WAIT_MS);
    // In larger pages, a checkpoint takes half the time; only a new file gets them.
    db.pragma("page_size = 8192");
    await untilFree(() => db.pragma("journal_mode = WAL"));
    // An acknowledged write survives a power failure (SQLite, "PRAGMA synchronous").
    db.pragma("synchronous = FULL");
    // The store does checkpoints separately, and a small cache writes pages before the commit, so that none is long.
    db.pragma("wal_autocheckpoint = 0");
    db.pragma("cache_size = -2000");
    db.pragma("temp_store = MEMORY");
    // Deleted data is overwritten (SQLite, "PRAGMA secure_delete").
    db.pragma("secure_delete = ON");
    await untilFree(() => createTables(db, file));
    return db;
  } catch (error) {
    db.close();
    throw error;
  }
}

/**
 * A connection for reading. SQLite cannot open a WAL file in a folder where it may not create the -shm file. Nobody can
 * be writing to such a file, so a copy in memory is opened instead.
 */
async function openReader(Sqlite: Sqlite, file: string): Promise<Database> {
  try {
    const reader = new Sqlite(file, { readonly: true, timeout: READ_WAIT_MS });
    await untilFree(() => reader.pragma("schema_version"), OPEN_WAIT_MS);
    return reader;
  } catch (error) {
    const noShm = /^SQLITE_(CANTOPEN|READONLY)/.test(sqliteCode(error));
    const walSize = statSync(`${file}-wal`, { throwIfNoEntry: false })?.size ?? 0;
    // The content of a WAL file would be missing from the copy.
    if (!noShm || walSize > 0 || isWritable(file)) throw error;
    refuseLarge(file, statSync(file).size);
    const bytes = readFileSync(file);
    // Bytes 18 and 19 select WAL mode (SQLite, "Database File Format", 1.3.3); a copy in memory has no WAL.
    bytes.fill(1, 18, 20);
    return new Sqlite(bytes, { readonly: true });
  }
}

function isWritable(file: string): boolean {
  try {
    closeSync(openSync(file, constants.O_RDWR));
    return true;
  } catch {
    return false;
  }
}

function checkOwner(db: Database, file: string): void {
  // In one transaction: another process of this server may be creating the file right now.
  const look = db.transaction(() => ({
    owner: db.pragma("application_id", { simple: true }),
    version: versionOf(db),
    tables: db.prepare<[], { count: number }>("SELECT count(*) AS count FROM sqlite_schema").get(),
  }));
  const { owner, version, tables } = look.deferred();
  if (owner !== APPLICATION_ID && (tables?.count ?? 0) > 0)
    throw failure("foreign", `${file} is another program's SQLite database.`);
  if (version === 0 || version === SCHEMA_VERSION) return;
  const [age, hint] =
    version > SCHEMA_VERSION
      ? ["a newer", "Update this server to its newest version."]
      : [
          "an early development",
          "Export it with that version (export_graph), and import it into a new file.",
        ];
  const formats = `format ${version}; this version supports ${SCHEMA_VERSION}`;
  throw new ToolError(
    "unavailable",
    `${file} was written by ${age} version of this server (${formats}).`,
    { hint: `The file was not changed. ${hint}` },
  );
}

/** The format of a memory file; 0 for an empty one. */
const versionOf = (db: Database) => Number(db.pragma("user_version", { simple: true }));

/** Whether the tables exist. Reading needs no lock, so a long write by another process does not prevent opening. */
function hasTables(db: Database, file: string): boolean {
  if (versionOf(db) !== SCHEMA_VERSION) return false;
  if (db.prepare("SELECT 1 FROM sqlite_schema WHERE name = 'changes'").get() === undefined)
    throw damaged(file);
  return true;
}

function createTables(db: Database, file: string): void {
  if (hasTables(db, file)) return;
  db.transaction(() => {
    // Another process may have created them since.
    if (hasTables(db, file)) return;
    db.exec(SCHEMA);
    db.pragma(`application_id = ${APPLICATION_ID}`);
    db.pragma(`user_version = ${SCHEMA_VERSION}`);
  }).immediate();
}

/** Whether another process currently holds the lock. */
export function isBusy(error: unknown): boolean {
  return sqliteCode(error).startsWith("SQLITE_BUSY");
}

/** Repeats some work while another process holds a lock, without blocking this one. */
export async function untilFree(work: () => unknown, wait = LOCK_WAIT_MS): Promise<void> {
  for (const started = performance.now(); ; await sleep(5 + Math.random() * 20)) {
    try {
      work();
      return;
    } catch (error) {
      if (!isBusy(error) || performance.now() - started > wait) throw error;
    }
  }
}
