import type { Session } from "../driver/sessions.ts";
import { arrayText, type Row } from "../driver/values.ts";

/** How the rows of one table, or one partition, are read and written back. */
export interface TableFacts {
  readonly id: string;
  /** With its schema, quoted. */
  readonly name: string;
  /** Stored columns, quoted; and those of them that an UPDATE can set. */
  readonly columns: readonly string[];
  readonly settable: readonly string[];
  /** Columns that identify a row; empty if none do. */
  readonly key: readonly string[];
  /** Why its rows can't be recorded, if so. */
  readonly reason: string | null;
  /** Statements that switch the enabled triggers of users off and on again, if this role owns the table. */
  readonly disabling: readonly string[];
  readonly enabling: readonly string[];
  /** These triggers, if it does not. */
  readonly triggers: readonly string[];
}

/**
 * One form of values, with any settings of the session or its functions: a row is the text of its table's row type, which can be
 * compared, and which PostgreSQL reads back exactly. Names that values contain (regclass) have their schema.
 */
export const FORM = `SELECT pg_catalog.set_config(name, value, true) FROM (VALUES
  ('TimeZone', 'UTC'), ('DateStyle', 'ISO, YMD'), ('IntervalStyle', 'postgres'),
  ('extra_float_digits', '1'), ('bytea_output', 'hex'), ('xmloption', 'content'),
  ('search_path', 'pg_catalog, pg_temp')) form (name, value)`;

/** The transaction of a session, if it has changed something. */
const XID = "SELECT pg_catalog.pg_current_xact_id_if_assigned()::text AS xid";

/** The id of a session's transaction; empty if it changed nothing. */
export async function transactionOf(session: Session): Promise<string> {
  const [row] = await session.rows<{ xid: string | null }>(XID);
  return row?.xid ?? "";
}

/** The enabled triggers of users of a table `c` as texts, if a condition holds. @param format of trigger, schema and table */
const triggersAs = (format: string, condition: string) => `ARRAY(
    SELECT pg_catalog.format(${format}, tgname, n.nspname, c.relname) FROM pg_catalog.pg_trigger
    WHERE ${condition} AND tgrelid = c.oid AND NOT tgisinternal AND tgenabled IN ('O', 'A')
    ORDER BY tgname)`;
const OWNED = "pg_catalog.pg_has_role(c.relowner, 'USAGE')";

// Only keys of PostgreSQL's own operators, since no other role's code runs in our queries.
const FACTS = `
SELECT c.oid::text AS id, pg_catalog.format('%I.%I', n.nspname, c.relname) AS name,
  ARRAY(
    SELECT pg_catalog.quote_ident(attname) FROM pg_catalog.pg_attribute
    WHERE attrelid = c.oid AND attnum > 0 AND NOT attisdropped AND attgenerated = ''
    ORDER BY attnum) AS columns,
  ARRAY(
    SELECT pg_catalog.quote_ident(attname) FROM pg_catalog.pg_attribute
    WHERE attrelid = c.oid AND attnum > 0 AND NOT attisdropped AND attgenerated = '' AND attidentity <> 'a'
    ORDER BY attnum) AS settable,
  ARRAY(
    SELECT pg_catalog.quote_ident(a.attname) FROM pg_catalog.pg_attribute a
    JOIN (
      SELECT (i.indkey::int2[])[:i.indnkeyatts - 1] AS attnums FROM pg_catalog.pg_index i
      WHERE i.indrelid = c.oid AND i.indisunique AND i.indisvalid AND i.indimmediate
        AND i.indpred IS NULL AND i.indexprs IS NULL
        AND NOT EXISTS (
          SELECT FROM pg_catalog.pg_attribute k WHERE k.attrelid = c.oid AND NOT k.attnotnull
            AND k.attnum = ANY ((i.indkey::int2[])[:i.indnkeyatts - 1]))
        AND NOT EXISTS (
          SELECT FROM pg_catalog.pg_opclass o WHERE o.oid = ANY (i.indclass)
            AND o.opcnamespace <> 'pg_catalog'::pg_catalog.regnamespace)
      ORDER BY i.indisprimary DESC, i.indexrelid LIMIT 1) i ON a.attnum = ANY (i.attnums)
    WHERE a.attrelid = c.oid ORDER BY a.attnum) AS key,
  CASE WHEN n.nspname = 'pg_catalog' THEN 'large objects can''t be restored'
    WHEN c.relkind = 'f' THEN 'it is on another server'
    WHEN c.relkind <> 'r' THEN 'it is not an ordinary table'
    WHEN NOT pg_catalog.has_table_privilege(c.oid, 'SELECT') THEN 'this role can''t read it'
    WHEN pg_catalog.row_security_active(c.oid) THEN 'row security may hide rows from this role'
    END AS reason,
  ${triggersAs("'ALTER TABLE %2$I.%3$I DISABLE TRIGGER %1$I'", OWNED)} AS disabling,
  ${triggersAs(
    `CASE tgenabled WHEN 'A' THEN 'ALTER TABLE %2$I.%3$I ENABLE ALWAYS TRIGGER %1$I'
      ELSE 'ALTER TABLE %2$I.%3$I ENABLE TRIGGER %1$I' END`,
    OWNED,
  )} AS enabling,
  ${triggersAs("'%1$I of %2$I.%3$I'", `NOT ${OWNED}`)} AS triggers
FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
WHERE c.oid = ANY ($1::oid[])`;

/** Facts about tables by their object ids; those that no longer exist are missing. */
export const factsOf = (session: Session, ids: readonly string[]): Promise<TableFacts[]> =>
  session.rows<TableFacts & Record<string, unknown>>(FACTS, [ids]);

/** Rows `k`, each of a table's row type `r` with its number `n` and place `p`, from $1 and $2. */
export const givenRows = ({ name }: TableFacts) => `(
  SELECT pg_catalog.unnest($1::${name}[]) AS r, pg_catalog.unnest($2::tid[]) AS p,
    pg_catalog.generate_series(1, pg_catalog.cardinality($2::tid[])) AS n) k`;

/** The condition that a given row `k` is a row of the table `t`: by its key, or else by its place. */
export const matching = ({ key }: TableFacts) =>
  key.length === 0
    ? "t.ctid = k.p"
    : key.map((column) => `t.${column} = (k.r).${column}`).join(" AND ");

/** The key of a row of the table `t`, or else its place, as text. */
export const keyText = ({ key }: TableFacts) =>
  key.length === 0 ? "t.ctid::text" : `ROW(${key.map((column) => `t.${column}`).join(", ")})::text`;

/** Runs one of our statements about a table's rows; each argument is a list of texts. */
export async function rowsOf(
  session: Session,
  text: string,
  ...lists: readonly (readonly (string | undefined)[])[]
): Promise<readonly Row[]> {
  const params = lists.map((list) => arrayText(list));
  const all = { chars: Number.POSITIVE_INFINITY, toEnd: true };
  return (await session.query({ text, params }, all)).rows;
}
