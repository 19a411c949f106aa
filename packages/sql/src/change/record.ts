import {
  closeSync,
  fsyncSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { join } from "node:path";

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
const PIECE = 262_144;

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

/**
 * Writes the record of one change: a file with a line for each row, then one with the summary. Until it is `finish`ed it is not
 * a record; then it is `pending`, and a `change` once the database has committed. A process that is killed in between leaves a
 * pending record.
 */
export class ChangeWriter {
  readonly #slot: RecordSlot;
  readonly #file: number;
  readonly #counts = new Map<string, { inserted: number; updated: number; deleted: number }>();
  #isOpen = true;
  #waiting = "";
  #bytes = 0;
  #rows = 0;

  /** Creates the private file. @throws an error of the file system */
  constructor(slot: RecordSlot) {
    this.#slot = slot;
    this.#file = openSync(this.#path("rows"), "wx", 0o600);
  }

  #path(kind: "rows" | "pending" | "change"): string {
    return join(this.#slot.directory, `${this.#slot.id}.${kind}`);
  }

  /** Adds a row. @throws RecordTooLarge beyond the bounds, or an error of the file system; then `discard` it */
  add(row: RecordedRow): void {
    const counts = this.#counts.get(row.table) ?? { inserted: 0, updated: 0, deleted: 0 };
    this.#counts.set(row.table, counts);
    if (row.before === undefined) counts.inserted += 1;
    else if (row.after === undefined) counts.deleted += 1;
    else counts.updated += 1;
    const line = `${JSON.stringify(row)}\n`;
    this.#rows += 1;
    this.#bytes += line.length;
    if (this.#rows > RECORD_ROWS || this.#bytes > RECORD_BYTES) throw new RecordTooLarge(TOO_LARGE);
    this.#waiting += line;
    if (this.#waiting.length >= PIECE) this.#flush();
  }

  /** What the rows so far amount to, by table. */
  get tables(): TableCounts[] {
    return [...this.#counts].map(([table, counts]) => ({ table, ...counts }));
  }

  /** Completes the record and waits until it is on the disk. Call it before the database commits. */
  finish(summed: Omit<ChangeSummary, "id" | "time" | "tables">): void {
    this.#flush();
    fsyncSync(this.#file);
    const summary: ChangeSummary = {
      id: this.#slot.id,
      time: new Date().toISOString(),
      ...summed,
      statements: summed.statements
        .slice(0, MAX_STATEMENTS)
        .map((sql) => sql.slice(0, STATEMENT_CHARS)),
      tables: this.tables,
    };
    const text = JSON.stringify(summary);
    writeFileSync(this.#path("pending"), text, { flag: "wx", mode: 0o600, flush: true });
    syncDirectory(this.#slot.directory);
  }

  /** The database has committed. @returns the id of the change */
  committed(): string {
    this.#close();
    try {
      renameSync(this.#path("pending"), this.#path("change"));
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
    if (!this.#close()) return;
    for (const kind of ["pending", "rows"] as const) rmSync(this.#path(kind), { force: true });
  }

  #close(): boolean {
    const wasOpen = this.#isOpen;
    this.#isOpen = false;
    if (wasOpen) closeSync(this.#file);
    return wasOpen;
  }

  #flush(): void {
    const bytes = Buffer.from(this.#waiting);
    this.#waiting = "";
    for (let at = 0; at < bytes.length; ) at += writeSync(this.#file, bytes, at);
  }
}

/** So that the names of new files survive a power failure, where the platform can. */
function syncDirectory(path: string): void {
  if (process.platform === "win32") return;
  const directory = openSync(path, "r");
  try {
    fsyncSync(directory);
  } finally {
    closeSync(directory);
  }
}

/** The summary of a record; undefined if it was dropped, its process was killed before it was finished, or it is damaged. */
export function readSummary(path: string): ChangeSummary | undefined {
  try {
    return JSON.parse(readFileSync(path, "utf8"));
  } catch {
    return undefined;
  }
}

/** The rows of a finished record, one after the other. @param path of its summary */
export function* readRows(path: string): Generator<RecordedRow> {
  const bytes = readFileSync(path.replace(/\.\w+$/, ".rows"));
  let end = bytes.indexOf(10);
  for (let start = 0; end >= 0; start = end + 1, end = bytes.indexOf(10, start))
    yield JSON.parse(bytes.toString("utf8", start, end));
}
