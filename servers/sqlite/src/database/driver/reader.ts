import type { Sqlite } from "@refmcp/sql/native";
import type Database from "better-sqlite3";
import { fileAt, openReading, type Place } from "./handle.ts";
import { type Prepared, preparedToRead } from "./read.ts";

/** With more different texts, all of them are prepared again. */
const MAX_STATEMENTS = 64;

interface Handle {
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
export class Reader {
  readonly #sqlite: Sqlite;
  #opened: Handle | undefined;

  constructor(sqlite: Sqlite) {
    this.#sqlite = sqlite;
  }

  open(place: Place): Database.Database {
    const opened = this.#at(place);
    this.#followSchema(opened);
    return opened.database;
  }

  /**
   * Prepares a statement, or takes it from an earlier job, and uses it with the schema that it was prepared for. A transaction
   * would guarantee that, but would also lock the file for statements that read no table: only a statement during which the
   * schema changed runs again in one.
   *
   * @throws as `preparedToRead` and `use`
   */
  prepared<Result>(place: Place, sql: string, use: (prepared: Prepared) => Result): Result {
    const opened = this.#at(place);
    const result = this.#use(opened, sql, use);
    if (opened.schemaVersion.get() === opened.version) return result;
    opened.begin.run();
    try {
      return this.#use(opened, sql, use);
    } finally {
      // After some errors SQLite has ended it.
      if (opened.database.inTransaction) opened.commit.run();
    }
  }

  #use<Result>(opened: Handle, sql: string, use: (prepared: Prepared) => Result): Result {
    const { database, statements } = opened;
    this.#followSchema(opened);
    let prepared = statements.get(sql);
    if (prepared === undefined) {
      if (statements.size === MAX_STATEMENTS) statements.clear();
      prepared = preparedToRead(database, sql);
      statements.set(sql, prepared);
    }
    return use(prepared);
  }

  #at(place: Place): Handle {
    // Checked before opening, so that a later change is noticed.
    const { state } = fileAt(place);
    return this.#opened?.state === state ? this.#opened : this.#openAgain(place, state);
  }

  #followSchema(opened: Handle): void {
    const version = opened.schemaVersion.get();
    if (version === opened.version) return;
    opened.freshen.all();
    opened.statements.clear();
    opened.version = version;
  }

  #openAgain(place: Place, state: string): Handle {
    this.close();
    const database = openReading(this.#sqlite, place);
    try {
      this.#opened = {
        database,
        state,
        begin: database.prepare("BEGIN"),
        commit: database.prepare("COMMIT"),
        schemaVersion: database.prepare<[], bigint>("PRAGMA schema_version").pluck(),
        freshen: database.prepare("SELECT 1 FROM sqlite_schema LIMIT 1"),
        statements: new Map(),
        version: undefined,
      };
      return this.#opened;
    } catch (error) {
      database.close();
      throw error;
    }
  }

  close(): void {
    this.#opened?.database.close();
    this.#opened = undefined;
  }
}
