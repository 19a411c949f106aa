import type { Bound } from "@refmcp/sql";
import type { Sqlite } from "@refmcp/sql/native";
import type Database from "better-sqlite3";
import { planned, tried } from "../advice/plan.ts";
import { type ReadJob, read } from "../reading/read.ts";
import { type Looked, seenValues } from "../reading/seen.ts";
import { type RowsInJob, type RowsOutJob, rowsIn, rowsOut } from "../transfer/transfer-jobs.ts";
import { type UndoJob, undo } from "../undo/undo.ts";
import { change, type WriteJob } from "../writing/change.ts";
import { fileAt, openReading, openWriting, type Place, type Progress } from "./handle.ts";

interface OnFile {
  readonly place: Place;
}

/**
 * The jobs of a runner, by name. They block until SQLite is done, which is why each runner is a separate process. An export
 * or import spans several jobs, and its process ends with it.
 */
export function jobsOf(sqlite: Sqlite) {
  const reading = new KeptReading(sqlite);
  let watched: { readonly id: string; readonly database: Database.Database } | undefined;
  let exporting: ReturnType<typeof rowsOut> | undefined;
  let importing: ReturnType<typeof rowsIn> | undefined;
  const started = <Value>(value: Value | undefined): Value => {
    if (value === undefined) throw new Error("no transfer was started");
    return value;
  };
  return {
    read: ({ place, ...job }: OnFile & ReadJob) => read(reading.open(place), job),

    /** Runs our own statements. If it is tolerant, a statement that fails has no rows. */
    look({ place, statements, isTolerant }: OnFile & { statements: readonly Bound[]; isTolerant: boolean }) {
      const database = reading.open(place);
      return statements.map(({ sql, params }) => {
        try {
          return database.prepare<unknown[], Readonly<Record<string, unknown>>>(sql).all(...params);
        } catch (error) {
          if (isTolerant) return [];
          throw error;
        }
      });
    },

    seen: ({ place, tables }: OnFile & { tables: readonly Looked[] }) =>
      seenValues(reading.open(place), tables),

    explain: ({ place, ...bound }: OnFile & Bound) => planned(sqlite, reading.open(place), bound),

    advise: ({ place, statements, limit }: OnFile & { statements: readonly Bound[]; limit: number }) =>
      tried(sqlite, reading.open(place), statements, limit),

    /** A text that changes with every commit of others; data_version is only comparable on the same handle. */
    version({ place }: OnFile): string {
      const { id } = fileAt(place);
      if (watched?.id !== id) {
        watched?.database.close();
        watched = undefined;
        watched = { id, database: openReading(sqlite, place) };
      }
      return `${id}:${String(watched.database.pragma("data_version", { simple: true }))}`;
    },

    write({ place, ...job }: OnFile & WriteJob, progress: Progress) {
      const database = openWriting(sqlite, place);
      try {
        return change(database, job, progress);
      } finally {
        database.close();
      }
    },

    undo({ place, ...job }: OnFile & UndoJob) {
      const database = openWriting(sqlite, place);
      try {
        database.pragma("foreign_keys=OFF");
        return undo(database, job);
      } finally {
        database.close();
      }
    },

    openRows({ place, ...job }: OnFile & RowsOutJob): void {
      exporting = rowsOut(openReading(sqlite, place), job);
    },
    nextRows: (_: object) => started(started(exporting).next().value),

    openTable({ place, ...job }: OnFile & RowsInJob): void {
      importing = rowsIn(openWriting(sqlite, place), job);
    },
    addRows: ({ bytes, isLast }: { bytes: Uint8Array; isLast: boolean }, progress: Progress) =>
      started(importing).add(bytes, isLast, progress),
    measureTable: ({ rows, target }: { rows: number; target: string }) =>
      started(importing).measure(rows, target),
    closeTable: ({ commit }: { commit: boolean }) => started(importing).close(commit),
  };
}

export type Jobs = ReturnType<typeof jobsOf>;

/** The handle is closed after this time without a job, so that it does not hold the file. */
const KEPT_MS = 1_000;

/**
 * A reading handle that stays open between jobs. It holds no lock in between, and SQLite detects commits and schema changes
 * of other processes. A file that was replaced or changed otherwise is opened again.
 */
export class KeptReading {
  readonly #sqlite: Sqlite;
  /** Running `freshen` makes SQLite reload a changed schema; preparing a statement does not. */
  #kept: { database: Database.Database; freshen: Database.Statement; state: string } | undefined;
  #timer: NodeJS.Timeout | undefined;

  constructor(sqlite: Sqlite) {
    this.#sqlite = sqlite;
  }

  open(place: Place): Database.Database {
    // Checked before opening, so that a later change is noticed.
    const { state } = fileAt(place);
    if (this.#kept?.state === state) {
      this.#timer?.refresh();
      this.#kept.freshen.all();
      return this.#kept.database;
    }
    this.close();
    const database = openReading(this.#sqlite, place);
    try {
      const freshen = database.prepare("SELECT 1 FROM sqlite_schema LIMIT 1");
      this.#kept = { database, freshen, state };
    } catch (error) {
      database.close();
      throw error;
    }
    this.#timer = setTimeout(() => this.close(), KEPT_MS).unref();
    return database;
  }

  close(): void {
    clearTimeout(this.#timer);
    this.#kept?.database.close();
    this.#kept = undefined;
  }
}
