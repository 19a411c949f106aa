import type { Bound } from "@refmcp/sql";
import {
  type ChangeSummary,
  ChangeWriter,
  type RecordedRow,
  type RecordSlot,
  RecordTooLarge,
  type TableCounts,
  TOO_LARGE,
} from "@refmcp/sql/change-record";
import { type Column, encodeRow } from "@refmcp/sql/formats";
import { lossText } from "@refmcp/sql/loss-text";
import type Database from "better-sqlite3";
import { type Progress, prepared } from "../connection/handle.ts";
import { Capture } from "../undo/capture.ts";
import { Definitions } from "../undo/definitions.ts";

/** A changing statement, as classified by its text. */
export interface WriteStatement extends Bound {
  readonly verb: string;
  /** The table that it inserts into, updates or deletes from, in lower case. */
  readonly target?: string;
  /** Whether it may replace rows: REPLACE, ON CONFLICT DO UPDATE. */
  readonly overwrites: boolean;
}

/** Where to record a change, or why it can't be recorded. */
export type Recording =
  | { readonly reason: string }
  | (RecordSlot & { readonly database: string; readonly version?: FileVersion | undefined });

/** Two numbers in the header of a database file that only grow, and when the file was created, in nanoseconds. */
export interface FileVersion {
  readonly commits: number;
  readonly schemas: number;
  readonly created?: string | undefined;
}

export interface WriteJob {
  readonly statements: readonly WriteStatement[];
  readonly dryRun: boolean;
  /** Maximum characters of all RETURNING rows. */
  readonly returnedBytes: number;
  readonly agreedLoss: string | undefined;
  readonly recording: Recording;
}

/** What an undo needs in addition to the rows. */
export interface UndoFacts {
  /** The recorded columns of each table. */
  readonly columns: Readonly<Record<string, readonly string[]>>;
  /** Full-text indexes to rebuild. */
  readonly indexes: readonly string[];
  /** The counters of the file before the change: see `versionOf`. */
  readonly version?: FileVersion | undefined;
}

interface Returned {
  /** The number of the statement, from 1. */
  readonly statement: number;
  readonly columns: readonly Column[];
  readonly rows: readonly (readonly unknown[])[];
  readonly more: number;
}

/** The record of a change could not be written, so the rows are only counted. */
class NotRecorded extends Error {}

/**
 * Runs the statements in one transaction. Commits if the change was recorded, so that it can be undone, or if its loss is the
 * one that was agreed to; rolls back otherwise.
 *
 * @param progress updated with the current statement, for errors
 */
export function change(database: Database.Database, job: WriteJob, progress: Progress) {
  if ("reason" in job.recording) return attempt(database, job, progress, job.recording.reason);
  try {
    return attempt(database, job, progress, undefined);
  } catch (error) {
    const reason = whyNotRecorded(error);
    if (reason === undefined) throw error;
    return attempt(database, job, progress, reason);
  }
}

/** Why a change was not recorded, if it failed for that reason. */
export function whyNotRecorded(error: unknown): string | undefined {
  if (error instanceof NotRecorded) return error.message;
  const isFull = error instanceof Error && "code" in error && error.code === "SQLITE_FULL";
  return isFull ? TOO_LARGE : undefined;
}

/** @param unrecorded why it is not recorded */
function attempt(
  database: Database.Database,
  job: WriteJob,
  progress: Progress,
  unrecorded: string | undefined,
) {
  const texts = job.statements.map(({ sql }) => sql);
  const changes: number[] = [];
  const returned: Returned[] = [];
  let bytes = job.returnedBytes;
  let lastRowId = "0";
  let record: ChangeWriter | undefined;
  database.exec("BEGIN IMMEDIATE");
  try {
    const watch = new ChangeWatch(database, job.statements, unrecorded);
    for (const [index, statement] of job.statements.entries()) {
      progress.at = index;
      const done = run(database, statement, watch, { at: index + 1, bytes });
      changes.push(done.changed);
      if (done.returned !== undefined) {
        returned.push(done.returned);
        bytes -= JSON.stringify(done.returned).length;
      }
      if (done.changed > 0 && (statement.verb === "INSERT" || statement.verb === "REPLACE"))
        lastRowId = String(single(database, "SELECT last_insert_rowid()"));
    }
    const loss = watch.loss();
    if (watch.unrecorded === undefined) record = watch.record(job.recording, { statements: texts });
    const committed = !job.dryRun && loss === job.agreedLoss;
    database.exec(committed ? "COMMIT" : "ROLLBACK");
    const changeId = committed ? record?.committed() : undefined;
    const tables = record?.tables ?? [];
    return { committed, loss, changeId, tables, changes, lastRowId, returned };
  } finally {
    if (database.inTransaction) database.exec("ROLLBACK");
    record?.discard();
  }
}

function run(
  database: Database.Database,
  given: WriteStatement,
  watch: ChangeWatch,
  space: { at: number; bytes: number },
): { changed: number; returned: Returned | undefined } {
  // First, so that invalid SQL fails before its names are used.
  const statement = prepared(database, given.sql);
  const total = totalOf(database);
  const returned = watch.follow(given, () => {
    if (statement.reader) return returnedRows(statement.raw(true), given.params, space);
    statement.run(...given.params);
    return undefined;
  });
  // changes() is about the last INSERT, UPDATE or DELETE; other statements leave it unchanged.
  const isCounted = ["INSERT", "REPLACE", "UPDATE", "DELETE"].includes(given.verb);
  const changed = isCounted ? Number(single(database, "SELECT changes()")) : 0;
  watch.add(given, { changed, touched: totalOf(database) - total });
  return { changed, returned };
}

/** Runs the whole statement, and returns as many RETURNING rows as fit. */
function returnedRows(
  statement: Database.Statement<unknown[], unknown[]>,
  params: readonly unknown[],
  { at, bytes }: { at: number; bytes: number },
): Returned {
  const columns: Column[] = statement
    .columns()
    .map(({ name, type }) => ({ name, type: type ?? "" }));
  const rows: unknown[][] = [];
  let space = bytes;
  let more = 0;
  for (const row of statement.iterate(...params)) {
    const shown = encodeRow(row, 1_024, { count: 0 });
    space -= JSON.stringify(shown).length + 1;
    if (space > 0) rows.push(shown);
    else more += 1;
  }
  return { statement: at, columns, rows, more };
}

function single(database: Database.Database, sql: string): unknown {
  return database.prepare(sql).pluck().get();
}

/** Rows changed so far on this handle, including those changed by triggers and foreign keys. */
function totalOf(database: Database.Database): number {
  return Number(single(database, "SELECT total_changes()"));
}

/** Finds out what the statements of a transaction change, by their effects and not by their text. */
export class ChangeWatch {
  readonly #capture: Capture;
  readonly #definitions: Definitions | undefined;
  readonly #isCounting: boolean;
  /** What was changed without being watched, in virtual tables. */
  readonly #unseen: TableCounts[] = [];
  readonly #others = new Set<string>();
  /** Why the change can't be recorded; undefined if it can. */
  unrecorded: string | undefined;

  /** @param unrecorded why it is not recorded; its rows are only counted then */
  constructor(
    database: Database.Database,
    statements: readonly Pick<WriteStatement, "sql" | "verb">[],
    unrecorded: string | undefined,
  ) {
    this.unrecorded = unrecorded;
    this.#isCounting = unrecorded !== undefined;
    const definesSchema = statements.some(({ verb }) => ["CREATE", "ALTER", "DROP"].includes(verb));
    this.#definitions = definesSchema ? new Definitions(database) : undefined;
    const texts = statements.map(({ sql }) => sql);
    this.#capture = new Capture(database, texts, this.#isCounting);
  }

  /** Runs a statement. */
  follow<Value>({ sql, verb }: Pick<WriteStatement, "sql" | "verb">, work: () => Value): Value {
    const isSchema = ["CREATE", "ALTER", "DROP"].includes(verb);
    const definitions = this.#definitions;
    if (!isSchema || definitions === undefined) return work();
    return this.#capture.around(verb, () => definitions.follow(sql, work));
  }

  /** Adds what a statement did. @param effect the rows it changed itself, and all that were changed by it */
  add(
    { verb, target = "", overwrites }: Omit<WriteStatement, "sql" | "params">,
    { changed, touched }: { changed: number; touched: number },
  ): void {
    const direct = this.#capture.blind.get(target);
    if (direct !== undefined && changed > 0) {
      this.unrecorded ??= direct.reason;
      const deleted = verb === "DELETE" ? changed : 0;
      const updated = verb === "UPDATE" || overwrites ? changed : 0;
      this.#unseen.push({ table: target, inserted: 0, updated, deleted });
    }
    if (touched === 0) return;
    for (const [name, { reason, kinds }] of this.#capture.blind) {
      if (name === target) continue;
      this.unrecorded ??= reason;
      if (kinds.has("update") || kinds.has("delete")) this.#others.add(name);
    }
  }

  /** The loss if the change is not recorded, in a sentence for the user. Call it once, at the end. */
  loss(): string | undefined {
    const objects = this.#definitions?.losses ?? [];
    if (objects.length > 0) this.unrecorded ??= "the same transaction removes other data";
    if (!this.#isCounting) this.unrecorded ??= this.#capture.obstacle;
    if (this.unrecorded === undefined) return undefined;
    const others = [...this.#others].map(
      (name) => `possible changes of rows of ${name} by triggers`,
    );
    const tables = [...this.#capture.counts(), ...this.#unseen];
    return lossText({ tables, objects: [...objects, ...others], reason: this.unrecorded });
  }

  /** How many rows of each table were changed. */
  get counts(): TableCounts[] {
    return this.#capture.counts();
  }

  /**
   * Writes the record, up to the commit; undefined if nothing was changed.
   *
   * @param given what to show of the change
   * @throws an error for `whyNotRecorded`
   */
  record(
    recording: Recording,
    given: Pick<ChangeSummary, "statements" | "undoes">,
  ): ChangeWriter | undefined {
    const { columns, indexes } = this.#capture;
    const facts = { columns, indexes: [...indexes] };
    return writeRecord(recording, this.#capture.rows(), { facts, ...given });
  }
}

/**
 * Writes the record of a change, up to the commit; undefined if nothing was changed.
 *
 * @throws an error for `whyNotRecorded`
 */
export function writeRecord(
  recording: Recording,
  rows: Iterable<RecordedRow>,
  given: Pick<ChangeSummary, "statements" | "undoes"> & { readonly facts: UndoFacts },
): ChangeWriter | undefined {
  if ("reason" in recording) throw new NotRecorded(recording.reason);
  const writer = recorded(() => new ChangeWriter(recording));
  try {
    for (const row of rows) recorded(() => writer.add(row));
    if (writer.tables.length > 0) {
      const { database, version } = recording;
      recorded(() => writer.finish({ database, ...given, facts: { ...given.facts, version } }));
      return writer;
    }
  } catch (error) {
    writer.discard();
    throw error;
  }
  writer.discard();
  return undefined;
}

/** Runs a part of writing a record. @throws NotRecorded for any failure */
function recorded<Value>(work: () => Value): Value {
  try {
    return work();
  } catch (error) {
    if (error instanceof RecordTooLarge) throw new NotRecorded(TOO_LARGE);
    const code = error instanceof Error && "code" in error ? String(error.code) : String(error);
    throw new NotRecorded(`the change could not be recorded: ${code}`);
  }
}
