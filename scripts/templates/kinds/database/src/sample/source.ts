import { cursorsOf, oneLine, ToolError } from "@refmcp/boundary/answer";
import { loadSqlite } from "@refmcp/sql/native";
import type Database from "better-sqlite3";
import * as z from "zod";
import { type FindRequest, type Found, MAX_TEXT, pageOf } from "./page.ts";

/** A file from elsewhere cannot make SQLite write, call functions or map memory (SQLite, "Defense Against The Dark Arts"). */
const DEFENSES = ["query_only=ON", "trusted_schema=OFF", "cell_size_check=ON", "mmap_size=0"];

/** Values go in as parameters, never into the text. By key, so that a page costs no more than the one before it. */
const FIND = `SELECT id, substr(text, 1, ${MAX_TEXT}) AS text FROM notes
  WHERE id > @after AND instr(lower(text), lower(@query)) > 0 ORDER BY id LIMIT @limit`;
const rows = z.array(z.object({ id: z.number(), text: z.string() }));

/**
 * The table `notes` of a SQLite file: id INTEGER PRIMARY KEY, text TEXT. SQLite blocks this process while it reads. Statements
 * that may take long belong in a worker (servers/memory) or a process (servers/sqlite).
 */
export class SampleSource {
  readonly #database: Database.Database;

  private constructor(database: Database.Database) {
    this.#database = database;
  }

  /** @throws ToolError `unavailable` where there is no file, no database in it, or no table `notes`. */
  static async open({ dbPath }: { readonly dbPath: string | undefined }): Promise<SampleSource> {
    const hint =
      "Ask the user to start the server with --db-path and a SQLite file that has the table notes.";
    if (dbPath === undefined)
      throw new ToolError("unavailable", "No database is configured.", { hint });
    const Sqlite = await loadSqlite();
    let database: Database.Database | undefined;
    try {
      database = new Sqlite(dbPath, { readonly: true, fileMustExist: true, timeout: 2_000 });
      for (const pragma of DEFENSES) database.pragma(pragma);
      // A view may run whatever its author wrote, without an end.
      const table = database.prepare(
        "SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = 'notes'",
      );
      if (table.get() === undefined) throw new Error("it has no table notes");
      return new SampleSource(database);
    } catch (cause) {
      database?.close();
      const why = cause instanceof Error ? oneLine(cause.message) : "";
      throw new ToolError("unavailable", `"${oneLine(dbPath)}" cannot be used: ${why}.`, {
        hint,
        cause,
      });
    }
  }

  close(): void {
    this.#database.close();
  }

  /**
   * Finds notes, by id.
   *
   * @throws ToolError `invalid` for a cursor of another search; `unavailable` where the file cannot be read now.
   */
  async find(request: FindRequest): Promise<Found> {
    const { query, limit, cursor, signal } = request;
    signal.throwIfAborted();
    const cursors = cursorsOf("sample_find", query, z.int());
    const after = cursors.decode(cursor) ?? 0;
    const found = rows.parse(this.#all(FIND, { query, after, limit: limit + 1 }));
    return pageOf(
      found.map(({ id, text }) => [{ id: String(id), text }, id] as const),
      request,
      cursors,
    );
  }

  #all(sql: string, values: Readonly<Record<string, unknown>>): unknown[] {
    try {
      return this.#database.prepare(sql).all(values);
    } catch (cause) {
      const why = cause instanceof Error ? oneLine(cause.message) : "";
      throw new ToolError("unavailable", `The database could not be read: ${why}.`, {
        hint: "Try again; if it fails again, ask the user to check the file.",
        cause,
      });
    }
  }
}
