import type { Sqlite } from "@refmcp/sql/native";
import type Database from "better-sqlite3";
import { fileAt, openReading, type Place } from "./handle.ts";

/** The handle is closed after this time without a job, so that it does not hold the file. */
const KEPT_MS = 1_000;

interface Kept {
  readonly database: Database.Database;
  /** Running it makes SQLite reload a changed schema; preparing a statement does not. */
  readonly freshen: Database.Statement;
  readonly state: string;
}

/**
 * A reading handle that stays open between jobs. It holds no lock in between, and SQLite detects commits and schema changes
 * of other processes. A file that was replaced or changed otherwise is opened again.
 */
export class KeptReading {
  readonly #sqlite: Sqlite;
  #kept: Kept | undefined;
  #timer: NodeJS.Timeout | undefined;

  constructor(sqlite: Sqlite) {
    this.#sqlite = sqlite;
  }

  open(place: Place): Database.Database {
    // Checked before opening, so that a later change is noticed.
    const { state } = fileAt(place);
    const kept = this.#kept;
    if (kept?.state === state) {
      this.#timer?.refresh();
      kept.freshen.all();
      return kept.database;
    }
    this.close();
    const database = openReading(this.#sqlite, place);
    let freshen: Database.Statement;
    try {
      freshen = database.prepare("SELECT 1 FROM sqlite_schema LIMIT 1");
    } catch (error) {
      database.close();
      throw error;
    }
    this.#kept = { database, freshen, state };
    this.#timer = setTimeout(() => this.close(), KEPT_MS).unref();
    return database;
  }

  close(): void {
    clearTimeout(this.#timer);
    this.#kept?.database.close();
    this.#kept = undefined;
  }
}
