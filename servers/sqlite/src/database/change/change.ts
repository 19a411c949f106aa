import type { Bound, StatementResult } from "@refmcp/sql";
import type { Recording } from "@refmcp/sql/change-record";
import { type CutCells, encodeRow } from "@refmcp/sql/formats";
import { type Loss, lossText } from "@refmcp/sql/loss";
import type Database from "better-sqlite3";
import { type Progress, prepared } from "../driver/handle.ts";
import { ChangeWatch, type Recorded, recordedOrNot, type WatchedStatement } from "./watch.ts";

export interface ChangeJob extends Omit<Recorded, "statements"> {
  readonly statements: readonly (WatchedStatement & Bound & { readonly command: string })[];
  readonly dryRun: boolean;
  /** Maximum characters of all RETURNING rows. */
  readonly rowChars: number;
  /** The sentence of the loss that the user agreed to. */
  readonly agreed: string | undefined;
  readonly recording: Recording;
}

const CELL_BYTES = 1_024;

/** The characters left for RETURNING rows, whether some rows were left out, and how many values were truncated. */
interface Space extends CutCells {
  left: number;
  isShort: boolean;
}

/**
 * Runs the statements in one transaction. Commits if the change was recorded, so that it can be undone, or if its loss is the
 * one that was agreed to; rolls back otherwise.
 *
 * @param progress updated with the current statement, for errors
 */
export function change(database: Database.Database, job: ChangeJob, progress: Progress) {
  return recordedOrNot(job.recording, (unrecorded) => attempt(database, job, progress, unrecorded));
}

function attempt(
  database: Database.Database,
  { statements, dryRun, agreed, recording, rowChars, ...facts }: ChangeJob,
  progress: Progress,
  unrecorded: string | undefined,
) {
  const results: StatementResult[] = [];
  const space = { left: rowChars, isShort: false, count: 0 };
  let lastRowId: string | undefined;
  let record: ReturnType<ChangeWatch["record"]>;
  database.exec("BEGIN IMMEDIATE");
  try {
    const watch = new ChangeWatch(database, statements, unrecorded);
    for (const [index, statement] of statements.entries()) {
      progress.at = index;
      const before = rowIdOf(database);
      results.push(run(database, statement, watch, space));
      // An upsert that updates, and a row without a rowid, leave it unchanged.
      const rowId = rowIdOf(database);
      if (/^(INSERT|REPLACE)$/.test(statement.verb) && rowId !== before) lastRowId = rowId;
    }
    const loss: Loss | undefined = watch.loss();
    record = watch.record(recording, { ...facts, statements: statements.map(({ sql }) => sql) });
    const isAgreed = (loss === undefined ? undefined : lossText(loss)) === agreed;
    const committed = !dryRun && isAgreed;
    database.exec(committed ? "COMMIT" : "ROLLBACK");
    const changeId = committed ? record?.committed() : undefined;
    const tables = record?.tables ?? [];
    const cut = space.count > 0 ? ("cell" as const) : undefined;
    const truncatedBy = space.isShort ? ("bytes" as const) : cut;
    return { committed, loss, changeId, tables, results, lastRowId, truncatedBy };
  } finally {
    if (database.inTransaction) database.exec("ROLLBACK");
    record?.discard();
  }
}

function run(
  database: Database.Database,
  change: ChangeJob["statements"][number],
  watch: ChangeWatch,
  space: Space,
): StatementResult {
  // First, so that invalid SQL fails before its names are used.
  const statement = prepared(database, change.sql);
  const before = totalOf(database);
  const returned = watch.follow(change, () => {
    if (statement.reader) return returnedRows(statement.raw(true), change.params, space);
    statement.run(...change.params);
    return {};
  });
  // changes() is about the last INSERT, UPDATE or DELETE; other statements leave it unchanged.
  const isCounted = /^(INSERT|REPLACE|UPDATE|DELETE)$/.test(change.verb);
  const changed = isCounted ? Number(single(database, "SELECT changes()")) : 0;
  watch.add(change, { changed, touched: totalOf(database) - before });
  return { command: change.command, ...(isCounted ? { row_count: changed } : {}), ...returned };
}

/** Runs the whole statement, and returns as many RETURNING rows as fit. */
function returnedRows(
  statement: Database.Statement<unknown[], unknown[]>,
  params: readonly unknown[],
  space: Space,
) {
  const columns = statement.columns().map(({ name, type }) => ({ name, type: type ?? "" }));
  const rows: unknown[][] = [];
  space.left -= JSON.stringify(columns).length;
  for (const row of statement.iterate(...params)) {
    const encoded = encodeRow(row, CELL_BYTES, space);
    space.left -= JSON.stringify(encoded).length + 1;
    if (space.left > 0) rows.push(encoded);
    else space.isShort = true;
  }
  return { columns, rows };
}

function single(database: Database.Database, sql: string): unknown {
  return database.prepare(sql).pluck().get();
}

const rowIdOf = (database: Database.Database) =>
  String(single(database, "SELECT last_insert_rowid()"));

/** Rows changed so far on this handle, including those changed by triggers and foreign keys. */
const totalOf = (database: Database.Database) => Number(single(database, "SELECT total_changes()"));
