import type { Mask } from "@refmcp/sql/masks";
import type { Connection } from "../driver/connection.ts";

export type Rows = Pick<Connection, "rows">;

/**
 * Relations that show values of other tables or statements of other sessions, or with the number of HOT updates whether an
 * update really changed an indexed column.
 */
const REVEALING =
  `pg_stats pg_stats_ext pg_stats_ext_exprs pg_statistic pg_statistic_ext_data pg_stat_activity pg_stat_statements
  pg_stat_all_tables pg_stat_user_tables pg_stat_xact_all_tables pg_stat_xact_user_tables`.split(
    /\s+/,
  );
const REVEALING_CALLS =
  `pg_stat_get_activity pg_stat_get_backend_activity pg_stat_statements bt_page_items
  pg_stat_get_tuples_hot_updated pg_stat_get_xact_tuples_hot_updated`.split(/\s+/);
/** Text that a function body may run as SQL, or that can hide a name. */
const DYNAMIC =
  /\bexecute\b|_to_xml|\bts_stat\b|\bts_rewrite\b|dblink|crosstab|connectby|xpath_table|U&"/i;

/** How the object id of a relation begins, next to those of other objects. */
const RELATION = "pg_class ";

const COLUMNS = `WITH RECURSIVE m AS (SELECT * FROM ROWS FROM (pg_catalog.unnest($1::text[]), pg_catalog.unnest($2::text[]), pg_catalog.unnest($3::text[])) m (s, t, c)),
named AS (SELECT a.attrelid, a.attname FROM pg_catalog.pg_attribute a JOIN pg_catalog.pg_class c ON c.oid = a.attrelid
    JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
  WHERE a.attnum > 0 AND NOT a.attisdropped AND c.relkind IN ('r','p','f','m','v') AND n.nspname NOT IN ('pg_catalog', 'information_schema', 'pg_toast')
    AND EXISTS (SELECT FROM m WHERE (s IS NULL OR n.nspname ~* s) AND c.relname ~* t AND a.attname ~* c)),
spread (attrelid, attname) AS (SELECT * FROM named UNION
  SELECT CASE WHEN i.inhparent = s.attrelid THEN i.inhrelid ELSE i.inhparent END, s.attname
  FROM spread s JOIN pg_catalog.pg_inherits i ON s.attrelid IN (i.inhparent, i.inhrelid)),
own AS (SELECT a.attrelid, a.attname FROM spread s JOIN pg_catalog.pg_attribute a ON a.attrelid = s.attrelid AND a.attname = s.attname AND a.attnum > 0)
SELECT attrelid::int8::text AS id, attname::text AS name FROM own
UNION SELECT a.attrelid::int8::text, a.attname::text FROM own o JOIN pg_catalog.pg_attribute a ON a.attrelid = o.attrelid AND a.attgenerated <> ''
  JOIN pg_catalog.pg_attrdef d ON d.adrelid = a.attrelid AND d.adnum = a.attnum AND pg_catalog.strpos(pg_catalog.pg_get_expr(d.adbin, d.adrelid), pg_catalog.quote_ident(o.attname)) > 0`;

/** What depends on what, for all that a statement can reach a table through; a rule counts as its view. */
const USES = `SELECT DISTINCT CASE WHEN r.oid IS NULL THEN d.classid::regclass::text || ' ' || d.objid ELSE 'pg_class ' || r.ev_class END AS "user",
    d.refclassid::regclass::text || ' ' || d.refobjid AS used
  FROM pg_catalog.pg_depend d LEFT JOIN pg_catalog.pg_rewrite r ON d.classid = 'pg_catalog.pg_rewrite'::regclass AND r.oid = d.objid
  WHERE d.refclassid IN ('pg_catalog.pg_class'::regclass, 'pg_catalog.pg_proc'::regclass, 'pg_catalog.pg_operator'::regclass)
    AND d.classid IN ('pg_catalog.pg_rewrite'::regclass, 'pg_catalog.pg_proc'::regclass, 'pg_catalog.pg_operator'::regclass, 'pg_catalog.pg_cast'::regclass, 'pg_catalog.pg_constraint'::regclass)
    AND (d.classid <> 'pg_catalog.pg_constraint'::regclass OR EXISTS (SELECT FROM pg_catalog.pg_constraint k WHERE k.oid = d.objid AND k.contypid <> 0))`;

const FUNCTIONS = `SELECT p.oid::int8::text AS id, p.proname::text AS name, l.lanname::text AS language, p.prosrc AS body,
    EXISTS (SELECT FROM pg_catalog.pg_depend d WHERE d.classid = 'pg_catalog.pg_proc'::regclass AND d.objid = p.oid AND d.deptype = 'e') AS extension
  FROM pg_catalog.pg_proc p JOIN pg_catalog.pg_language l ON l.oid = p.prolang WHERE p.prokind <> 'a' AND p.pronamespace NOT IN ('pg_catalog'::regnamespace, 'information_schema'::regnamespace)`;

const NAMES = `SELECT 'pg_class ' || oid AS id, relname::text AS name FROM pg_catalog.pg_class WHERE 'pg_class ' || oid = ANY ($1::text[])
  UNION ALL SELECT 'pg_class ' || oid, relname::text FROM pg_catalog.pg_class WHERE relname = ANY ($2::name[]) AND relkind IN ('v', 'r')
  UNION ALL SELECT 'pg_proc ' || oid, proname::text FROM pg_catalog.pg_proc WHERE 'pg_proc ' || oid = ANY ($1::text[])
  UNION ALL SELECT 'pg_operator ' || oid, oprname::text FROM pg_catalog.pg_operator WHERE 'pg_operator ' || oid = ANY ($1::text[])
  UNION ALL SELECT 'pg_cast ' || k.oid || ' ' || t.typname, t.typname::text FROM pg_catalog.pg_cast k JOIN pg_catalog.pg_type t ON t.oid IN (k.castsource, k.casttarget) WHERE 'pg_cast ' || k.oid = ANY ($1::text[])
  UNION ALL SELECT 'pg_constraint ' || k.oid || ' ' || t.typname, t.typname::text FROM pg_catalog.pg_constraint k JOIN pg_catalog.pg_type t ON t.oid = k.contypid WHERE 'pg_constraint ' || k.oid = ANY ($1::text[])`;

const ORDER = `SELECT EXISTS (SELECT FROM pg_catalog.pg_index i LEFT JOIN pg_catalog.pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = ANY (i.indkey::int2[])
  WHERE i.indnatts > 1 AND i.indrelid::int8::text = ANY ($1::text[]) AND (i.indexprs IS NOT NULL
    OR (i.indrelid::int8::text, a.attname::text) IN (SELECT * FROM ROWS FROM (pg_catalog.unnest($1::text[]), pg_catalog.unnest($2::text[])) masked (t, c)))) AS has`;

/** What a database's masked columns can be reached through. */
export interface Reach {
  /** Masked columns by the object id of their relation. */
  readonly columns: ReadonlyMap<string, ReadonlySet<string>>;
  /** Object ids of all relations that contain or may read masked values. */
  readonly relations: ReadonlySet<string>;
  /** Those of them that show samples of any column, or statements of other sessions. */
  readonly revealing: ReadonlySet<string>;
  /** Functions and operators that may read them: `pg_proc 16385`. */
  readonly functions: ReadonlySet<string>;
  /** Whether an index has masked columns or expressions next to other columns: the rows that it finds come in their order. */
  readonly hasOrder: boolean;
  /** Names of functions, operators and types that can run a function that reads them. */
  readonly calls: ReadonlySet<string>;
}

/** Reads the catalogs, and the bodies of functions, for everything through which masked columns can be read. */
export async function readReach(session: Rows, masks: readonly Mask[]): Promise<Reach> {
  const columns = new Map<string, Set<string>>();
  const patterns = (["schema", "table", "column"] as const).map((part) =>
    masks.map((mask) => mask[part] ?? null),
  );
  for (const { id, name } of await session.rows<{ id: string; name: string }>(COLUMNS, patterns)) {
    const names = columns.get(id) ?? new Set();
    columns.set(id, names.add(name));
  }
  const uses = await session.rows<{ user: string; used: string }>(USES);
  const functions = await session.rows<FunctionBody>(FUNCTIONS);
  const found = new Map<string, string>();
  const add = async (ids: readonly string[], revealing: readonly string[] = []) => {
    for (const one of await session.rows<{ id: string; name: string }>(NAMES, [ids, revealing]))
      found.set(one.id, one.name);
  };
  await add(
    [...columns.keys()].map((id) => RELATION + id),
    REVEALING,
  );
  for (let size = -1; size < found.size; ) {
    size = found.size;
    const users = uses.flatMap(({ user, used }) =>
      found.has(used) && !found.has(user) ? [user] : [],
    );
    const mentions = mentioning(found.values());
    const readers = functions.flatMap((one) =>
      !found.has(`pg_proc ${one.id}`) && mentions(one) ? [`pg_proc ${one.id}`] : [],
    );
    if (users.length + readers.length > 0) await add([...users, ...readers]);
  }
  const [order] = await session.rows<{ has: boolean }>(ORDER, pairsOf(columns));
  const relations = [...found].filter(([id]) => id.startsWith(RELATION));
  const idsOf = (list: typeof relations) => new Set(list.map(([id]) => id.slice(RELATION.length)));
  const others = [...found].filter(([id]) => !id.startsWith(RELATION));
  return {
    columns,
    relations: idsOf(relations),
    revealing: idsOf(relations.filter(([, name]) => REVEALING.includes(name))),
    hasOrder: order?.has !== false,
    functions: new Set(others.map(([id]) => id)),
    calls: new Set([...REVEALING_CALLS, ...others.map(([, name]) => name)]),
  };
}

/** The masked columns in two lists: the object ids of their relations, and their names. */
export function pairsOf(columns: Reach["columns"]): [tables: string[], names: string[]] {
  const pairs = [...columns].flatMap(([table, names]) =>
    [...names].map((name) => [table, name] as const),
  );
  return [pairs.map(([table]) => table), pairs.map(([, name]) => name)];
}

interface FunctionBody {
  readonly id: string;
  readonly name: string;
  readonly language: string;
  readonly body: string;
  readonly extension: boolean;
}

/** Whether a function can reach one of these names, as far as its body tells. */
function mentioning(names: Iterable<string>) {
  const plain = new Set<string>();
  const others: string[] = [];
  for (const name of [...names, ...REVEALING_CALLS])
    if (/^\w+$/.test(name)) plain.add(name.toLowerCase());
    else others.push(name.toLowerCase());
  return ({ language, body, extension }: FunctionBody): boolean => {
    if (language !== "sql" && language !== "plpgsql") return !(extension && language === "c");
    const text = body.toLowerCase();
    // Quotes in a quoted name are doubled.
    return (
      DYNAMIC.test(body) ||
      text.split(/[^\p{L}\p{N}_$]+/u).some((word) => plain.has(word)) ||
      others.some((name) => text.includes(name) || text.includes(name.replaceAll('"', '""')))
    );
  };
}
