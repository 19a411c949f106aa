import { randomBytes } from "node:crypto";
import { RECORD_BYTES, type RecordedRow, type TableCounts } from "@refmcp/sql/change-record";
import { quoteIdentifier } from "@refmcp/sql/names";
import type Database from "better-sqlite3";
import { valuesFrom } from "../driver/rows.ts";
import { type Kind, reachOf } from "./reach.ts";
import { asBytes, doubtOf, encodeValue, type Shape, shapeOf, type Value } from "./shape.ts";

const PAGE_BYTES = 4_096;

interface Watched extends Shape {
  /** The temporary table with the earlier states of its rows, or their counts. */
  readonly log: string;
  /** Its rows before, if a REPLACE may delete some and they are only counted. */
  readonly rows: number;
}

/** A table whose rows can't be watched. */
interface Blind {
  readonly reason: string;
  readonly kinds: ReadonlySet<Kind>;
}

/**
 * Watches what happens to the rows of each table that statements can reach, with temporary triggers, which are gone when the
 * handle is closed. SQLite runs them before the user's own triggers of the same event. The first state of each changed row is
 * kept in a temporary table; the final state is read when all statements have run.
 */
export class Capture {
  readonly #database: Database.Database;
  readonly #isCounting: boolean;
  readonly #statements: readonly string[];
  // A name that the statements can't know.
  readonly #secret = `refmcp_${randomBytes(8).toString("hex")}`;
  readonly #watched: Watched[] = [];
  /** By name in lower case. */
  readonly blind = new Map<string, Blind>();
  /** Full-text indexes of other tables, which can be rebuilt from them. */
  readonly indexes = new Set<string>();

  /**
   * @param isCounting only counts rows, which has no bound. Otherwise SQLite fails with SQLITE_FULL if there are more than a
   * record can have
   */
  constructor(database: Database.Database, statements: readonly string[], isCounting: boolean) {
    this.#database = database;
    this.#statements = statements;
    this.#isCounting = isCounting;
    this.#watch();
    if (!isCounting)
      database.pragma(`temp.max_page_count = ${Math.ceil((2 * RECORD_BYTES) / PAGE_BYTES)}`);
  }

  #watch(): void {
    const database = this.#database;
    const { kinds, replaces } = reachOf(database, this.#statements);
    for (const [name, on] of [...kinds].sort(([a], [b]) => (a < b ? -1 : 1))) {
      const shape = on.size === 0 ? undefined : shapeOf(database, name);
      if (shape === undefined) continue;
      if ("reason" in shape) {
        if (isIndexOfOther(database, name)) this.indexes.add(name);
        else this.blind.set(name, { reason: shape.reason, kinds: on });
        continue;
      }
      const existing = this.#watched.find((watched) => isSame(watched, shape));
      const watched = existing ?? this.#add(shape, replaces);
      const { log } = watched;
      const triggers = this.#isCounting
        ? countRows(log, replaces)
        : keepRows(database, watched, replaces);
      for (const [at, [when, kind, body]] of triggers.entries())
        if (on.has(kind) && body.length > 0)
          database.exec(
            `CREATE TEMP TRIGGER ${log}_${at} ${when} ${kind} ON main.${quoteIdentifier(shape.name)} BEGIN ${body.map((statement) => `${statement};`).join(" ")} END`,
          );
    }
  }

  #add(shape: Shape, replaces: boolean): Watched {
    const log = `${this.#secret}_${this.#watched.length}`;
    const rows =
      this.#isCounting && replaces ? (rowsOf(this.#database, quoteIdentifier(shape.name)) ?? 0) : 0;
    const watched = { ...shape, log, rows };
    this.#watched.push(watched);
    this.#database.exec(this.#isCounting ? countTable(log) : logTable(watched));
    return watched;
  }

  /**
   * Runs a statement that changes the schema; afterwards new tables are watched, too.
   *
   * @param verb while a DROP runs, watching goes on: it deletes rows of other tables, too. Triggers would hinder an ALTER
   */
  around<Value>(verb: string, work: () => Value): Value {
    if (verb !== "DROP") this.#stop();
    const value = work();
    this.#stop();
    this.#watch();
    return value;
  }

  /** Stops watching, but keeps what was seen. */
  #stop(): void {
    const triggers = "SELECT name FROM temp.sqlite_schema WHERE type = 'trigger' AND name GLOB ?";
    for (const name of valuesFrom<string>(this.#database, triggers, `${this.#secret}_*`))
      this.#database.exec(`DROP TRIGGER temp.${name}`);
  }

  /** The columns of the watched tables. */
  get columns(): Record<string, readonly string[]> {
    return Object.fromEntries(this.#watched.map(({ name, columns }) => [name, columns]));
  }

  /** Each row that is not as it was, by table and key. Call it once the statements have run, unless rows are only counted. */
  *rows(): Generator<RecordedRow> {
    const isDoubtful = doubtOf(this.#database);
    for (const { name: table, log, key, columns, hasRowid } of this.#watched) {
      const has = this.#database.prepare(`SELECT 1 FROM temp.${log} LIMIT 1`).get() !== undefined;
      if (!has) continue;
      const isGone = shapeOf(this.#database, table) === undefined;
      const now = columns.map((name) => (isGone ? "NULL" : `t.${quoteIdentifier(name)}`));
      const states = [...columns.map((_, at) => `l.c${at}`), ...now];
      const keys = key.map((_, at) => `l.k${at}`);
      const same = key.map((column, at) => `t.${column} = l.k${at}`).join(" AND ");
      const join = isGone ? "" : `LEFT JOIN main.${quoteIdentifier(table)} t ON ${same}`;
      const from = `FROM temp.${log} l ${join}`;
      const expressions = [...keys, ...states];
      const exact = this.#database
        .prepare<[unknown], unknown[]>(
          `SELECT ${expressions.map(asBytes).join(", ")} ${from} WHERE l.rowid = ?`,
        )
        .raw();
      const changedRows = this.#database
        .prepare<[], unknown[]>(
          `SELECT l.rowid, l.e, ${isGone ? "0" : `t.${key[0]} IS NOT NULL`}, ${expressions.join(", ")} ${from} ORDER BY ${keys.join(", ")}`,
        )
        .raw();
      for (const [at, existed, exists, ...values] of changedRows.iterate()) {
        const bytes = isDoubtful(values) ? exact.get(at) : undefined;
        const encoded = values.map((value, index) => encodeValue(value, bytes?.[index]));
        const middle = key.length + columns.length;
        const before = existed === 1n ? encoded.slice(key.length, middle) : undefined;
        const after = exists === 1n ? encoded.slice(middle) : undefined;
        if (isEqual(before, after)) continue;
        // A row without a rowid is identified by its columns.
        const id = hasRowid ? encoded[0] : encoded.slice(0, key.length);
        yield {
          table,
          key: id,
          ...(before === undefined ? {} : { before }),
          ...(after === undefined ? {} : { after }),
        };
      }
    }
  }

  /** Why the rows can't be recorded after all: a table that was changed was dropped, or has other columns now. */
  get obstacle(): string | undefined {
    for (const watched of this.#watched) {
      const { name, log } = watched;
      const now = shapeOf(this.#database, name);
      if (now !== undefined && "columns" in now && isSame(now, watched)) continue;
      const lost = now === undefined ? " WHERE e" : "";
      if (rowsOf(this.#database, `temp.${log}${lost}`) !== 0)
        return `the same transaction changed the definition of ${name}`;
    }
    return undefined;
  }

  /** How many rows of each table were changed. */
  counts(): TableCounts[] {
    return this.#watched.flatMap((watched) => {
      const { name, rows } = watched;
      const counts: unknown = this.#database.prepare(this.#countQuery(watched)).raw().get();
      const [inserted = 0, updated = 0, deleted = 0] = [counts].flat().map(Number);
      // REPLACE deletes rows without a trigger.
      const now = this.#isCounting ? rowsOf(this.#database, quoteIdentifier(name)) : undefined;
      const gone =
        now === undefined || rows === 0 ? 0 : Math.max(0, rows + inserted - deleted - now);
      const replaced = Math.min(gone, inserted);
      const total = {
        table: name,
        inserted: inserted - replaced,
        updated: updated + replaced,
        deleted: deleted + gone - replaced,
      };
      return total.inserted + total.updated + total.deleted === 0 ? [] : [total];
    });
  }

  /** How many rows are new, changed, and gone: as counted, or of those that are kept. */
  #countQuery(watched: Watched): string {
    const { name, log, key, hasRowid } = watched;
    if (this.#isCounting) return `SELECT i, u, d FROM temp.${log}`;
    const now = shapeOf(this.#database, name);
    const isGone = now === undefined || "reason" in now || (!hasRowid && !isSame(now, watched));
    const same = key.map((column, at) => `t.${column} = l.k${at}`).join(" AND ");
    const rows = isGone ? "(SELECT 1) WHERE 0" : `main.${quoteIdentifier(name)} t WHERE ${same}`;
    const stays = `EXISTS (SELECT 1 FROM ${rows})`;
    return `SELECT sum(e = 0), sum(e AND ${stays}), sum(e AND NOT ${stays}) FROM temp.${log} l`;
  }
}

type Trigger = readonly [when: string, kind: Kind, body: readonly string[]];

function isEqual(a: readonly Value[] | undefined, b: readonly Value[] | undefined): boolean {
  if (a === undefined || b === undefined) return a === b;
  return a.every((value, at) => value === b[at] || JSON.stringify(value) === JSON.stringify(b[at]));
}

const isSame = (a: Shape, b: Shape) =>
  a.name === b.name && a.columns.join("\0") === b.columns.join("\0");

const countTable = (log: string) => `CREATE TEMP TABLE ${log} AS SELECT 0 AS i, 0 AS u, 0 AS d`;

function countRows(log: string, replaces: boolean): Trigger[] {
  const count = (column: string) => [`UPDATE ${log} SET ${column} = ${column} + 1`];
  return [
    // An inserted row only matters if it replaces another one.
    ["AFTER", "insert", replaces ? count("i") : []],
    ["AFTER", "update", count("u")],
    ["AFTER", "delete", count("d")],
  ];
}

/** Has the first state of each row: `e` says whether it existed, `k0` … is its key, and `c0` … are its columns. */
function logTable({ log, key, collations, columns, hasRowid }: Watched): string {
  const keys = key.map((_, at) => `k${at}`);
  const declared = hasRowid
    ? ["k0 INTEGER PRIMARY KEY"]
    : keys.map((key, at) => `${key} COLLATE ${quoteIdentifier(collations[at] ?? "BINARY")}`);
  const unique = hasRowid ? [] : [`UNIQUE (${keys.join(", ")})`];
  return `CREATE TEMP TABLE ${log} (${[...declared, "e", ...columns.map((_, at) => `c${at}`), ...unique].join(", ")})`;
}

function keepRows(database: Database.Database, watched: Watched, replaces: boolean): Trigger[] {
  const { name, log, key, columns } = watched;
  const keys = key.map((_, at) => `k${at}`);
  const of = (from: string) => key.map((column) => `${from}.${column}`);
  // Not INSERT OR IGNORE: the conflict clause of the user's statement would replace that of a trigger.
  const isNew = (from: string) =>
    `NOT EXISTS (SELECT 1 FROM ${log} WHERE ${of(from)
      .map((key, at) => `k${at} = ${key}`)
      .join(" AND ")})`;
  const keep = (from: string, more = "WHERE") =>
    `INSERT INTO ${log} SELECT ${[...of(from), "1", ...columns.map((column) => `${from}.${quoteIdentifier(column)}`)].join(", ")} ${more} ${isNew(from)}`;
  const appear = (where: string) =>
    `INSERT INTO ${log} (${keys.join(", ")}, e) SELECT ${of("NEW").join(", ")}, 0 WHERE ${where} AND ${isNew("NEW")}`;
  const moved = key.map((column) => `NEW.${column} IS NOT OLD.${column}`).join(" OR ");
  // REPLACE deletes the rows in its way without running triggers, so they are kept before.
  const source = `FROM main.${quoteIdentifier(name)} AS x WHERE`;
  const conflicts = replaces ? conflictsOf(database, watched) : [];
  if (conflicts === undefined) database.exec(keep("x", source));
  const inTheWay = (conflicts ?? []).map((where) => keep("x", `${source} ${where} AND`));
  return [
    ["BEFORE", "insert", inTheWay],
    ["BEFORE", "update", inTheWay],
    ["AFTER", "insert", [appear("true")]],
    ["AFTER", "update", [keep("OLD"), appear(`(${moved})`)]],
    ["AFTER", "delete", [keep("OLD")]],
  ];
}

/** For each unique index, a condition for the rows `x` with the values of NEW; NULL for an index on an expression. */
const EQUAL_IN_INDEXES = `SELECT CASE WHEN count(*) = count(x.name) THEN
    group_concat(printf('x."%w" = NEW."%w" COLLATE "%w"', x.name, x.name, x.coll), ' AND ') END
  FROM pragma_index_list(?) i JOIN pragma_index_xinfo(i.name) x WHERE i."unique" = 1 AND x.key = 1 GROUP BY i.name`;

/** Conditions for the rows `x` that the row NEW replaces; undefined if they can't be known, so that any row may be replaced. */
function conflictsOf(
  database: Database.Database,
  { name, key, hasRowid }: Shape,
): string[] | undefined {
  const conditions = valuesFrom<string | null>(database, EQUAL_IN_INDEXES, name);
  const certain = conditions.filter((condition) => condition !== null);
  if (certain.length < conditions.length) return undefined;
  return hasRowid ? [`x.${key[0]} = NEW.${key[0]}`, ...certain] : certain;
}

/** Whether a virtual table is a full-text index whose text is in another table: FTS4 and FTS5 with `content=`. */
function isIndexOfOther(database: Database.Database, name: string): boolean {
  const definition = "SELECT sql FROM main.sqlite_schema WHERE lower(name) = ? AND type = 'table'";
  const [sql = ""] = valuesFrom<string>(database, definition, name);
  return (
    /^CREATE\s+VIRTUAL\s.*\bUSING\s+["`[]?fts[45]\b/is.test(sql) &&
    /\bcontent\s*=\s*(?!["'`[]\s*["'`\]]|[,)])/i.test(sql)
  );
}

/** How many rows a table has; undefined if there is no such table. @param table in SQL */
export function rowsOf(database: Database.Database, table: string): number | undefined {
  try {
    return Number(valuesFrom(database, `SELECT count(*) FROM ${table}`)[0]);
  } catch {
    return undefined;
  }
}
