import { createHash } from "node:crypto";
import { clip, grouped, oneLine, sized, ToolError } from "@refmcp/boundary/answer";
import { leftOutNote } from "../advice/trial.ts";
import type { Database, Session, Work } from "../connection/database.ts";
import type { Postgres } from "../connection/postgres.ts";
import { explained } from "../errors.ts";
import {
  listOf,
  namesOf,
  only,
  parseSql,
  quotedName,
  relationName,
  type Tree,
  treeOf,
} from "../gate/syntax.ts";
import { passWriting } from "../gate/write-gate.ts";
import { oidOf } from "../writing/losses.ts";
import type { SchemaCopy, Trial } from "./copy.ts";
import { lintsOf, type Warning } from "./lints.ts";
import { objectsOf } from "./objects.ts";
import type { Size } from "./statistics.ts";

/** Table locks in order of strength, from the first that hinders others (PostgreSQL, "Table-Level Locks"). */
const LOCKS: readonly (readonly [mode: string, shown: string, blocks: string])[] = [
  ["ShareUpdateExclusiveLock", "SHARE UPDATE EXCLUSIVE", "blocks schema changes and VACUUM"],
  ["ShareLock", "SHARE", "blocks writes"],
  ["ShareRowExclusiveLock", "SHARE ROW EXCLUSIVE", "blocks writes"],
  ["ExclusiveLock", "EXCLUSIVE", "blocks writes"],
  ["AccessExclusiveLock", "ACCESS EXCLUSIVE", "blocks reads and writes"],
];

/** What PostgreSQL itself reports about the work of a statement (DEBUG1). */
const WORK =
  /^(rewriting|verifying) table "(.*)"$|^building index "(.*)" on table "(.*)" (?:serially|with request)|^(validating foreign key) constraint "(.*)"$/;

const MAX_REMEMBERED = 50;

export interface Statement {
  readonly sql: string;
  /** `IndexStmt`, `AlterTableStmt`, … */
  readonly kind: string;
  readonly node: Tree;
}

/** A table that existed before the migration, with its size in the source. */
export interface Known {
  readonly name: string;
  readonly isPartitioned: boolean;
  readonly size: Size | undefined;
}

/** What a statement did to tables that existed before. */
export interface Facts {
  /** The table that it names. */
  readonly target: Known | undefined;
  /** What the strongest lock on it blocks, also one of an earlier statement; undefined for locks that hinder no rows. */
  readonly blocks: string | undefined;
  /** Stronger locks than earlier statements took. */
  readonly locks: readonly (Known & { readonly strength: number })[];
  readonly work: readonly (Known & {
    readonly what: "rewrites" | "scans" | "builds";
    readonly of?: string;
  })[];
}

interface Rehearsed {
  readonly sql: string;
  readonly locks: string[];
  readonly work: string[];
  readonly warnings: readonly Warning[];
  /** Why it did not run here. */
  readonly skipped?: string;
  readonly error?: string;
}

/** Splits texts into single statements; the parser counts bytes. */
async function statementsIn(texts: readonly string[]): Promise<Statement[]> {
  const all: Statement[] = [];
  for (const text of texts) {
    const bytes = Buffer.from(text);
    for (const { stmt, stmt_location: at = 0, stmt_len: length } of (await parseSql(text)).stmts ?? []) {
      const sql = bytes.subarray(at, length === undefined ? undefined : at + length).toString("utf8");
      const [kind, node] = only(treeOf(stmt));
      all.push({ sql: sql.trim().replace(/;$/, ""), kind, node });
    }
  }
  return all;
}

/** Identifies a migration, to find what its rehearsal said. */
export const rehearsalKey = (database: string, statements: readonly string[]) =>
  createHash("sha256")
    .update(JSON.stringify([database, ...statements.map((sql) => sql.trim().replace(/;$/, ""))]))
    .digest("hex");

/**
 * Runs a migration on the copy of the schema, in one transaction as pg_execute would, and reports the locks it takes, the
 * tables it rewrites or scans with their size in the database, how the schema changes, and safer statements. It stops at
 * the first statement that fails. The copy has no rows, so conditions on rows are not tested.
 *
 * @throws ToolError for statements that pg_execute refuses, or `unavailable` without the binaries.
 */
async function rehearse(database: Database, copy: SchemaCopy, texts: readonly string[], work: Work) {
  const statements = await statementsIn(texts);
  for (const { sql, kind } of statements)
    if (!isSetting(kind)) await passWriting(sql, database.limits.allowAdmin);
  return await copy.use("pg_rehearse", work, async (trial) => {
    const rehearsal = new Rehearsal(trial, statements);
    const before = await objectsNow(trial.session);
    const results = await rehearsal.run();
    const after = await objectsNow(trial.session);
    const [was, is] = [before, after].map(
      (list) => new Map(list.map((one) => [`${one.kind} ${one.name}`, one.sql])),
    );
    const changes = [...new Set([...(was?.keys() ?? []), ...(is?.keys() ?? [])])].flatMap((key) => {
      const [old, now] = [was?.get(key), is?.get(key)];
      if (old === now) return [];
      const shown = (sql: string) => oneLine(clip(sql, 300));
      if (old === undefined) return `+ ${key}: ${shown(now ?? "")}`;
      return now === undefined ? `- ${key}` : `~ ${key}: ${shown(old)} → ${shown(now)}`;
    });
    return { results, changes, leftOut: trial.leftOut, statements };
  });
}

/** The objects, without changing how later statements find names. */
async function objectsNow(session: Session) {
  await session.run("SAVEPOINT refmcp_objects");
  const objects = await objectsOf(session);
  await session.run("ROLLBACK TO SAVEPOINT refmcp_objects");
  return objects;
}

/** Statements about the transaction and its settings, which a migration file has and pg_execute does itself. */
const isSetting = (kind: string) => kind === "TransactionStmt" || kind === "VariableSetStmt";

class Rehearsal {
  readonly #session: Session;
  readonly #sizes: ReadonlyMap<string, Size>;
  readonly #statements: readonly Statement[];
  /** The tables before the migration, by object id. */
  #tables: ReadonlyMap<string, Pick<Known, "name" | "isPartitioned">> = new Map();
  /** The strongest lock of each table so far. */
  readonly #held = new Map<string, number>();

  constructor({ session, sizes }: Trial, statements: readonly Statement[]) {
    this.#session = session;
    this.#sizes = sizes;
    this.#statements = statements;
  }

  async run(): Promise<Rehearsed[]> {
    const tables = await this.#session.rows<{ id: string; name: string; isPartitioned: boolean }>(
      `SELECT c.oid::text AS id, pg_catalog.format('%I.%I', n.nspname, c.relname) AS name, c.relkind = 'p' AS "isPartitioned" FROM pg_catalog.pg_class c
       JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace WHERE c.relkind IN ('r', 'p', 'm', 'v') AND n.nspname !~ '^pg_' AND n.nspname <> 'information_schema'`,
    );
    this.#tables = new Map(tables.map(({ id, ...table }) => [id, table]));
    const results: Rehearsed[] = [];
    const messages: string[] = [];
    const listen = ({ message }: { message?: string | undefined }) => messages.push(message ?? "");
    const { client } = this.#session.connection;
    client.on("notice", listen);
    try {
      for (const statement of this.#statements) {
        messages.length = 0;
        const result = await this.#one(statement, messages);
        results.push(result);
        if (result.error !== undefined) break;
      }
    } finally {
      client.off("notice", listen);
    }
    return results;
  }

  async #one(statement: Statement, messages: readonly string[]): Promise<Rehearsed> {
    const { sql, kind } = statement;
    const nothing = { sql: oneLine(clip(sql, 200)), locks: [], work: [], warnings: [] };
    if (isSetting(kind))
      return { ...nothing, skipped: "pg_execute manages the transaction and its settings" };
    const { alone } = await passWriting(sql, true);
    if (kind === "VacuumStmt" && alone !== undefined)
      return { ...nothing, skipped: "VACUUM has no rows here" };
    const partitioned = alone === undefined ? undefined : await this.#partitionedIn(statement);
    if (partitioned !== undefined)
      return { ...nothing, error: `PostgreSQL refuses CONCURRENTLY here: ${partitioned} is partitioned.` };
    const isChange = /^(Insert|Update|Delete|Merge)Stmt$/.test(kind);
    const target = await oidOf(this.#session, relationName(statement.node.relation));
    await this.#session.run("SAVEPOINT refmcp_rehearsal; SET LOCAL client_min_messages = debug1");
    try {
      // For the schema, CONCURRENTLY makes no difference; and there are no rows to change.
      const text = isChange
        ? `EXPLAIN ${sql}`
        : alone === undefined
          ? sql
          : sql.replace(/\s*\bCONCURRENTLY\b/i, "");
      await this.#session.query({ text, params: [] }, { chars: 100_000, toEnd: true });
    } catch (error) {
      if (this.#session.signal.aborted) throw error;
      const why = explained(error, "the schema copy", { sql });
      if (!(why instanceof ToolError) || this.#session.connection.isInvalid) throw why;
      await this.#session.run("ROLLBACK TO SAVEPOINT refmcp_rehearsal");
      return { ...nothing, error: [why.message, why.hint].join(" ").trim() };
    }
    await this.#session.run("SET LOCAL client_min_messages = notice");
    const facts = await this.#factsOf(target, alone !== undefined, messages);
    return {
      ...nothing,
      locks: facts.locks.map(
        (lock) => `${LOCKS[lock.strength]?.[1]} on ${shown(lock)}: ${LOCKS[lock.strength]?.[2]}`,
      ),
      work: facts.work.map(
        (one) =>
          `${one.what} ${one.of === undefined ? "" : `${one.of} ${one.what === "scans" ? "of" : "on"} `}${shown(one)}`,
      ),
      warnings: lintsOf(statement, facts, {
        isAlone: alone !== undefined,
        others: this.#statements.length - 1,
      }),
      ...(isChange ? { skipped: "checked, but not run: the copy has no rows" } : {}),
    };
  }

  /** What CREATE INDEX or DROP INDEX names that is partitioned, where CONCURRENTLY is not possible. */
  async #partitionedIn({ kind, node }: Statement): Promise<string | undefined> {
    const dropped = listOf(node.objects).map((one) => quotedName(namesOf(treeOf(treeOf(one).List).items)));
    const created = kind === "IndexStmt" ? (relationName(node.relation) ?? []) : [];
    const [found] = await this.#session.rows<{ name: string }>(
      `SELECT c.oid::regclass::text AS name FROM pg_catalog.unnest($1::text[]) n JOIN pg_catalog.pg_class c ON c.oid = pg_catalog.to_regclass(n)
       WHERE c.relkind IN ('p', 'I')`,
      [dropped.concat(created)],
    );
    return found?.name;
  }

  /** @param isConcurrent whether it takes the weaker lock of CONCURRENTLY where it runs */
  async #factsOf(
    target: string | undefined,
    isConcurrent: boolean,
    messages: readonly string[],
  ): Promise<Facts> {
    const held = await this.#session.rows<{ id: string; relation: string | null; mode: string }>(
      `SELECT l.relation::text AS id, c.relname::text AS relation, l.mode FROM pg_catalog.pg_locks l LEFT JOIN pg_catalog.pg_class c ON c.oid = l.relation
       WHERE l.pid = pg_catalog.pg_backend_pid() AND l.locktype = 'relation' ORDER BY 1`,
    );
    const known = (id = ""): Known | undefined => {
      const table = this.#tables.get(id);
      return table === undefined ? undefined : { ...table, size: this.#sizes.get(table.name) };
    };
    const locks = held.flatMap(({ id, mode }) => {
      const [table, strength] = [known(id), isConcurrent ? 0 : LOCKS.findIndex(([name]) => name === mode)];
      if (table === undefined || strength <= (this.#held.get(id) ?? -1)) return [];
      if (isConcurrent && !LOCKS.some(([name]) => name === mode)) return [];
      this.#held.set(id, strength);
      return [{ id, ...table, strength }];
    });
    const strongest = locks.filter(({ id, strength }) => this.#held.get(id) === strength);
    const named = (relation: string) => {
      const id = held.find((one) => one.relation === relation && this.#tables.has(one.id))?.id;
      return id === undefined ? undefined : known(id);
    };
    const work: Facts["work"][number][] = [];
    for (const message of messages) {
      const [, act, table, index, indexed, , key] = WORK.exec(message) ?? [];
      const on = named(table ?? indexed ?? "");
      if (on !== undefined && act !== undefined)
        work.push({ ...on, what: act === "rewriting" ? "rewrites" : "scans" });
      else if (on !== undefined && index !== undefined)
        work.push({ ...on, what: "builds", of: `index ${index}` });
      for (const id of key === undefined ? [] : await this.#tablesOf(key)) {
        const one = known(id);
        if (one !== undefined) work.push({ ...one, what: "scans", of: `foreign key ${key}` });
      }
    }
    const strongestOn = LOCKS[this.#held.get(target ?? "") ?? -1];
    const blocks = /reads|writes/.test(strongestOn?.[2] ?? "") ? strongestOn?.[2] : undefined;
    return { target: known(target), blocks, locks: strongest, work };
  }

  async #tablesOf(foreignKey: string): Promise<string[]> {
    const rows = await this.#session.rows<{ id: string }>(
      "SELECT conrelid::text AS id FROM pg_catalog.pg_constraint WHERE conname = $1 AND contype = 'f' ORDER BY oid DESC LIMIT 1",
      [foreignKey],
    );
    return rows.map(({ id }) => id);
  }
}

/** `public.orders (12,000,000 rows, 4.1 GiB)`. */
export function shown({ name, size }: Known): string {
  if (size === undefined) return name;
  const rows = size.rows < 0 ? "not analyzed" : `about ${grouped(Math.round(size.rows))} rows`;
  return `${name} (${rows}, ${sized(size.bytes)})`;
}

/** The answer of pg_rehearse. pg_execute adds its facts to the question about the same statements. */
export async function rehearsed(
  postgres: Postgres,
  name: string | undefined,
  texts: readonly string[],
  work: Work,
) {
  const database = postgres.at(name);
  const { results, changes, leftOut, statements } = await rehearse(
    database,
    postgres.copyOf(database),
    texts,
    work,
  );
  const facts = [...new Set(results.flatMap(({ locks, work: done }) => [...locks, ...done]))];
  if (postgres.rehearsed.size >= MAX_REMEMBERED) postgres.rehearsed.clear();
  const sqls = statements.flatMap(({ sql, kind }) => (isSetting(kind) ? [] : [sql]));
  if (facts.length > 0)
    postgres.rehearsed.set(
      rehearsalKey(database.name, sqls),
      `The rehearsal found: ${oneLine(clip(facts.join("; "), 800))}.`,
    );
  const waits = results.some(({ locks }) => locks.some((lock) => lock.startsWith("ACCESS EXCLUSIVE")));
  const notes = [
    ...(leftOut.length === 0 ? [] : [leftOutNote(leftOut)]),
    ...(waits && !texts.some((text) => /\block_timeout\b/i.test(text))
      ? [
          "While an ACCESS EXCLUSIVE lock waits, every later query of the table waits too: outside pg_execute, which waits at most 5 s, begin with SET lock_timeout = '5s'.",
        ]
      : []),
  ];
  return {
    ok: results.every(({ error }) => error === undefined),
    statements: results.map(({ sql, locks, work: done, warnings, ...rest }) => ({
      sql,
      ...(locks.length === 0 ? {} : { locks }),
      ...(done.length === 0 ? {} : { work: done }),
      ...(warnings.length === 0 ? {} : { warnings: [...warnings] }),
      ...rest,
    })),
    changes,
    ...(notes.length === 0 ? {} : { notes }),
  };
}
