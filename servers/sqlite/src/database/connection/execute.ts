import type { Bound } from "@refmcp/sql";
import type { Sqlite } from "@refmcp/sql/native";
import type Database from "better-sqlite3";
import { planned } from "../advice/plan.ts";
import { type Prepared, preparedToRead, type ReadJob, read } from "../reading/read.ts";
import { type Looked, seenValues } from "../reading/seen.ts";
import { type RowsInJob, type RowsOutJob, rowsIn, rowsOut } from "../transfer/transfer-jobs.ts";
import { type UndoJob, undo } from "../undo/undo.ts";
import { change, type WriteJob } from "../writing/change.ts";
import { fileAt, openReading, openWriting, type Place, type Progress } from "./handle.ts";

interface Looking {
  readonly statements: readonly Bound[];
  readonly isTolerant: boolean;
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
  let exporting: ReturnType<typeof rowsOut> | undefined;
  let importing: ReturnType<typeof rowsIn> | undefined;
  const started = <Value>(value: Value | undefined): Value => {
    if (value === undefined) throw new Error("no transfer was started");
    return value;
  };
  return {
    rest(_: object) {
      reading.close();
    },

    read: (job: OnFile & ReadJob) =>
      reading.prepared(job.place, job.sql, (prepared) => read(prepared, job)),

    /** Runs our own statements. If it is tolerant, a statement that fails has no rows. */
    look({ place, statements, isTolerant }: OnFile & Looking) {
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

/** With more different texts, all of them are prepared again. */
const MAX_STATEMENTS = 64;

interface Kept {
  readonly database: Database.Database;
  /** The file when it was opened. */
  readonly state: string;
  readonly begin: Database.Statement;
  readonly commit: Database.Statement;
  readonly schemaVersion: Database.Statement<[], bigint>;
  /** Running it makes SQLite reload a changed schema; preparing a statement does not. */
  readonly freshen: Database.Statement;
  /** By text, for one version of the schema. */
  readonly statements: Map<string, Prepared>;
  version: bigint | undefined;
}

/**
 * A reading handle that stays open between jobs. It holds no lock in between, and SQLite detects commits and schema changes
 * of other processes. A file that was replaced or changed otherwise is opened again.
 */
export class KeptReading {
  readonly #sqlite: Sqlite;
  #kept: Kept | undefined;

  constructor(sqlite: Sqlite) {
    this.#sqlite = sqlite;
  }

  open(place: Place): Database.Database {
    const kept = this.#openedAt(place);
    this.#followSchema(kept);
    return kept.database;
  }

  /**
   * Prepares a statement, or takes it from an earlier job, and uses it with the schema that it was prepared for. A transaction
   * would guarantee that, but would also lock the file for statements that read no table: only a statement during which the
   * schema changed runs again in one.
   *
   * @throws as `preparedToRead` and `use`
   */
  prepared<Result>(place: Place, sql: string, use: (prepared: Prepared) => Result): Result {
    const kept = this.#openedAt(place);
    const result = this.#using(kept, sql, use);
    if (kept.schemaVersion.get() === kept.version) return result;
    kept.begin.run();
    try {
      return this.#using(kept, sql, use);
    } finally {
      // After some errors SQLite has ended it.
      if (kept.database.inTransaction) kept.commit.run();
    }
  }

  #using<Result>(kept: Kept, sql: string, use: (prepared: Prepared) => Result): Result {
    const { database, statements } = kept;
    this.#followSchema(kept);
    let prepared = statements.get(sql);
    if (prepared === undefined) {
      if (statements.size === MAX_STATEMENTS) statements.clear();
      prepared = preparedToRead(database, sql);
      statements.set(sql, prepared);
    }
    return use(prepared);
  }

  #openedAt(place: Place): Kept {
    // Checked before opening, so that a later change is noticed.
    const { state } = fileAt(place);
    return this.#kept?.state === state ? this.#kept : this.#openAgain(place, state);
  }

  #followSchema(kept: Kept): void {
    const version = kept.schemaVersion.get();
    if (version === kept.version) return;
    kept.freshen.all();
    kept.statements.clear();
    kept.version = version;
  }

  #openAgain(place: Place, state: string): Kept {
    this.close();
    const database = openReading(this.#sqlite, place);
    try {
      const kept = {
        database,
        state,
        begin: database.prepare("BEGIN"),
        commit: database.prepare("COMMIT"),
        schemaVersion: database.prepare<[], bigint>("PRAGMA schema_version").pluck(),
        freshen: database.prepare("SELECT 1 FROM sqlite_schema LIMIT 1"),
        statements: new Map(),
        version: undefined,
      };
      this.#kept = kept;
      return kept;
    } catch (error) {
      database.close();
      throw error;
    }
  }

  close(): void {
    this.#kept?.database.close();
    this.#kept = undefined;
  }
}
