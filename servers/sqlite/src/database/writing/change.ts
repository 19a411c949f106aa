import { type Column, encodeRow } from "@refmcp/sql/formats";
import type { SessionChanges } from "@refmcp/sql/loss";
import type Database from "better-sqlite3";
import type { Progress } from "../connection/handle.ts";
import { LossWatch, mayLose, type WriteStatement } from "./loss.ts";

export interface WriteJob {
  readonly statements: readonly WriteStatement[];
  readonly dryRun: boolean;
  /** Maximum characters of all RETURNING rows. */
  readonly returnedBytes: number;
  readonly agreedLoss: string | undefined;
  /** What was changed before. */
  readonly session: SessionChanges;
}

/** The RETURNING rows of one statement. */
interface Returned {
  /** The number of the statement, from 1. */
  readonly statement: number;
  readonly columns: readonly Column[];
  readonly rows: readonly (readonly unknown[])[];
  /** How many rows did not fit. */
  readonly more: number;
}

/**
 * Runs the statements in one transaction. Commits if the loss is the one that was agreed to, and rolls back otherwise.
 *
 * @param progress updated with the current statement, for errors
 */
export function change(database: Database.Database, job: WriteJob, progress: Progress) {
  // Most changes need no second run, which counts the rows of other tables that triggers and foreign keys change.
  const answer = attempt(database, job, progress, false) ?? attempt(database, job, progress, true);
  if (answer === undefined) throw new Error("not everything was counted");
  return answer;
}

/** @returns undefined if `isCounting` is needed; nothing is changed then */
function attempt(database: Database.Database, job: WriteJob, progress: Progress, isCounting: boolean) {
  const changes: number[] = [];
  const returned: Returned[] = [];
  let bytes = job.returnedBytes;
  let lastRowId = "0";
  database.exec("BEGIN IMMEDIATE");
  try {
    const watch = new LossWatch(database, job.statements, job.session, isCounting);
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
    if (watch.isHidden && !isCounting && mayLose(database, job.statements)) return undefined;
    const { loss, ...session } = watch.loss();
    const committed = !job.dryRun && loss === job.agreedLoss;
    database.exec(committed ? "COMMIT" : "ROLLBACK");
    return { committed, loss, session, undo: watch.undo, changes, lastRowId, returned };
  } finally {
    if (database.inTransaction) database.exec("ROLLBACK");
  }
}

function run(
  database: Database.Database,
  given: WriteStatement,
  watch: LossWatch,
  space: { at: number; bytes: number },
): { changed: number; returned: Returned | undefined } {
  // First, so that invalid SQL fails before its names are used.
  const statement = database.prepare<unknown[], unknown[]>(given.sql);
  const before = watch.before(given);
  const total = totalOf(database);
  const returned = statement.reader ? rowsOf(statement.raw(true), given.params, space) : undefined;
  if (returned === undefined) statement.run(...given.params);
  const touched = totalOf(database) - total;
  // changes() is about the last INSERT, UPDATE or DELETE; other statements leave it unchanged.
  const isCounted = ["INSERT", "REPLACE", "UPDATE", "DELETE"].includes(given.verb);
  const changed = isCounted ? Number(single(database, "SELECT changes()")) : 0;
  watch.add(given, before, { touched, changed });
  return { changed, returned };
}

/** Runs the whole statement, and returns as many RETURNING rows as fit. */
function rowsOf(
  statement: Database.Statement<unknown[], unknown[]>,
  params: readonly unknown[],
  { at, bytes }: { at: number; bytes: number },
): Returned {
  const columns: Column[] = statement.columns().map(({ name, type }) => ({ name, type: type ?? "" }));
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
