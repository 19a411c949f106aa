import { oneLine, ToolError } from "@refmcp/boundary/answer";
import { changedSince, type TableCounts } from "@refmcp/sql";
import type { Session } from "../driver/sessions.ts";
import { AT_LAST, type TouchedTable, touched, without } from "./losses.ts";
import { FORM, givenRows, matching, rowsOf, type TableFacts } from "./tables.ts";

/** A row of a change; each of the two is missing if the row did not exist then. */
export interface ChangedRow {
  readonly key: string;
  /** Where the row is now. */
  place: string | undefined;
  readonly before: string | undefined;
  readonly after: string | undefined;
}

/** What a change did to one table. */
export interface Table {
  readonly facts: TableFacts;
  readonly rows: ChangedRow[];
}

const deletedIn = ({ rows }: Table) => rows.filter(({ after }) => after === undefined);
const insertedIn = ({ rows }: Table) => rows.filter(({ before }) => before === undefined);
const updatedIn = ({ rows }: Table) => rows.filter(({ before, after }) => before && after);

/**
 * Restores the rows of a change.
 *
 * @returns what was done to each table
 * @throws ToolError if some are not as the change left them, or if more than that was changed
 */
export async function restore(
  session: Session,
  id: string,
  tables: readonly Table[],
): Promise<TableCounts[]> {
  await session.rows(FORM);
  await findRows(session, id, tables);
  const off = tables.flatMap(({ facts }) => facts.disabling);
  const on = tables.flatMap(({ facts }) => facts.enabling);
  if (off.length > 0) await session.run(off.join(";"));
  const earlier = await touched(session, [
    "SET CONSTRAINTS ALL DEFERRED",
    // For triggers.
    "SET LOCAL search_path TO DEFAULT",
  ]);
  // Rows that others refer to come first and go last.
  const parentsFirst = await inOrder(session, tables);
  for (const table of parentsFirst) await insert(session, table);
  for (const table of parentsFirst) await update(session, table);
  for (const table of [...parentsFirst].reverse()) await remove(session, table);
  const now = await touched(session, AT_LAST);
  await session.rows(FORM);
  await verify(session, id, tables, without(now.tables, earlier.tables));
  if (on.length > 0) await session.run(on.join(";"));
  return tables.flatMap(countsOf);
}

/** Locks the rows and notes where they are. */
async function findRows(session: Session, id: string, tables: readonly Table[]): Promise<void> {
  const conflicts: string[] = [];
  for (const table of tables) {
    const { facts, rows } = table;
    const label = ({ key }: ChangedRow) => oneLine(`${facts.name} ${key}`.slice(0, 200));
    const existing = rows.filter(({ after }) => after !== undefined);
    const places = await find(session, facts, existing, "after");
    for (const [index, row] of existing.entries()) {
      row.place = places.get(index);
      if (row.place === undefined) conflicts.push(label(row));
    }
    if (facts.key.length === 0) continue;
    const gone = deletedIn(table);
    for (const index of (await find(session, facts, gone, "before", false)).keys()) {
      const row = gone[index];
      if (row !== undefined) conflicts.push(`${label(row)} (exists again)`);
    }
  }
  if (conflicts.length > 0) throw changedSince(id, conflicts, conflicts.length);
}

/** The places of rows as they were then, or with the same key, locked; by their positions in the list. */
async function find(
  session: Session,
  facts: TableFacts,
  rows: readonly ChangedRow[],
  when: "before" | "after",
  isSame = true,
): Promise<Map<number, string>> {
  if (rows.length === 0) return new Map();
  const same = isSame ? "AND (t.*)::text = (k.r)::text" : "";
  const text = `SELECT k.n, t.ctid FROM ${givenRows(facts)}
    JOIN ONLY ${facts.name} t ON ${matching(facts)} ${same} FOR UPDATE OF t`;
  const matches = await rowsOf(session, text, ...givenOf(rows, when));
  return new Map(matches.map(([n, place]) => [Number(n) - 1, place ?? ""]));
}

/** The values of `givenRows`. */
const givenOf = (rows: readonly ChangedRow[], when: "before" | "after") => [
  rows.map((row) => row[when]),
  rows.map(({ place }) => place),
];

async function insert(session: Session, table: Table): Promise<void> {
  const rows = deletedIn(table);
  if (rows.length === 0) return;
  const { name, columns } = table.facts;
  const values = columns.map((column) => `(k.r).${column}`).join(", ");
  const text = `INSERT INTO ${name} (${columns.join(", ")}) OVERRIDING SYSTEM VALUE
    SELECT ${values} FROM ${givenRows(table.facts)} ORDER BY k.n RETURNING ctid`;
  const places = await rowsOf(session, text, ...givenOf(rows, "before"));
  for (const [index, row] of rows.entries()) row.place = places[index]?.[0] ?? undefined;
}

async function update(session: Session, table: Table): Promise<void> {
  const rows = updatedIn(table);
  if (rows.length === 0) return;
  const { name, settable } = table.facts;
  const text = `UPDATE ONLY ${name} t SET ${settable.map((column) => `${column} = (k.r).${column}`).join(", ")}
    FROM ${givenRows(table.facts)} WHERE t.ctid = k.p`;
  await rowsOf(session, text, ...givenOf(rows, "before"));
}

async function remove(session: Session, table: Table): Promise<void> {
  const rows = insertedIn(table);
  if (rows.length === 0) return;
  const text = `DELETE FROM ONLY ${table.facts.name} t WHERE t.ctid = ANY ($1::tid[])`;
  const places = rows.map(({ place }) => place);
  await rowsOf(session, text, places);
}

/** @throws ToolError if something else was changed too, or the rows are not as they were */
async function verify(
  session: Session,
  id: string,
  tables: readonly Table[],
  counts: readonly TouchedTable[],
): Promise<void> {
  const differing = new Set<string>();
  for (const { id: oid, table: name, inserted, updated, deleted } of counts) {
    const table = tables.find(({ facts }) => facts.id === oid);
    const [wanted] = table === undefined ? [] : countsOf(table);
    const isWanted =
      inserted === (wanted?.inserted ?? 0) &&
      updated === (wanted?.updated ?? 0) &&
      deleted === (wanted?.deleted ?? 0);
    if (!isWanted) differing.add(name);
  }
  for (const { facts, rows } of tables) {
    const restored = rows.filter(({ before }) => before !== undefined);
    const places = await find(session, facts, restored, "before");
    if (places.size !== restored.length) differing.add(facts.name);
  }
  if (differing.size === 0) return;
  const triggers = tables.flatMap(({ facts }) => facts.triggers);
  const by =
    triggers.length === 0 ? "cascades, rules or triggers" : `triggers (${triggers.join(", ")})`;
  throw new ToolError(
    "conflict",
    `Change ${id} was not undone: ${by} also changed ${[...differing].join(", ")}. Nothing was changed.`,
    {
      hint: "Undo it as the owner of the tables, for whom triggers stay off, or restore rows with your own statements.",
    },
  );
}

/** What the undo does with a table. */
function countsOf(table: Table): TableCounts[] {
  const inserted = deletedIn(table).length;
  const updated = updatedIn(table).length;
  const deleted = insertedIn(table).length;
  const name = table.facts.name.replace(/^public\./, "");
  return inserted + updated + deleted === 0 ? [] : [{ table: name, inserted, updated, deleted }];
}

/** The tables, each after those that it references. */
async function inOrder(session: Session, tables: readonly Table[]): Promise<Table[]> {
  const ids = tables.map(({ facts }) => facts.id);
  const keys = await session.rows<{ child: string; parent: string }>(
    `SELECT conrelid::text AS child, confrelid::text AS parent FROM pg_catalog.pg_constraint
     WHERE contype = 'f' AND conrelid <> confrelid
       AND conrelid = ANY ($1::oid[]) AND confrelid = ANY ($1::oid[])`,
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
