import {
  type RecordedRow,
  type Recording,
  readRows,
  type TableCounts,
} from "@refmcp/sql/change-record";
import { quoteIdentifier } from "@refmcp/sql/names";
import type Database from "better-sqlite3";
import { rowsOf } from "./capture.ts";
import {
  asBytes,
  decodeValue,
  doubtOf,
  encodeValue,
  placeFor,
  type Shape,
  shapeOf,
  type Value,
} from "./shape.ts";
import { ChangeWatch, type Recorded, whyNotRecorded } from "./watch.ts";

export interface UndoJob extends Omit<Recorded, "statements" | "undoes"> {
  readonly id: string;
  /** The record of the change. */
  readonly path: string;
  readonly facts: UndoFacts;
  readonly dryRun: boolean;
  /** With a reason, it is undone without a record of the undo. */
  readonly recording: Recording;
}

/** What an undo needs in addition to the rows. */
interface UndoFacts {
  /** The recorded columns of each table. */
  readonly columns: Readonly<Record<string, readonly string[]>>;
  /** Full-text indexes to rebuild. */
  readonly indexes: readonly string[];
}

/** Why a change can't be undone, for the user. */
type Obstacle =
  /** Rows that are not as the change left them: the first ones, and how many there are. */
  | { readonly rows: readonly string[]; readonly count: number; readonly isAsBefore: boolean }
  | { readonly message: string; readonly hint: string };

class Refused extends Error {
  readonly obstacle: Obstacle;
  constructor(obstacle: Obstacle) {
    super("refused");
    this.obstacle = obstacle;
  }
}

const SHOWN = 5;

/**
 * Undoes a change in one transaction: all rows must be as the change left them, and are as before it afterwards. The user's
 * triggers on their tables don't run during the undo. It is itself recorded.
 *
 * @param database with foreign keys off: they are checked at the end, since no cascade may change other rows
 */
export function undo(
  database: Database.Database,
  { id, path, facts, dryRun, recording, ...details }: UndoJob,
):
  | { readonly obstacle: Obstacle }
  | { readonly unrecorded: string }
  | { readonly changeId: string | undefined; readonly tables: TableCounts[] } {
  database.exec("BEGIN IMMEDIATE");
  let record: ReturnType<ChangeWatch["record"]>;
  try {
    const tables = new Tables(database, facts);
    checkRows(path, tables);
    const { names } = tables;
    const orphans = orphansIn(database, names);
    const changes = names.flatMap((name) => [
      { sql: `DELETE FROM ${quoteIdentifier(name)}`, verb: "DELETE" },
      { sql: `INSERT INTO ${quoteIdentifier(name)} VALUES (1)`, verb: "INSERT" },
    ]);
    const unrecorded = "reason" in recording ? recording.reason : undefined;
    const watch = new ChangeWatch(database, changes, unrecorded);
    const triggers = dropTriggers(database, names);
    for (const row of readRows(path)) if (row.after !== undefined) tables.get(row)?.remove(row);
    for (const row of readRows(path)) if (row.before !== undefined) tables.get(row)?.restore(row);
    for (const index of facts.indexes) rebuild(database, index);
    for (const sql of triggers) database.exec(sql);
    if (orphansIn(database, names) > orphans)
      throw new Refused({
        message: "Undoing it would leave rows whose foreign keys refer to nothing.",
        hint: "Nothing was changed. Undo the later changes of the related tables first.",
      });
    record = watch.record(recording, { ...details, statements: [`undo of ${id}`], undoes: id });
    const counts = record?.tables ?? watch.counts;
    database.exec(dryRun ? "ROLLBACK" : "COMMIT");
    return { changeId: dryRun ? undefined : record?.committed(), tables: counts };
  } catch (error) {
    if (error instanceof Refused) return { obstacle: error.obstacle };
    if (
      error instanceof Error &&
      "code" in error &&
      String(error.code).startsWith("SQLITE_CONSTRAINT")
    )
      return {
        obstacle: {
          message: `Rows that were added or changed since are in the way (${error.message}).`,
          hint: "Nothing was changed. Undo later changes first (newest first), or restore rows with your own statements.",
        },
      };
    const unrecorded = whyNotRecorded(error);
    if (unrecorded === undefined) throw error;
    return { unrecorded };
  } finally {
    if (database.inTransaction) database.exec("ROLLBACK");
    record?.discard();
  }
}

/** The tables that a record has rows of. */
class Tables {
  readonly #database: Database.Database;
  readonly #facts: UndoFacts;
  readonly #all = new Map<string, RecordedTable>();
  readonly #names = new Set<string>();

  constructor(database: Database.Database, facts: UndoFacts) {
    this.#database = database;
    this.#facts = facts;
  }

  /** Those of the rows so far. */
  get names(): string[] {
    return [...this.#names];
  }

  /**
   * The table of a row; undefined if it does not exist and the row has to be removed.
   *
   * @throws Refused if it has other columns than when it was recorded
   */
  get({ table, before }: RecordedRow): RecordedTable | undefined {
    const opened = this.#all.get(table);
    if (opened !== undefined) return opened;
    this.#names.add(table);
    const shape = shapeOf(this.#database, table);
    if (shape === undefined && before === undefined) return undefined;
    const wanted = this.#facts.columns[table]?.join("\0");
    if (shape === undefined || "reason" in shape || shape.columns.join("\0") !== wanted)
      throw new Refused({
        message: `The columns of ${table} have changed since, or it was dropped.`,
        hint: "Nothing was changed. Restore its previous columns with CREATE or ALTER TABLE, then undo again.",
      });
    const entry = new RecordedTable(this.#database, shape);
    this.#all.set(table, entry);
    return entry;
  }
}

function checkRows(path: string, tables: Tables): void {
  const rows: string[] = [];
  let count = 0;
  let asBefore = 0;
  let total = 0;
  for (const row of readRows(path)) {
    total += 1;
    const now = JSON.stringify(tables.get(row)?.current(row));
    if (now === JSON.stringify(row.after)) continue;
    if (now === JSON.stringify(row.before)) asBefore += 1;
    count += 1;
    if (rows.length < SHOWN) rows.push(`${row.table} ${JSON.stringify(row.key)}`);
  }
  if (count > 0) throw new Refused({ rows, count, isAsBefore: asBefore === total });
}

/** Drops the triggers of the tables until the end of the transaction. @returns the statements that create them again */
function dropTriggers(database: Database.Database, tables: readonly string[]): string[] {
  const triggers = database
    .prepare<[string], { name: string; sql: string }>(
      "SELECT name, sql FROM main.sqlite_schema WHERE type = 'trigger' AND lower(tbl_name) IN (SELECT lower(value) FROM json_each(?)) ORDER BY rowid",
    )
    .all(JSON.stringify(tables));
  for (const { name } of triggers) database.exec(`DROP TRIGGER main.${quoteIdentifier(name)}`);
  return triggers.map(({ sql }) => sql);
}

/** How many rows of these tables, and of those that refer to them, have foreign keys that refer to nothing. */
function orphansIn(database: Database.Database, tables: readonly string[]): number {
  const related = database
    .prepare<[string, string], string>(
      `SELECT DISTINCT m.name FROM main.sqlite_schema m, pragma_foreign_key_list(m.name) f
       WHERE m.type = 'table' AND (m.name IN (SELECT value FROM json_each(?))
         OR lower(f."table") IN (SELECT lower(value) FROM json_each(?)))`,
    )
    .pluck()
    .all(JSON.stringify(tables), JSON.stringify(tables));
  const count = database
    .prepare<[string], bigint>("SELECT count(*) FROM pragma_foreign_key_check(?)")
    .pluck();
  return related.reduce((sum, table) => {
    try {
      return sum + Number(count.get(table));
    } catch {
      // A foreign key without a unique parent key, which SQLite can't check.
      return sum;
    }
  }, 0);
}

function rebuild(database: Database.Database, index: string): void {
  const name = quoteIdentifier(index);
  if (rowsOf(database, name) !== undefined)
    database.exec(`INSERT INTO ${name}(${name}) VALUES ('rebuild')`);
}

/** A table whose recorded rows are compared and restored. */
class RecordedTable {
  readonly #database: Database.Database;
  readonly #shape: Shape;
  readonly #name: string;
  readonly #columns: readonly string[];
  readonly #plain: string;
  readonly #isDoubtful: (row: readonly unknown[]) => boolean;
  readonly #statements = new Map<string, Database.Statement<unknown[], unknown[]>>();

  constructor(database: Database.Database, shape: Shape) {
    this.#database = database;
    this.#shape = shape;
    this.#name = `main.${quoteIdentifier(shape.name)}`;
    this.#columns = shape.columns.map(quoteIdentifier);
    this.#isDoubtful = doubtOf(database);
    this.#plain = this.#columns.join(", ");
  }

  /** The current row with the key of a recorded one. */
  current(row: RecordedRow): Value[] | undefined {
    const { where, values } = this.#keyOf(row);
    const select = (columns: string) =>
      this.#statement(`SELECT ${columns} FROM ${this.#name} WHERE ${where}`)
        .raw()
        .get(...values);
    const state = select(this.#plain);
    if (state === undefined) return undefined;
    const bytes = this.#isDoubtful(state)
      ? select(this.#columns.map(asBytes).join(", "))
      : undefined;
    return state.map((value, at) => encodeValue(value, bytes?.[at]));
  }

  remove(row: RecordedRow): void {
    const { where, values } = this.#keyOf(row);
    this.#statement(`DELETE FROM ${this.#name} WHERE ${where}`).run(...values);
  }

  restore({ key, before }: RecordedRow): void {
    const { key: keys, hasRowid } = this.#shape;
    const restored = valuesOf(hasRowid && Array.isArray(before) ? [key, ...before] : before);
    const names = hasRowid ? `${keys[0]}, ${this.#plain}` : this.#plain;
    this.#statement(
      `INSERT OR ABORT INTO ${this.#name} (${names}) VALUES (${restored.map(placeFor).join(", ")})`,
    ).run(...restored.map(decodeValue));
  }

  #keyOf({ key }: RecordedRow): { where: string; values: unknown[] } {
    const values = valuesOf(Array.isArray(key) ? key : [key]);
    const where = this.#shape.key
      .map((column, at) => `${column} = ${placeFor(values[at] ?? null)}`)
      .join(" AND ");
    return { where, values: values.map(decodeValue) };
  }

  #statement(sql: string): Database.Statement<unknown[], unknown[]> {
    const statement =
      this.#statements.get(sql) ?? this.#database.prepare<unknown[], unknown[]>(sql);
    this.#statements.set(sql, statement);
    return statement;
  }
}

/** The values of a recorded row or key, which we wrote ourselves. */
const valuesOf = (row: unknown): Value[] => (Array.isArray(row) ? row : []);
