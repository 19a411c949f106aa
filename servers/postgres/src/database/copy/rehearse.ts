import { createHash } from "node:crypto";
import { clip, grouped, oneLine, sized, ToolError } from "@refmcp/boundary/answer";
import { leftOutNote } from "../advice/trial.ts";
import type { Session, Work } from "../connection/database.ts";
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
  textOf,
  treeOf,
} from "../gate/syntax.ts";
import { passWriting } from "../gate/write-gate.ts";
import { oidOf } from "../writing/losses.ts";
import type { Trial } from "./copy.ts";
import { lintsOf, type Warning } from "./lints.ts";
import { objectsOf, type SchemaObject } from "./objects.ts";
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
  /^(rewriting|verifying) table "(.*)"$|^building index "(.*)" on table "(.*)" (?:serially|with request)|^validating foreign key constraint "(.*)"$/;

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
  readonly locks?: string[];
  readonly work?: string[];
  readonly warnings?: Warning[];
  /** Why it did not run here. */
  readonly skipped?: string;
  readonly error?: string;
}

/** Splits texts into single statements. */
async function statementsIn(texts: readonly string[]): Promise<Statement[]> {
  const all: Statement[] = [];
  for (const text of texts) {
    const bytes = Buffer.from(text);
    for (const one of (await parseSql(text)).stmts ?? []) {
      const [kind, node] = only(treeOf(one.stmt));
      all.push({ sql: textOf(bytes, one).trim().replace(/;$/, ""), kind, node });
    }
  }
  return all;
}

/** Identifies a migration, to find what its rehearsal said. */
export const rehearsalKey = (database: string, statements: readonly string[]) =>
  createHash("sha256")
    .update(JSON.stringify([database, ...statements.map((sql) => sql.trim().replace(/;$/, ""))]))
    .digest("hex");

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
    const { kind, node } = statement;
    const sql = oneLine(clip(statement.sql, 200));
    if (isSetting(kind))
      return { sql, skipped: "pg_execute manages the transaction and its settings" };
    const { alone } = await passWriting(statement.sql, true);
    const isAlone = alone !== undefined;
    if (kind === "VacuumStmt" && isAlone) return { sql, skipped: "VACUUM has no rows here" };
    const partitioned = isAlone ? await this.#partitionedIn(statement) : undefined;
    if (partitioned !== undefined)
      return { sql, error: `PostgreSQL refuses CONCURRENTLY here: ${partitioned} is partitioned.` };
    const isChange = /^(Insert|Update|Delete|Merge)Stmt$/.test(kind);
    const target = await oidOf(this.#session, relationName(node.relation));
    await this.#session.run("SAVEPOINT refmcp_rehearsal; SET LOCAL client_min_messages = debug1");
    try {
      // For the schema, CONCURRENTLY makes no difference; and there are no rows to change.
      const possible = isAlone ? statement.sql.replace(/\s*\bCONCURRENTLY\b/i, "") : statement.sql;
      const text = isChange ? `EXPLAIN ${possible}` : possible;
      await this.#session.query({ text, params: [] }, { chars: 100_000, toEnd: true });
    } catch (error) {
      if (this.#session.signal.aborted) throw error;
      const why = explained(error, "the schema copy", { sql: statement.sql });
      if (!(why instanceof ToolError) || this.#session.connection.isInvalid) throw why;
      await this.#session.run("ROLLBACK TO SAVEPOINT refmcp_rehearsal");
      return { sql, error: [why.message, why.hint].join(" ").trim() };
    }
    await this.#session.run("SET LOCAL client_min_messages = notice");
    const facts = await this.#factsOf(target, isAlone, messages);
    const locks = facts.locks.map((lock) => {
      const [, mode, blocks] = LOCKS[lock.strength] ?? [];
      return `${mode} on ${shown(lock)}: ${blocks}`;
    });
    const work = facts.work.map(
      ({ what, of, ...table }) =>
        `${what} ${of === undefined ? "" : `${of} ${what === "scans" ? "of" : "on"} `}${shown(table)}`,
    );
    const warnings = lintsOf(statement, facts);
    if (isAlone && this.#statements.length > 1)
      warnings.push({
        problem: "CONCURRENTLY can't run in a transaction with other statements.",
        safer: "Run it alone, in its own call",
      });
    return {
      sql,
      ...(locks.length === 0 ? {} : { locks }),
      ...(work.length === 0 ? {} : { work }),
      ...(warnings.length === 0 ? {} : { warnings }),
      ...(isChange ? { skipped: "checked, but not run: the copy has no rows" } : {}),
    };
  }

  /** What CREATE INDEX or DROP INDEX names that is partitioned, where CONCURRENTLY is not possible. */
  async #partitionedIn({ kind, node }: Statement): Promise<string | undefined> {
    const dropped = listOf(node.objects).map((one) =>
      quotedName(namesOf(treeOf(treeOf(one).List).items)),
    );
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
      const [table, at] = [known(id), LOCKS.findIndex(([name]) => name === mode)];
      const strength = isConcurrent ? Math.min(at, 0) : at;
      if (table === undefined || strength <= (this.#held.get(id) ?? -1)) return [];
      this.#held.set(id, strength);
      return [{ id, ...table, strength }];
    });
    const strongest = locks.filter(({ id, strength }) => this.#held.get(id) === strength);
    const named = (relation = "") =>
      known(held.find((one) => one.relation === relation && this.#tables.has(one.id))?.id);
    const work: Facts["work"][number][] = [];
    for (const message of messages) {
      const [, act, table, index, indexed, key] = WORK.exec(message) ?? [];
      const on = key === undefined ? named(table ?? indexed) : known(await this.#tableOf(key));
      if (on === undefined) continue;
      if (act !== undefined) work.push({ ...on, what: act === "rewriting" ? "rewrites" : "scans" });
      else if (index !== undefined) work.push({ ...on, what: "builds", of: `index ${index}` });
      else work.push({ ...on, what: "scans", of: `foreign key ${key}` });
    }
    const strongestOn = LOCKS[this.#held.get(target ?? "") ?? -1];
    const blocks = /reads|writes/.test(strongestOn?.[2] ?? "") ? strongestOn?.[2] : undefined;
    return { target: known(target), blocks, locks: strongest, work };
  }

  async #tableOf(foreignKey: string): Promise<string | undefined> {
    const [found] = await this.#session.rows<{ id: string }>(
      "SELECT conrelid::text AS id FROM pg_catalog.pg_constraint WHERE conname = $1 AND contype = 'f' ORDER BY oid DESC LIMIT 1",
      [foreignKey],
    );
    return found?.id;
  }
}

/** `public.orders (12,000,000 rows, 4.1 GiB)`. */
export function shown({ name, size }: Known): string {
  if (size === undefined) return name;
  const rows = size.rows < 0 ? "not analyzed" : `about ${grouped(Math.round(size.rows))} rows`;
  return `${name} (${rows}, ${sized(size.bytes)})`;
}

/**
 * Runs a migration on the copy of the schema, in one transaction as pg_execute would, and reports the locks it takes, the
 * tables it rewrites or scans with their size in the database, how the schema changes, and safer statements. It stops at
 * the first statement that fails. The copy has no rows, so conditions on rows are not tested. pg_execute adds the facts to
 * the question about the same statements.
 *
 * @returns the answer of pg_rehearse
 * @throws ToolError for statements that pg_execute refuses, or `unavailable` without the binaries.
 */
export async function rehearsed(
  postgres: Postgres,
  name: string | undefined,
  texts: readonly string[],
  work: Work,
) {
  const database = postgres.at(name);
  const statements = await statementsIn(texts);
  const own = statements.flatMap(({ sql, kind }) => (isSetting(kind) ? [] : [sql]));
  for (const sql of own) await passWriting(sql, database.limits.allowAdmin);
  const { results, changes, leftOut } = await postgres
    .copyOf(database)
    .use("pg_rehearse", work, async (trial) => {
      const before = await objectsNow(trial.session);
      const results = await new Rehearsal(trial, statements).run();
      const changes = differences(before, await objectsNow(trial.session));
      return { results, changes, leftOut: trial.leftOut };
    });
  const facts = [
    ...new Set(results.flatMap(({ locks = [], work: done = [] }) => [...locks, ...done])),
  ];
  if (postgres.rehearsed.size >= MAX_REMEMBERED) postgres.rehearsed.clear();
  const found = `The rehearsal found: ${oneLine(clip(facts.join("; "), 800))}.`;
  if (facts.length > 0) postgres.rehearsed.set(rehearsalKey(database.name, own), found);
  const blocks = facts.some((fact) => fact.startsWith("ACCESS EXCLUSIVE"));
  const isLimited = texts.some((text) => /\block_timeout\b/i.test(text));
  const notes = [
    ...(leftOut.length === 0 ? [] : [leftOutNote(leftOut)]),
    ...(blocks && !isLimited ? [LOCK_NOTE] : []),
  ];
  return {
    ok: results.every(({ error }) => error === undefined),
    statements: results,
    changes,
    ...(notes.length === 0 ? {} : { notes }),
  };
}

const LOCK_NOTE =
  "While an ACCESS EXCLUSIVE lock waits, every later query of the table waits too: outside pg_execute, which waits at most 5 s, begin with SET lock_timeout = '5s'.";

/** How the objects differ: `+` added, `-` removed, `~` changed. */
function differences(before: readonly SchemaObject[], after: readonly SchemaObject[]): string[] {
  const byName = (list: readonly SchemaObject[]) =>
    new Map(list.map(({ kind, name, sql }) => [`${kind} ${name}`, sql]));
  const [was, is] = [byName(before), byName(after)];
  const short = (sql: string) => oneLine(clip(sql, 300));
  return [...new Set([...was.keys(), ...is.keys()])].flatMap((key) => {
    const [old, now] = [was.get(key), is.get(key)];
    if (old === now) return [];
    if (old === undefined) return `+ ${key}: ${short(now ?? "")}`;
    return now === undefined ? `- ${key}` : `~ ${key}: ${short(old)} → ${short(now)}`;
  });
}
