import type { Recording } from "@refmcp/sql/change-record";
import { CsvReader, type CsvRecord } from "@refmcp/sql/csv";
import type { Loss } from "@refmcp/sql/loss";
import { quoteIdentifier } from "@refmcp/sql/names";
import type Database from "better-sqlite3";
import { ChangeWatch, type Recorded, whyNotRecorded } from "../change/watch.ts";
import type { Progress } from "../driver/handle.ts";
import { folded } from "../gate/tokens.ts";

export interface RowsInJob extends Recorded {
  readonly table: string;
  /** The columns of the file, in its order. */
  readonly columns: readonly string[];
  readonly recording: Recording;
  /** The file to name in errors. */
  readonly path: string;
  readonly delimiter: string;
}

/** Values of one INSERT: the fewer statements, the faster. */
const VALUES_AT_ONCE = 256;

/** That the import can't be recorded: start again with a recording that says so. */
interface Unrecorded {
  readonly unrecorded: string;
}

/**
 * Adds the records of a CSV file, after the first one, to a table in one transaction, which `close` ends. If the process ends
 * first, SQLite rolls it back. A violated constraint ends the import, even if the constraint has its own ON CONFLICT clause.
 */
export function rowsIn(
  database: Database.Database,
  { table, columns, recording, path, delimiter, ...facts }: RowsInJob,
) {
  const names = columns.map(quoteIdentifier).join(", ");
  const insert = `INSERT OR ABORT INTO ${quoteIdentifier(table)} (${names}) VALUES`;
  const values = `(${columns.map(() => "?").join(", ")})`;
  const atOnce = Math.max(1, Math.floor(VALUES_AT_ONCE / columns.length));
  database.exec("BEGIN IMMEDIATE");
  const statement = database.prepare<unknown[]>(`${insert} ${values}`);
  const many = database.prepare<unknown[]>(`${insert} ${Array(atOnce).fill(values).join(", ")}`);
  const savepoint = database.prepare("SAVEPOINT some");
  const release = database.prepare("RELEASE some");
  const unrecorded = "reason" in recording ? recording.reason : undefined;
  const watch = new ChangeWatch(database, [{ sql: insert, verb: "INSERT" }], unrecorded);
  const reader = new CsvReader(path, delimiter);
  let record: ReturnType<ChangeWatch["record"]>;
  let isHeader = true;
  let count = 0;

  function addOne({ fields, line }: CsvRecord, progress: Progress): void {
    progress.line = line;
    statement.run(fields);
    progress.line = undefined;
  }

  function addMany(records: readonly CsvRecord[], progress: Progress): void {
    savepoint.run();
    try {
      many.run(records.flatMap(({ fields }) => fields));
      release.run();
    } catch (error) {
      // A trigger that raised ROLLBACK ended the transaction: nothing may be added then.
      if (!database.inTransaction) throw error;
      // A trigger that raised FAIL left the records before. One by one, the record that fails is known.
      database.exec("ROLLBACK TO some");
      for (const each of records) addOne(each, progress);
      throw error;
    }
  }

  function orUnrecorded<Value>(work: () => Value): Value | Unrecorded {
    try {
      return work();
    } catch (error) {
      const why = unrecorded === undefined ? whyNotRecorded(error) : undefined;
      if (why === undefined) throw error;
      return { unrecorded: why };
    }
  }

  return {
    /** Adds the records that end in this piece of the file. */
    add: (piece: Uint8Array, isLast: boolean, progress: Progress): Unrecorded | undefined =>
      orUnrecorded(() => {
        let waiting: CsvRecord[] = [];
        for (const each of reader.read(piece, isLast)) {
          if (isHeader) {
            isHeader = false;
            continue;
          }
          count += 1;
          waiting.push(each);
          if (waiting.length < atOnce) continue;
          addMany(waiting, progress);
          waiting = [];
        }
        for (const each of waiting) addOne(each, progress);
        return undefined;
      }),
    /** How many rows were added, and what was lost through triggers and can't be undone. Call it before `close`. */
    settle: (): { rows: number; loss: Loss | undefined } | Unrecorded =>
      orUnrecorded(() => {
        const target = folded(table);
        watch.add(
          { verb: "INSERT", target, overwrites: false },
          { changed: count, touched: count },
        );
        const loss = watch.loss();
        record = watch.record(recording, facts);
        return { rows: count, loss };
      }),
    /** @returns the id of the recorded change */
    close(commit: boolean): string | undefined {
      try {
        database.exec(commit ? "COMMIT" : "ROLLBACK");
        return commit ? record?.committed() : undefined;
      } finally {
        record?.discard();
        database.close();
      }
    },
  };
}
