import {
  closeSync,
  fstatSync,
  fsyncSync,
  openSync,
  readSync,
  renameSync,
  rmSync,
  writeSync,
} from "node:fs";
import { dirname, join } from "node:path";

// Imports only Node.js, since the process that runs SQLite writes records too. Everything is synchronous: that process blocks
// anyway, and a piece is small.

/** Rows and bytes of the record of one change. */
export const RECORD_ROWS = 1_000_000;
export const RECORD_BYTES = 64 * 1_048_576;
/** Why a change beyond these bounds is not recorded. */
export const TOO_LARGE = "it is larger than a recorded change can be";
/** Characters of a statement, and how many, in a record, which are only shown. */
const STATEMENT_CHARS = 500;
const MAX_STATEMENTS = 20;

/** What a change did to a table. */
export interface TableCounts {
  readonly table: string;
  readonly inserted: number;
  readonly updated: number;
  readonly deleted: number;
}

/** A row before and after a change, in a lossless form of the dialect. */
export interface RecordedRow {
  readonly table: string;
  readonly key: unknown;
  /** Absent if the change inserted the row. */
  readonly before?: unknown;
  /** Absent if the change deleted the row. */
  readonly after?: unknown;
}

export interface ChangeSummary {
  readonly id: string;
  /** ISO 8601. */
  readonly time: string;
  /** The database, without secrets: changes of another one are not shown. */
  readonly database: string;
  /** Clipped. */
  readonly statements: readonly string[];
  readonly tables: readonly TableCounts[];
  /** The change that this one undid. */
  readonly undoes?: string | undefined;
  /** What the dialect needs to undo it: a transaction id, definitions. */
  readonly facts?: unknown;
}

/** Where to write a record. */
export interface RecordSlot {
  readonly directory: string;
  readonly id: string;
}

/** Where to record a change; or why it can't be recorded. */
export type Recording = RecordSlot | { readonly reason: string };

/** A change is larger than a record may be. */
export class RecordTooLarge extends Error {
  override name = "RecordTooLarge";
  readonly code = "REFMCP_RECORD_TOO_LARGE";
}

const PIECE = 262_144;
/** The last line of a record: the length of the line before it, so that the summary is read without the rows. */
const TRAILER = 11;

/**
 * Writes the record of one change: a line for each row, then the summary. Until it is `finish`ed it is not a record; then it
 * is `pending`, and `committed` once the database has committed. A process that is killed in between leaves a pending record.
 */
export class ChangeWriter {
  readonly #slot: RecordSlot;
  readonly #path: string;
  readonly #file: number;
  readonly #counts = new Map<string, { inserted: number; updated: number; deleted: number }>();
  #isOpen = true;
  #waiting: string[] = [];
  #size = 0;
  #bytes = 0;
  #rows = 0;

  /** Creates the private file. @throws an error of the file system */
  constructor(slot: RecordSlot) {
    this.#slot = slot;
    this.#path = join(slot.directory, `${slot.id}.pending`);
    this.#file = openSync(this.#path, "wx", 0o600);
  }

  /** Adds a row. @throws RecordTooLarge beyond the bounds, or an error of the file system; then `discard` it */
  add(row: RecordedRow): void {
    const counts = this.#counts.get(row.table) ?? { inserted: 0, updated: 0, deleted: 0 };
    this.#counts.set(row.table, counts);
    if (row.before === undefined) counts.inserted += 1;
    else if (row.after === undefined) counts.deleted += 1;
    else counts.updated += 1;
    this.#rows += 1;
    const line = `${JSON.stringify(row)}\n`;
    this.#bytes += line.length;
    if (this.#rows > RECORD_ROWS || this.#bytes > RECORD_BYTES) throw new RecordTooLarge(TOO_LARGE);
    this.#waiting.push(line);
    this.#size += line.length;
    if (this.#size >= PIECE) this.#flush();
  }

  /** What the rows so far amount to, by table. */
  get tables(): TableCounts[] {
    return [...this.#counts].map(([table, counts]) => ({ table, ...counts }));
  }

  /** Completes the record and waits until it is on the disk. Call it before the database commits. */
  finish(summed: Omit<ChangeSummary, "id" | "time" | "tables">): void {
    const statements = summed.statements
      .slice(0, MAX_STATEMENTS)
      .map((sql) => sql.slice(0, STATEMENT_CHARS));
    const time = new Date().toISOString();
    const summary: ChangeSummary = {
      id: this.#slot.id,
      time,
      ...summed,
      statements,
      tables: this.tables,
    };
    const line = `${JSON.stringify(summary)}\n`;
    const length = String(Buffer.byteLength(line)).padStart(TRAILER - 1, "0");
    this.#waiting.push(line, `${length}\n`);
    this.#flush();
    fsyncSync(this.#file);
    syncDirectory(this.#slot.directory);
  }

  /** The database has committed. @returns the id of the change */
  committed(): string {
    this.#close();
    try {
      renameSync(this.#path, join(dirname(this.#path), `${this.#slot.id}.change`));
    } catch {
      // It stays pending, and can be undone.
    }
    return this.#slot.id;
  }

  /** Nobody knows whether the database has committed: the record stays pending. */
  uncertain(): void {
    this.#close();
  }

  /** The change was not made; does nothing once it is `committed` or `uncertain`. */
  discard(): void {
    if (this.#close()) rmSync(this.#path, { force: true });
  }

  #close(): boolean {
    const wasOpen = this.#isOpen;
    this.#isOpen = false;
    if (wasOpen) closeSync(this.#file);
    return wasOpen;
  }

  #flush(): void {
    const bytes = Buffer.from(this.#waiting.join(""));
    this.#waiting = [];
    this.#size = 0;
    for (let at = 0; at < bytes.length; ) at += writeSync(this.#file, bytes, at);
  }
}

/** So that the name of a new file survives a power failure, where the platform can. */
function syncDirectory(path: string): void {
  if (process.platform === "win32") return;
  const directory = openSync(path, "r");
  try {
    fsyncSync(directory);
  } finally {
    closeSync(directory);
  }
}

/** The summary of a record; undefined if its process was killed before it was finished, or it is damaged. */
export function readSummary(path: string): ChangeSummary | undefined {
  const file = openSync(path, "r");
  try {
    const { size } = fstatSync(file);
    const trailer = textAt(file, size - TRAILER, TRAILER);
    const length = Number(trailer);
    if (!/^\d+\n$/.test(trailer) || length > size) return undefined;
    const summary: ChangeSummary = JSON.parse(textAt(file, size - TRAILER - length, length));
    return summary;
  } catch {
    return undefined;
  } finally {
    closeSync(file);
  }
}

function textAt(file: number, position: number, length: number): string {
  const bytes = Buffer.alloc(length);
  let at = 0;
  while (at < length) {
    const read = readSync(file, bytes, at, length - at, Math.max(0, position + at));
    if (read === 0) break;
    at += read;
  }
  return bytes.toString("utf8", 0, at);
}

/** The rows of a finished record, one after the other. */
export function* readRows(path: string): Generator<RecordedRow> {
  const file = openSync(path, "r");
  try {
    const { size } = fstatSync(file);
    const end = size - TRAILER - Number(textAt(file, size - TRAILER, TRAILER));
    const piece = Buffer.alloc(PIECE);
    let rest: Buffer[] = [];
    for (let at = 0; at < end; ) {
      const read = readSync(file, piece, 0, Math.min(PIECE, end - at), at);
      if (read === 0) throw new Error("the record is truncated");
      at += read;
      let start = 0;
      for (
        let stop = piece.indexOf(10);
        stop >= 0 && stop < read;
        stop = piece.indexOf(10, start)
      ) {
        const text =
          rest.length === 0
            ? piece.toString("utf8", start, stop)
            : Buffer.concat([...rest, piece.subarray(start, stop)]).toString();
        const row: RecordedRow = JSON.parse(text);
        yield row;
        if (rest.length > 0) rest = [];
        start = stop + 1;
      }
      if (start < read) rest.push(Buffer.from(piece.subarray(start, read)));
    }
  } finally {
    closeSync(file);
  }
}
