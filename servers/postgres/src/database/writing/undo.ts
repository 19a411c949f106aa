import { errorCode } from "@refmcp/boundary";
import { oneLine, ToolError } from "@refmcp/boundary/answer";
import { type Calling, lossText, type RecordedChange, readRows as recordedRows, rowCount } from "@refmcp/sql";
import type { TableCounts } from "@refmcp/sql/change-record";
import { changedSince } from "@refmcp/sql/tools";
import * as z from "zod";
import type { Database, Session } from "../connection/database.ts";
import { arrayText, type Row } from "../driver/values.ts";
import { passWriting } from "../gate/write-gate.ts";
import { AT_LAST, countUpTo, lookAt, type TouchedTable, touched, without } from "./losses.ts";
import { matching, transactionOf, Unrecordable, written } from "./record.ts";
import { type ChangeFacts, commit } from "./settle.ts";
import {
  type Added,
  addedBy,
  columnsOf,
  factsOf,
  keyOf,
  madeBy,
  readRows,
  rowText,
  type TableFacts,
} from "./tables.ts";

const texts = z.array(z.string());
const recorded = z.object({
  xid: z.string(),
  restore: texts,
  final: texts.default([]),
  skipped: texts,
  facts: z.array(z.object({ id: z.string(), name: z.string(), columns: texts, key: texts })),
});

/** A row of a change; each of the two is missing if the row did not exist then. */
interface Pair {
  readonly before: Row | undefined;
  readonly after: Row | undefined;
  /** Where the row is now. */
  place?: string | undefined;
}

interface Table {
  readonly facts: TableFacts;
  /** Rows that the change deleted, updated and inserted. */
  readonly deleted: Pair[];
  readonly updated: Pair[];
  readonly inserted: Pair[];
  /** Many rows that it inserted, with the id of its transaction. */
  readonly added: (Added & { readonly xid: string })[];
}

const pairsOf = ({ deleted, updated, inserted }: Table) => [...deleted, ...updated, ...inserted];

function rowOf(value: unknown): Row | undefined {
  const isCell = (cell: unknown) => cell === null || typeof cell === "string";
  const isRow = (row: unknown): row is Row => Array.isArray(row) && row.every(isCell);
  if (value === undefined || isRow(value)) return value;
  throw damaged();
}

const damaged = () => new ToolError("unavailable", "The record of this change is damaged.");

/** What PostgreSQL did with a change whose process ended before it knew. */
async function outcomeOf(session: Session, { facts }: RecordedChange): Promise<string | undefined> {
  const { xid } = recorded.pick({ xid: true }).parse(facts);
  if (xid === "") return undefined;
  const [found] = await session.rows<{ status: string | null }>(
    `SELECT CASE WHEN $1::text::xid8 < pg_catalog.pg_snapshot_xmax(pg_catalog.pg_current_snapshot()) THEN pg_catalog.pg_xact_status($1::text::xid8) END AS status`,
    [xid],
  );
  return found?.status ?? undefined;
}

/**
 * Restores the rows of a recorded change as they were, in one transaction, if they are all still as it left them. Triggers of
 * users are off during that where this role owns the table, since what they did is in the record too.
 *
 * @throws ToolError `conflict` if rows were changed since, or if the rows can't be restored exactly; nothing is changed then
 */
export async function undoChange(
  database: Database,
  { id, dryRun }: { readonly id: string; readonly dryRun: boolean },
  call: Pick<Calling, "signal" | "confirm">,
) {
  const change = await database.changes?.find(database.identity, id);
  if (change === undefined) throw new ToolError("not_found", "There is no record of changes.");
  const { restore, final: done, facts, skipped } = recorded.parse(change.facts);
  if (done.length > 0)
    throw new ToolError(
      "conflict",
      `Change ${id} can't be undone, because it changed the schema: ${oneLine(done.join("; ").slice(0, 500))}.`,
      { hint: `Run the statements of change ${change.undoes} again; the list of changes has them.` },
    );
  const undoing = database.change({ signal: call.signal, times: 10, handlesRows: true }, async (session) => {
    if (change.isPending && (await outcomeOf(session, change)) === "aborted")
      throw new ToolError("conflict", `Change ${id} was never committed: there is nothing to undo.`);
    const now = await factsOf(
      session,
      facts.map((one) => one.id),
    );
    const none = () => ({ deleted: [], updated: [], inserted: [], added: [] });
    const tables = facts.map((then): Table => ({ facts: current(id, then, now), ...none() }));
    const byName = new Map(facts.map(({ name }, at) => [name, tables[at]]));
    for (const { table, key, before, after, range } of recordedRows(change.path)) {
      const of = byName.get(table);
      if (of === undefined) throw damaged();
      const kind = after === undefined ? "deleted" : before === undefined ? "inserted" : "updated";
      if (range === undefined) of[kind].push({ before: rowOf(before), after: rowOf(after) });
      else of.added.push({ xid: String(key), rows: range.rows, digest: String(after) });
    }
    const isRecorded = tables.every(({ added }) => added.length === 0);
    await findRows(session, id, tables, database.masks.isOn);
    await restoreRows(session, id, tables);
    const { objects, again, final } = await restoreObjects(session, restore);
    const writer = isRecorded ? await database.startRecord() : undefined;
    if (typeof writer === "string") throw unrecorded(writer);
    try {
      for (const table of tables)
        for (const { before, after } of pairsOf(table)) {
          const key = keyOf(table.facts, before ?? after ?? []);
          const swapped = { ...(after && { before: after }), ...(before && { after: before }) };
          written(() => writer?.add({ table: table.facts.name, key, ...swapped }));
        }
      const undone: ChangeFacts = {
        facts: tables.map((one) => one.facts),
        skipped: [],
        xid: await transactionOf(session),
        restore: again,
        final,
      };
      const statements = [`undo of ${id}`];
      if (!dryRun)
        written(() => writer?.finish({ database: database.identity, statements, undoes: id, facts: undone }));
      const notes = [
        ...(skipped.length === 0
          ? []
          : [`Rows inserted into ${skipped.join(", ")} remain: this role can't read them.`]),
        ...(isRecorded ? [] : ["The added rows are not recorded, so this undo can't be undone."]),
        ...(final.length === 0 ? [] : ["This undo changes the schema, so it can't be undone itself."]),
      ];
      const answer = {
        undone: id,
        committed: !dryRun,
        tables: tables.flatMap(countsOf),
        ...(notes.length === 0 ? {} : { note: notes.join(" ") }),
      };
      if (dryRun) return answer;
      const loss = lossText({ objects });
      if (loss !== undefined) await call.confirm(loss);
      const change_id = await commit(session, writer);
      return change_id === undefined ? answer : { ...answer, change_id };
    } catch (error) {
      throw error instanceof Unrecordable ? unrecorded(error.message) : error;
    } finally {
      writer?.discard();
    }
  });
  return await undoing.catch((error) => {
    // What was added since is in the way, or what the change needs is gone.
    if (!(error instanceof ToolError) || !/^(?!42501)(23|42|2B)/.test(error.code ?? "")) throw error;
    throw new ToolError("conflict", `Change ${id} was not undone: ${error.message}`, {
      code: error.code,
      hint: LATER_FIRST,
    });
  });
}

const LATER_FIRST =
  "Nothing was changed. Undo later changes first (newest first), or restore rows with your own statements.";
const unrecorded = (why: string) =>
  new ToolError("unavailable", `The undo can't be recorded, so nothing was changed: ${oneLine(why)}.`, {
    hint: "Make the state directory writable (--undo-dir), with free space.",
  });

/** The current state of a table, with the columns of the record. @throws ToolError if it no longer has them */
function current(
  id: string,
  then: Pick<TableFacts, "id" | "name" | "columns" | "key">,
  tables: readonly TableFacts[],
): TableFacts {
  const found = tables.find((table) => table.id === then.id);
  const missing = then.columns.find((column) => found?.columns.includes(column) === false);
  const problem =
    found === undefined
      ? `the table ${then.name} no longer exists`
      : missing === undefined
        ? found.reason && `${found.name}: ${found.reason}`
        : `${found.name} has no column ${missing} any more`;
  if (found === undefined || problem)
    throw new ToolError("conflict", `Change ${id} can't be undone: ${problem}.`, {
      hint: "Undo the later changes first (newest first), or restore rows with your own statements.",
    });
  const places = found.places.map((at) => then.columns.indexOf(found.columns[at] ?? ""));
  return { ...found, places, columns: then.columns, key: then.key };
}

/** Locks the rows and notes where they are. @throws ToolError if some are not as the change left them */
async function findRows(
  session: Session,
  id: string,
  tables: readonly Table[],
  hidesKeys: boolean,
): Promise<void> {
  const changed: string[] = [];
  for (const { facts, deleted, updated, inserted, added } of tables) {
    for (const { xid, rows, digest } of added) {
      const now = await addedBy(session, facts, xid);
      if (now.rows !== rows || now.digest !== digest)
        changed.push(`${facts.name} (${Math.max(1, rows - now.rows)} or more of ${rows} added rows)`);
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
  const shown = hidesKeys ? [] : changed;
  if (changed.length > 0) throw changedSince(id, shown, changed.length);
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
async function restoreRows(session: Session, id: string, tables: readonly Table[]): Promise<void> {
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

async function attempt(session: Session, steps: readonly (() => Promise<void>)[]): Promise<TouchedTable[]> {
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
    if (one.inserted !== inserted + replaced || one.updated > updated || one.deleted !== deleted + replaced)
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
  const by = triggers.length === 0 ? "cascades, rules or triggers" : `triggers (${triggers.join(", ")})`;
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
function countsOf(table: Table): TableCounts[] {
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
  for (const { xid } of added) await session.rows(`DELETE FROM ONLY ${facts.name} t WHERE ${madeBy(xid)}`);
  if (inserted.length === 0) return;
  await session.rows(`DELETE FROM ONLY ${facts.name} t WHERE t.ctid = ANY ($1::tid[])`, [placesOf(inserted)]);
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

/** Runs the statements that restore or remove schema objects. @returns what is lost by that, and how to restore it */
async function restoreObjects(session: Session, statements: readonly string[]) {
  const objects: string[] = [];
  const again: string[] = [];
  const final: string[] = [];
  await session.run("SET LOCAL search_path TO DEFAULT");
  for (const sql of statements) {
    const { losses } = await passWriting(sql, false);
    const known = again.length;
    for (const loss of losses) {
      const { what, rows, restoring } = await lookAt(session, loss, new Set());
      again.unshift(...restoring);
      if (rows !== undefined && rows > 0) objects.push(what);
    }
    if (again.length === known) final.push(sql);
    // As `removingCreated` writes it.
    const [, table = "", column] = /^ALTER TABLE (.+) DROP COLUMN (.+)$/s.exec(sql) ?? [];
    const values = column === undefined ? 0 : await countUpTo(session, table, `${column} IS NOT NULL`);
    if (values > 0) objects.push(`DROP COLUMN ${column} of ${table} (${rowCount(values)} with a value)`);
    await session.query({ text: sql, params: [] }, { chars: 1 });
  }
  return { objects, again, final };
}

/** The changes of a database, newest first; without those that PostgreSQL did not commit. */
export async function changesOf(database: Database, signal: AbortSignal): Promise<RecordedChange[]> {
  const changes = (await database.changes?.list(database.identity)) ?? [];
  if (!changes.some(({ isPending }) => isPending)) return changes;
  return await database.work({ signal }, async (session) => {
    const known: RecordedChange[] = [];
    for (const change of changes) {
      const outcome = change.isPending ? await outcomeOf(session, change) : "committed";
      if (outcome !== "aborted") known.push({ ...change, isPending: outcome !== "committed" });
    }
    return known;
  });
}
