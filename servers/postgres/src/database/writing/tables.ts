import type { Session } from "../connection/database.ts";
import { arrayText, type Cell, type Row } from "../driver/values.ts";

/** How the rows of one table, or one partition, are read and written back. */
export interface TableFacts {
  readonly id: string;
  /** With its schema, quoted. */
  readonly name: string;
  /** Stored columns, quoted. */
  readonly columns: readonly string[];
  /** For each attribute of the row type its position in `columns`, or -1: generated columns. */
  readonly places: readonly number[];
  /** Columns that identify a row; empty if none do. */
  readonly key: readonly string[];
  /** Bytes. */
  readonly size: number;
  /** Why its rows can't be recorded, if so. */
  readonly reason: string | null;
  /** Statements that switch the enabled triggers of users off and on again, if this role owns the table. */
  readonly disabling: readonly string[];
  readonly enabling: readonly string[];
  /** These triggers, if it does not. */
  readonly triggers: readonly string[];
  /** The transaction that asked; null if it changed nothing. */
  readonly xid: string | null;
}

/**
 * One form of values, whatever the session or its functions set: their text can be compared, and read back exactly. Names
 * that values contain (regclass) have their schema.
 */
export const FORM = `SELECT pg_catalog.set_config(name, value, true) FROM (VALUES ('TimeZone', 'UTC'), ('DateStyle', 'ISO, YMD'), ('IntervalStyle', 'postgres'),
  ('extra_float_digits', '1'), ('bytea_output', 'hex'), ('xmloption', 'content'), ('search_path', 'pg_catalog, pg_temp'), ('enable_seqscan', 'on')) form (name, value)`;

/** The transaction of a session, if it has changed something. */
export const XID = "pg_catalog.pg_current_xact_id_if_assigned()::text";

/** The enabled triggers of users of a table `c` as texts, if a condition holds. @param format of trigger, schema and table */
const triggersAs = (format: string, condition: string) =>
  `ARRAY(SELECT pg_catalog.format(${format}, tgname, n.nspname, c.relname) FROM pg_catalog.pg_trigger WHERE ${condition} AND tgrelid = c.oid AND NOT tgisinternal AND tgenabled IN ('O', 'A') ORDER BY tgname)`;

/** Facts about tables by their object ids; those that no longer exist are missing. */
export async function factsOf(session: Session, ids: readonly string[]): Promise<TableFacts[]> {
  // Only keys of PostgreSQL's own operators, since no other role's code runs in our queries.
  return await session.rows<TableFacts & Record<string, unknown>>(
    `SELECT c.oid::text AS id, pg_catalog.format('%I.%I', n.nspname, c.relname) AS name, pg_catalog.pg_relation_size(c.oid)::float8 AS size,
       ARRAY(SELECT pg_catalog.quote_ident(attname) FROM pg_catalog.pg_attribute WHERE attrelid = c.oid AND attnum > 0 AND NOT attisdropped AND attgenerated = '' ORDER BY attnum) AS columns,
       ARRAY(SELECT (CASE WHEN attgenerated = '' THEN pg_catalog.sum((attgenerated = '')::int) OVER (ORDER BY attnum) ELSE 0 END - 1)::int
         FROM pg_catalog.pg_attribute WHERE attrelid = c.oid AND attnum > 0 AND NOT attisdropped ORDER BY attnum) AS places,
       ARRAY(SELECT pg_catalog.quote_ident(a.attname) FROM pg_catalog.pg_attribute a JOIN (
         SELECT i.indkey::int2[] AS indkey, i.indnkeyatts FROM pg_catalog.pg_index i WHERE i.indrelid = c.oid AND i.indisunique AND i.indisvalid AND i.indimmediate AND i.indpred IS NULL AND i.indexprs IS NULL
           AND NOT EXISTS (SELECT FROM pg_catalog.pg_attribute k WHERE k.attrelid = c.oid AND k.attnum = ANY ((i.indkey::int2[])[:i.indnkeyatts - 1]) AND NOT k.attnotnull)
           AND NOT EXISTS (SELECT FROM pg_catalog.pg_opclass o WHERE o.oid = ANY (i.indclass) AND o.opcnamespace <> 'pg_catalog'::pg_catalog.regnamespace)
         ORDER BY i.indisprimary DESC, i.indexrelid LIMIT 1) i ON a.attnum = ANY (i.indkey[:i.indnkeyatts - 1]) WHERE a.attrelid = c.oid ORDER BY a.attnum) AS key,
       CASE WHEN n.nspname = 'pg_catalog' THEN 'large objects can''t be restored' WHEN c.relkind = 'f' THEN 'it is on another server' WHEN c.relkind <> 'r' THEN 'it is not an ordinary table' WHEN NOT pg_catalog.has_table_privilege(c.oid, 'SELECT') THEN 'this role can''t read it'
         WHEN pg_catalog.row_security_active(c.oid) THEN 'row security may hide rows from this role' END AS reason,
       ${triggersAs("'ALTER TABLE %2$I.%3$I DISABLE TRIGGER %1$I'", "pg_catalog.pg_has_role(c.relowner, 'USAGE')")} AS disabling,
       ${triggersAs("CASE tgenabled WHEN 'A' THEN 'ALTER TABLE %2$I.%3$I ENABLE ALWAYS TRIGGER %1$I' ELSE 'ALTER TABLE %2$I.%3$I ENABLE TRIGGER %1$I' END", "pg_catalog.pg_has_role(c.relowner, 'USAGE')")} AS enabling,
       ${triggersAs("'%1$I of %2$I.%3$I'", "NOT pg_catalog.pg_has_role(c.relowner, 'USAGE')")} AS triggers, ${XID} AS xid
     FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace WHERE c.oid = ANY ($1::oid[])`,
    [ids],
  );
}

/** A row as the text of its table's row type, which PostgreSQL reads back without a cast of its columns. */
export function rowText({ places }: TableFacts, row: Row): string {
  const fields = places.map((at) => {
    const cell = row[at] ?? null;
    if (cell === null) return "";
    // Quotes would be escaped once more in an array of rows.
    return /^[\w.+:-]+$/.test(cell) ? cell : `"${cell.replace(/["\\]/g, "$&$&")}"`;
  });
  return `(${fields.join(",")})`;
}

/** The key of a row, to compare; the whole row if the table has no key. */
export const keyOf = ({ columns, key }: TableFacts, row: Row): string =>
  JSON.stringify(key.length === 0 ? row : key.map((column) => row[columns.indexOf(column)]));

/** The columns of a table `t`, as a list. */
export const columnsOf = ({ columns }: TableFacts) =>
  columns.map((column) => `t.${column}`).join(", ");

const PIECE = 2_000;
const ALL = { chars: Number.POSITIVE_INFINITY, toEnd: true };

/** Of these places in a table, those where the session sees a row. */
export async function visibleAt(
  session: Session,
  { name }: TableFacts,
  places: readonly string[],
): Promise<Set<string>> {
  const text = `SELECT t.ctid FROM ONLY ${name} t WHERE t.ctid = ANY ($1::tid[])`;
  // Of a small table, PostgreSQL would read every row for each piece.
  const opening = { statements: [FORM, "SET LOCAL enable_seqscan = off"] };
  const { rows } = await session.query({ text, params: [arrayText(places)], opening }, ALL);
  return new Set(rows.map(([first]: readonly Cell[]) => first ?? ""));
}

/**
 * Reads rows, in pieces unless there are few; their first column is the place of the row in its table (`ctid`), the others
 * are the table's.
 *
 * @param given the elements of an array, `$1`, each of which finds one row
 * @param take gets the places and the rows of a piece
 */
export async function readRows(
  session: Session,
  text: string,
  given: readonly string[] | undefined,
  take: (places: readonly string[], rows: readonly Row[]) => Promise<void> | void,
): Promise<void> {
  const isSmall = given !== undefined && given.length <= PIECE;
  const params = given === undefined ? [] : [arrayText(given)];
  const opening = { statements: [FORM] };
  const fetch = isSmall
    ? { text, params, opening }
    : { text: `FETCH ${PIECE} FROM refmcp_rows`, params: [] };
  if (!isSmall)
    await session.query({ text: `DECLARE refmcp_rows CURSOR FOR ${text}`, params, opening }, ALL);
  for (let isEnd = false; !isEnd; ) {
    const { rows } = await session.query(fetch, ALL);
    isEnd = isSmall || rows.length < PIECE;
    const places = rows.map(([place]: readonly Cell[]) => place ?? "");
    await take(
      places,
      rows.map((row) => row.slice(1)),
    );
  }
  if (!isSmall) await session.run("CLOSE refmcp_rows");
}

/** Rows that one transaction added to a table and that are still as they were. */
export interface Added {
  readonly rows: number;
  /** Does not depend on their order. */
  readonly digest: string;
}

/** The rows of a table whose version is that of a transaction: an update would have given them another one. */
export const madeBy = (xid: string) => `t.xmin = (${BigInt(xid)} % 4294967296)::text::xid`;

/** How many rows a transaction added, and a digest of them, which PostgreSQL makes without sending them. */
export async function addedBy(session: Session, facts: TableFacts, xid: string): Promise<Added> {
  const row = `pg_catalog.format('%s', ROW(${columnsOf(facts)}))`;
  const [found] = await session.rows<{ rows: number; digest: string }>(
    `SELECT pg_catalog.count(*)::float8 AS rows, coalesce(pg_catalog.sum(pg_catalog.hashtextextended(${row}, 0)), 0)::text AS digest
     FROM ONLY ${facts.name} t WHERE ${madeBy(xid)}`,
    [],
    [FORM],
  );
  return found ?? { rows: 0, digest: "" };
}
