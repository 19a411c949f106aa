import type { Bound, CsvRecord } from "@refmcp/sql";
import type { Sqlite } from "@refmcp/sql/native";
import type Database from "better-sqlite3";
import { planned, tried } from "../advice/plan.ts";
import { guardColumns, requireUnmasked, withMasks } from "../gate/masks.ts";
import { type ReadJob, read } from "../reading/read.ts";
import { type RowsInJob, type RowsOutJob, rowsIn, rowsOut } from "../transfer/transfer-jobs.ts";
import { change, type WriteJob } from "../writing/change.ts";
import { fileAt, openReading, openWriting, type Place, type Progress } from "./handle.ts";

interface Looking {
  readonly statements: readonly Bound[];
  readonly isTolerant: boolean;
  readonly readsRows?: boolean;
}

interface OnFile {
  readonly place: Place;
}

/**
 * The jobs of a runner, by name. They block until SQLite is done, which is why each runner is a separate process. An export
 * or import spans several jobs, and its process ends with it.
 */
export function jobsOf(sqlite: Sqlite) {
  const reading = new KeptReading(sqlite);
  /** Our own statements about the schema, where temporary views would be in the way. */
  const catalog = new KeptReading(sqlite, false);
  const schemaOf = (place: Place) => (place.masks === undefined ? reading : catalog).open(place);
  let watched: { readonly id: string; readonly database: Database.Database } | undefined;
  let exporting: ReturnType<typeof rowsOut> | undefined;
  let importing: ReturnType<typeof rowsIn> | undefined;
  const started = <Value>(value: Value | undefined): Value => {
    if (value === undefined) throw new Error("no transfer was started");
    return value;
  };
  return {
    read: ({ place, ...job }: OnFile & ReadJob) => read(reading.open(place), job),

    /** Runs our own statements, of which some read rows. If it is tolerant, a statement that fails has no rows. */
    look({ place, statements, isTolerant, readsRows = false }: OnFile & Looking) {
      const database = readsRows ? reading.open(place) : schemaOf(place);
      return statements.map(({ sql, params }) => {
        try {
          return withMasks(database, sql, params, () =>
            database.prepare<unknown[], Readonly<Record<string, unknown>>>(sql).all(...params),
          );
        } catch (error) {
          if (isTolerant) return [];
          throw error;
        }
      });
    },

    explain({ place, ...bound }: OnFile & Bound) {
      const database = reading.open(place);
      return withMasks(database, bound.sql, bound.params, () => planned(sqlite, database, bound));
    },

    advise({ place, statements, limit }: OnFile & { statements: readonly Bound[]; limit: number }) {
      const database = schemaOf(place);
      for (const one of statements) requireUnmasked(database, place.masks, one);
      return tried(sqlite, database, statements, limit);
    },

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
      const database = guardColumns(openWriting(sqlite, place), place.masks);
      try {
        return change(database, job, progress);
      } finally {
        database.close();
      }
    },

    openRows({ place, ...job }: OnFile & RowsOutJob): void {
      exporting = rowsOut(guardColumns(openReading(sqlite, place), place.masks), job);
    },
    nextRows: (_: object) => started(started(exporting).next().value),

    openTable({ place, ...job }: OnFile & RowsInJob): void {
      importing = rowsIn(openWriting(sqlite, place), job);
    },
    addRows: ({ records }: { records: readonly CsvRecord[] }, progress: Progress) =>
      started(importing).add(records, progress),
    measureTable: (_: object) => started(importing).measure(),
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
  readonly #isGuarded: boolean;
  /** Running `freshen` makes SQLite reload a changed schema; preparing a statement does not. */
  #kept: { database: Database.Database; freshen: Database.Statement; state: string } | undefined;
  #timer: NodeJS.Timeout | undefined;

  constructor(sqlite: Sqlite, isGuarded = true) {
    this.#sqlite = sqlite;
    this.#isGuarded = isGuarded;
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
    if (this.#isGuarded) guardColumns(database, place.masks);
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
