import { errorCode } from "@refmcp/boundary";
import { oneLine, ToolError } from "@refmcp/boundary/answer";
import type { TableCounts } from "@refmcp/sql/change-record";
import { changedSince } from "@refmcp/sql/tools";
import type { Session } from "../connection/database.ts";
import { arrayText, type Row } from "../driver/values.ts";
import { AT_LAST, type TouchedTable, touched, without } from "./losses.ts";
import { matching } from "./record.ts";
import {
  type Added,
  addedBy,
  columnsOf,
  keyOf,
  madeBy,
  readRows,
  rowText,
  type TableFacts,
} from "./tables.ts";

/** A row of a change; each of the two is missing if the row did not exist then. */
export interface Pair {
  readonly before: Row | undefined;
  readonly after: Row | undefined;
  /** Where the row is now. */
  place?: string | undefined;
}

/** What a change did to one table. */
export interface Table {
  readonly facts: TableFacts;
  /** Rows that the change deleted, updated and inserted. */
  readonly deleted: Pair[];
  readonly updated: Pair[];
  readonly inserted: Pair[];
  /** Many rows that it inserted, with the id of its transaction. */
  readonly added: (Added & { readonly xid: string })[];
}

/** All rows of a table that are recorded one by one. */
export const pairsOf = ({ deleted, updated, inserted }: Table) => [
  ...deleted,
  ...updated,
  ...inserted,
];

/** Locks the rows and notes where they are. @throws ToolError if some are not as the change left them */
export async function findRows(
  session: Session,
  id: string,
  tables: readonly Table[],
): Promise<void> {
  const changed: string[] = [];
  for (const { facts, deleted, updated, inserted, added } of tables) {
    for (const { xid, rows, digest } of added) {
      const now = await addedBy(session, facts, xid);
      if (now.rows !== rows || now.digest !== digest)
        changed.push(
          `${facts.name} (${Math.max(1, rows - now.rows)} or more of ${rows} added rows)`,
        );
    }
    const name = (one: Row) => oneLine(`${facts.name} ${keyOf(facts, one)}`.slice(0, 200));
    const existing = [...updated, ...inserted];
    const found = await find(session, facts, rowsOf(existing, "after"));
    for (const pair of existing) {
      pair.place = found.get(JSON.stringify(pair.after))?.pop();
      if (pair.place === undefined) changed.push(name(pair.after ?? []));
    }
    const gone = facts.key.length === 0 ? [] : rowsOf(deleted, "before");
    for (const text of (await find(session, facts, gone)).keys())
      changed.push(`${name(JSON.parse(text))} (exists again)`);
  }
  if (changed.length > 0) throw changedSince(id, changed, changed.length);
}

/** Rows with the keys of the given ones, locked, by their text; of tables without a key, the same rows as often as given. */
async function find(
  session: Session,
  facts: TableFacts,
  rows: readonly Row[],
): Promise<Map<string, string[]>> {
  const found = new Map<string, string[]>();
  if (rows.length === 0) return found;
  const { name, columns, key } = facts;
  const given = `(SELECT pg_catalog.unnest($1::${name}[]) AS r) k`;
  const select = `SELECT t.ctid, ${columnsOf(facts)} FROM`;
  // Not all types have an equality.
  const numbered = (of: string, from: string, more = "") => {
    const text = `pg_catalog.format('%s', ROW(${columns.map((column) => `${of}.${column}`).join(", ")}))`;
    return `(SELECT ${text} AS r, pg_catalog.row_number() OVER (PARTITION BY ${text}) AS n${more} FROM ${from})`;
  };
  const text =
    key.length > 0
      ? `${select} ${given} JOIN ONLY ${name} t ON ${matching(facts)} FOR UPDATE OF t`
      : `${select} ONLY ${name} t WHERE t.ctid = ANY (ARRAY(SELECT a.ctid FROM ${numbered("u", `ONLY ${name} u`, ", u.ctid")} a
           JOIN ${numbered("(k.r)", given)} b ON a.r = b.r AND a.n = b.n)) FOR UPDATE OF t`;
  const elements = rows.map((one) => rowText(facts, one));
  await readRows(session, text, elements, (places, all) => {
    for (const [at, one] of all.entries()) {
      const key = JSON.stringify(one);
      found.set(key, [...(found.get(key) ?? []), places[at] ?? ""]);
    }
  });
  return found;
}

/** Restores the rows. @throws ToolError if more than that was changed */
export async function restoreRows(
  session: Session,
  id: string,
  tables: readonly Table[],
): Promise<void> {
  const off = tables.flatMap(({ facts }) => facts.disabling);
  const on = tables.flatMap(({ facts }) => facts.enabling);
  if (off.length > 0) await session.run(off.join(";"));
  const parentsFirst = await inOrder(session, tables);
  const childrenFirst = [...parentsFirst].reverse();
  const inserting = parentsFirst.map((table) => () => insert(session, table));
  const updating = parentsFirst.map((table) => () => update(session, table));
  const deleting = childrenFirst.map((table) => () => remove(session, table));
  const replacing = parentsFirst.map((table) => () => replace(session, table));
  const plans = [
    // Rows that others refer to come first and go last.
    [...inserting, ...updating, ...deleting],
    // Unless they take the place of rows that were inserted instead,
    [...deleting, ...updating, ...inserting],
    // or values moved from row to row, so that each one blocks another.
    [...deleting, ...replacing, ...inserting],
  ];
  await session.run("SAVEPOINT refmcp_undo");
  let counts: TouchedTable[] = [];
  let failure: unknown;
  for (const steps of plans)
    try {
      counts = await attempt(session, steps);
      failure = undefined;
      break;
    } catch (error) {
      if (!errorCode(error)?.startsWith("23")) throw error;
      failure ??= error;
      await session.run("ROLLBACK TO refmcp_undo");
    }
  if (failure !== undefined) throw failure;
  await verify(session, id, tables, counts);
  if (on.length > 0) await session.run(on.join(";"));
}

async function attempt(
  session: Session,
  steps: readonly (() => Promise<void>)[],
): Promise<TouchedTable[]> {
  const earlier = await touched(session, [
    "SET CONSTRAINTS ALL DEFERRED",
    // For triggers.
    "SET LOCAL search_path TO DEFAULT",
  ]);
  for (const step of steps) await step();
  return without((await touched(session, AT_LAST)).tables, earlier.tables);
}

/** @throws ToolError if something else was changed too, or the rows are not as they were */
async function verify(
  session: Session,
  id: string,
  tables: readonly Table[],
  counts: readonly TouchedTable[],
) {
  const differing: string[] = [];
  for (const one of counts) {
    const table = tables.find(({ facts }) => facts.id === one.id);
    const [{ inserted, updated, deleted } = NONE] = table === undefined ? [] : countsOf(table);
    // Rows that were replaced count as both.
    const replaced = one.updated === 0 && one.inserted > inserted ? updated : 0;
    if (
      one.inserted !== inserted + replaced ||
      one.updated > updated ||
      one.deleted !== deleted + replaced
    )
      differing.push(one.table);
  }
  for (const { facts, deleted, updated } of tables) {
    const wanted = rowsOf([...deleted, ...updated], "before");
    const found = await find(session, facts, wanted);
    if (!wanted.every((one) => found.get(JSON.stringify(one))?.pop() !== undefined))
      differing.push(facts.name);
  }
  if (differing.length === 0) return;
  const triggers = tables.flatMap(({ facts }) => facts.triggers);
  const by =
    triggers.length === 0 ? "cascades, rules or triggers" : `triggers (${triggers.join(", ")})`;
  throw new ToolError(
    "conflict",
    `Change ${id} was not undone: ${by} also changed ${[...new Set(differing)].join(", ")}. Nothing was changed.`,
    {
      hint: "Undo it as the owner of the tables, for whom triggers stay off, or restore rows with your own statements.",
    },
  );
}

const NONE = { inserted: 0, updated: 0, deleted: 0 };

/** What the undo does with a table, also where a row was only written again as it was. */
export function countsOf(table: Table): TableCounts[] {
  const [inserted, updated] = [table.deleted.length, table.updated.length];
  const deleted = table.added.reduce((sum, { rows }) => sum + rows, table.inserted.length);
  const name = table.facts.name.replace(/^public\./, "");
  return inserted + updated + deleted === 0 ? [] : [{ table: name, inserted, updated, deleted }];
}

const rowsOf = (pairs: readonly Pair[], when: "before" | "after") =>
  pairs.flatMap((pair) => [pair[when] ?? []]);

const textsOf = (facts: TableFacts, rows: readonly Row[]) =>
  arrayText(rows.map((one) => rowText(facts, one)));

const placesOf = (pairs: readonly Pair[]) => arrayText(pairs.map(({ place }) => place));

async function insert(session: Session, { facts, deleted }: Table): Promise<void> {
  if (deleted.length === 0) return;
  const { name, columns } = facts;
  const values = columns.map((column) => `(k.r).${column}`).join(", ");
  await session.rows(
    `INSERT INTO ${name} (${columns.join(", ")}) OVERRIDING SYSTEM VALUE SELECT ${values} FROM (SELECT pg_catalog.unnest($1::${name}[]) AS r) k`,
    [textsOf(facts, rowsOf(deleted, "before"))],
  );
}

async function update(session: Session, { facts, updated }: Table): Promise<void> {
  const { name, columns } = facts;
  // Columns that are always generated can't be set, and never differ.
  const changed = columns.filter((_, at) =>
    updated.some(({ before, after }) => before?.[at] !== after?.[at]),
  );
  if (changed.length === 0) return;
  await session.rows(
    `UPDATE ONLY ${name} t SET ${changed.map((column) => `${column} = (k.r).${column}`).join(", ")}
     FROM (SELECT pg_catalog.unnest($1::${name}[]) AS r, pg_catalog.unnest($2::tid[]) AS p) k WHERE t.ctid = k.p`,
    [textsOf(facts, rowsOf(updated, "before")), placesOf(updated)],
  );
}

/** Updates rows by deleting and inserting them in one statement, in which they are not in each other's way. */
async function replace(session: Session, { facts, updated }: Table): Promise<void> {
  const { name, columns } = facts;
  if (updated.length === 0) return;
  await session.rows(
    `WITH gone AS (DELETE FROM ONLY ${name} t WHERE t.ctid = ANY ($2::tid[]) RETURNING 1)
     INSERT INTO ${name} (${columns.join(", ")}) OVERRIDING SYSTEM VALUE SELECT ${columns.map((column) => `(k.r).${column}`).join(", ")}
     FROM (SELECT pg_catalog.unnest($1::${name}[]) AS r) k WHERE (SELECT pg_catalog.count(*) FROM gone) > 0`,
    [textsOf(facts, rowsOf(updated, "before")), placesOf(updated)],
  );
}

async function remove(session: Session, { facts, inserted, added }: Table): Promise<void> {
  for (const { xid } of added)
    await session.rows(`DELETE FROM ONLY ${facts.name} t WHERE ${madeBy(xid)}`);
  if (inserted.length === 0) return;
  await session.rows(`DELETE FROM ONLY ${facts.name} t WHERE t.ctid = ANY ($1::tid[])`, [
    placesOf(inserted),
  ]);
}

/** The tables, each after those that it references. */
async function inOrder(session: Session, tables: readonly Table[]): Promise<Table[]> {
  const ids = tables.map(({ facts }) => facts.id);
  const keys = await session.rows<{ child: string; parent: string }>(
    `SELECT conrelid::text AS child, confrelid::text AS parent FROM pg_catalog.pg_constraint
     WHERE contype = 'f' AND conrelid <> confrelid AND conrelid = ANY ($1::oid[]) AND confrelid = ANY ($1::oid[])`,
    [ids],
  );
  const ordered = new Set<Table>();
  const visiting = new Set<string>();
  const visit = (id: string) => {
    if (visiting.has(id)) return;
    visiting.add(id);
    for (const { child, parent } of keys) if (child === id) visit(parent);
    const table = tables.find(({ facts }) => facts.id === id);
    if (table !== undefined) ordered.add(table);
  };
  for (const id of ids) visit(id);
  return [...ordered];
}
