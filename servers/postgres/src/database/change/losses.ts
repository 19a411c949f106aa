import { rowCount, type TableCounts } from "@refmcp/sql";
import type { Session } from "../driver/sessions.ts";
import type { Change, Loss } from "../gate/write.ts";

/** A changed table. */
export interface TouchedTable extends TableCounts {
  /** Its object id, which survives a rename. */
  readonly id: string;
}

const COUNTED = 1_000_000;

/** A relation's name with its schema, quoted. */
const FULL_NAME = "pg_catalog.format('%s.%I', relnamespace::pg_catalog.regnamespace, relname)";

/** The object id of a relation; undefined if there is none. */
export async function oidOf(
  session: Session,
  relation: string | undefined,
): Promise<string | undefined> {
  if (relation === undefined) return undefined;
  const statement = "SELECT pg_catalog.to_regclass($1)::oid::text AS id";
  const [row] = await session.rows<{ id: string | null }>(statement, [relation]);
  return row?.id ?? undefined;
}

interface Looked {
  readonly id: string;
  readonly isChanged: boolean;
  readonly table: string;
  readonly holds: boolean;
}

/**
 * What a statement loses, with how many rows the relations to drop or truncate have; undefined if nothing.
 *
 * @param newIds the object ids of the relations that the same call created
 */
export async function lookAt(
  session: Session,
  { what, relations, losesNothingWithout }: Loss,
  newIds: ReadonlySet<string>,
): Promise<string | undefined> {
  if (relations.length === 0) return what;
  let rows: number | undefined;
  let isChanged = false;
  const matches = await session.rows<Looked & Record<string, unknown>>(
    `SELECT oid::text AS id, pg_catalog.pg_stat_get_xact_tuples_deleted(oid) > 0 AS "isChanged", ${FULL_NAME} AS table, relkind IN ('r', 'm', 'p') AS holds
     FROM pg_catalog.unnest($1::text[]) WITH ORDINALITY named (name, place) JOIN pg_catalog.pg_class ON oid = pg_catalog.to_regclass(name) ORDER BY place`,
    [relations],
  );
  for (const match of matches) {
    isChanged ||= match.isChanged;
    if (!match.holds || losesNothingWithout === undefined) continue;
    rows = (rows ?? 0) + (await countUpTo(session, match.table));
  }
  // TRUNCATE also clears the statistics of rows that were deleted before it.
  const isEmpty = losesNothingWithout === "rows" ? rows === 0 && !isChanged : matches.length === 0;
  const isNew = matches.length > 0 && matches.every(({ id }) => newIds.has(id));
  if (isNew || (losesNothingWithout !== undefined && isEmpty)) return undefined;
  return rows === undefined ? what : `${what} (${rowCount(rows)})`;
}

const PROTECTING = "class attribute policy proc trigger constraint rewrite namespace default_acl"
  .split(" ")
  .map((name) => `'pg_${name}'`)
  .join(", ");

export interface Touched {
  readonly tables: readonly TouchedTable[];
  /** Catalogs that say who may do what, and what is checked. */
  readonly protection: readonly TouchedTable[];
}

/** For the last `touched`: deferred constraints and triggers run while what they do can still be counted. */
export const AT_LAST: readonly string[] = ["SET CONSTRAINTS ALL IMMEDIATE"];

/**
 * What this session did to tables, also through triggers, cascades and functions, since it last reported statistics. That
 * may have been before this transaction, and includes work that was rolled back.
 *
 * @param before statements that run first
 */
export async function touched(session: Session, before: readonly string[] = []): Promise<Touched> {
  const rows = await session.rows<TouchedTable & { isProtecting: boolean }>(
    `SELECT relid::text AS id, relid::pg_catalog.regclass::text AS table, inserted, updated, deleted, schemaname = 'pg_catalog' AND relname !~ '^pg_largeobject' AS "isProtecting"
     FROM (SELECT c.oid AS relid, c.relname, n.nspname AS schemaname, pg_catalog.pg_stat_get_xact_tuples_inserted(c.oid)::float8 AS inserted,
         pg_catalog.pg_stat_get_xact_tuples_updated(c.oid)::float8 AS updated, pg_catalog.pg_stat_get_xact_tuples_deleted(c.oid)::float8 AS deleted
       FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace WHERE c.relkind = 'r' AND c.relpersistence <> 't' AND CASE n.nspname
         WHEN 'pg_catalog' THEN c.relname IN (${PROTECTING}, 'pg_largeobject', 'pg_largeobject_metadata') ELSE n.nspname <> 'information_schema' END) t
     WHERE inserted + updated + deleted > 0 ORDER BY 2`,
    [],
    before,
  );
  const of = (isProtecting: boolean) =>
    rows.flatMap(({ isProtecting: is, ...table }) => (is === isProtecting ? [table] : []));
  return { tables: of(false), protection: of(true) };
}

export const PROTECTION_CHANGED =
  "tables, functions or privileges are changed by a function or trigger";

/** Whether a function or trigger changed how a permanent object is guarded. */
export async function changedProtection(
  session: Session,
  before: Touched,
  after: Touched,
): Promise<boolean> {
  const changed = without(after.protection, before.protection);
  const isClear = changed.some(({ table, inserted, updated, deleted }) => {
    const name = table.replace(/^pg_catalog\./, "");
    if (name === "pg_policy" || name === "pg_default_acl") return inserted + updated + deleted > 0;
    return deleted > 0 || (updated > 0 && name !== "pg_class" && name !== "pg_attribute");
  });
  if (isClear || changed.every(({ updated }) => updated === 0)) return isClear;
  // Functions often make temporary tables, which also updates these two catalogs.
  const [row] = await session.rows<{ some: boolean }>(
    `SELECT EXISTS (SELECT FROM (SELECT pg_catalog.pg_current_xact_id()::xid AS id) own CROSS JOIN pg_catalog.pg_class c
       LEFT JOIN pg_catalog.pg_attribute a ON a.attrelid = c.oid AND a.xmin = own.id
       WHERE c.relpersistence <> 't' AND (c.xmin = own.id OR a.xmin IS NOT NULL)) AS some`,
  );
  return row?.some !== false;
}

/** Whether a statement replaced a function, trigger or view. */
export const hasReplaced = (before: Touched, after: Touched) =>
  without(after.protection, before.protection).some(
    ({ table, updated }) => updated > 0 && /pg_(proc|trigger|rewrite)$/.test(table),
  );

/** The difference to `earlier`; a renamed table counts as the same. */
export function without(
  now: readonly TouchedTable[],
  earlier: readonly TouchedTable[],
): TouchedTable[] {
  return now.flatMap((table) => {
    const before = earlier.find(({ id }) => id === table.id);
    const since = {
      ...table,
      inserted: table.inserted - (before?.inserted ?? 0),
      updated: table.updated - (before?.updated ?? 0),
      deleted: table.deleted - (before?.deleted ?? 0),
    };
    return since.inserted + since.updated + since.deleted > 0 ? [since] : [];
  });
}

/** Rows that statements changed in tables without statistics, such as those of other servers. */
export async function changedElsewhere(
  session: Session,
  changes: readonly Change[],
  counts: readonly (number | undefined)[],
  tables: readonly TouchedTable[],
): Promise<TouchedTable[]> {
  const named = changes.flatMap(({ command, targets }, at) =>
    targets.map(({ verb, relation }) => ({
      verb,
      relation,
      rows: command === verb ? (counts[at] ?? 0) : 0,
    })),
  );
  const touchedRows = tables.reduce((sum, { updated, deleted }) => sum + updated + deleted, 0);
  if (named.reduce((sum, { rows }) => sum + rows, 0) <= touchedRows) return [];
  const elsewhere: TouchedTable[] = [];
  for (const { verb, relation, rows } of named) {
    const [row] = await session.rows<{ id: string }>(
      "SELECT oid::text AS id FROM pg_catalog.pg_class WHERE oid = pg_catalog.to_regclass($1) AND relkind IN ('f', 'p', 'r') AND relpersistence <> 't'",
      [relation],
    );
    if (row === undefined || tables.some(({ id }) => id === row.id)) continue;
    const [updated, deleted] = verb === "UPDATE" ? [rows, 0] : [0, rows];
    elsewhere.push({ ...row, table: relation, inserted: 0, updated, deleted });
  }
  return elsewhere;
}

/** How many rows a table has, up to one more than 1,000,000. */
async function countUpTo(session: Session, table: string): Promise<number> {
  const [row] = await session.rows<{ count: number }>(
    `SELECT pg_catalog.count(*)::float8 AS count FROM (SELECT FROM ${table} LIMIT ${COUNTED + 1}) counted`,
  );
  return row?.count ?? 0;
}
