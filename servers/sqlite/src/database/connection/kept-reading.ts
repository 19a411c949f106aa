import type { Sqlite } from "@refmcp/sql/native";
import type Database from "better-sqlite3";
import { fileAt, openReading, type Place } from "./handle.ts";

/** Without a job for so long the handle is closed, so that it holds no file of others. */
const KEPT_MS = 1_000;

interface Kept {
  readonly database: Database.Database;
  /** Running it makes SQLite compare its schema with the file's, which preparing alone does not. */
  readonly freshen: Database.Statement;
  readonly state: string;
}

/**
 * One reading handle, kept open from job to job. Between jobs it holds no lock, and SQLite itself sees commits and new
 * schemas of other processes. A file that was replaced or changed in another way is opened again.
 */
export class KeptReading {
  readonly #sqlite: Sqlite;
  #kept: Kept | undefined;
  #timer: NodeJS.Timeout | undefined;

  constructor(sqlite: Sqlite) {
    this.#sqlite = sqlite;
  }

  open(place: Place): Database.Database {
    // Looked at before it is opened: what changes after it counts as a change.
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
