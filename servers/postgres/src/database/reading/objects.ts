import { cursorsOf } from "@refmcp/boundary/answer";
import { pageOf } from "@refmcp/sql/tools";
import * as z from "zod";
import type { Database, Work } from "../connection/database.ts";
import { unquoted } from "./describe.ts";

export const KINDS = [
  "table",
  "view",
  "materialized_view",
  "foreign_table",
  "sequence",
  "function",
  "type",
  "extension",
  "schema",
] as const;
export type Kind = (typeof KINDS)[number];
/** Kinds of relations with rows. */
export const READABLE: Kind[] = ["table", "view", "materialized_view", "foreign_table"];

export const listedObject = z.object({
  kind: z.string(),
  schema: z.string(),
  /** For a function, including its arguments. */
  name: z.string(),
  /** The planner's estimate; absent before the first ANALYZE. */
  rows: z.number().optional(),
  /** Including indexes, TOAST and partitions, as of the last VACUUM or ANALYZE. */
  bytes: z.number().optional(),
  partition_of: z.string().optional(),
  row_security: z.boolean().optional(),
  comment: z.string().optional(),
});
/** Names by schema and kind. */
export const listedNames = z.record(z.string(), z.record(z.string(), z.array(z.string())));
type ListedObject = z.output<typeof listedObject>;

interface ObjectsAsked {
  /** The name of the list, for cursors. */
  readonly list?: string;
  readonly kinds: readonly Kind[];
  readonly schema?: string | undefined;
  /** Part of a name, case-insensitive. */
  readonly query?: string | undefined;
  /** `names` omits estimates, sizes and comments. */
  readonly detail: "names" | "full";
  readonly limit: number;
  readonly cursor?: string | undefined;
  /** Characters of the answer. */
  readonly budget?: number;
}

const SYSTEM = `('pg_catalog', 'information_schema', 'pg_toast')`;
/** The `relkind` values of kinds that are relations. */
const RELATION_KINDS: Partial<Readonly<Record<Kind, string>>> = {
  table: "'r','p'",
  view: "'v'",
  materialized_view: "'m'",
  foreign_table: "'f'",
  sequence: "'S'",
};

const OTHER_KINDS: Partial<Readonly<Record<Kind, string>>> = {
  function: `'function', n.nspname, p.proname || '(' || pg_catalog.pg_get_function_identity_arguments(p.oid) || ')',
    pg_catalog.quote_ident(p.proname) || '(' || pg_catalog.pg_get_function_identity_arguments(p.oid) || ')', p.oid, 'pg_proc'::regclass
    FROM pg_catalog.pg_proc p JOIN own n ON n.oid = p.pronamespace`,
  type: `'type', n.nspname, t.typname, pg_catalog.quote_ident(t.typname), t.oid, 'pg_type'::regclass FROM pg_catalog.pg_type t JOIN own n ON n.oid = t.typnamespace
    WHERE t.typtype IN ('e','d','r') OR (t.typtype = 'c' AND EXISTS (SELECT FROM pg_catalog.pg_class k WHERE k.oid = t.typrelid AND k.relkind = 'c'))`,
  extension: `'extension', n.nspname, e.extname || ' ' || e.extversion, pg_catalog.quote_ident(e.extname) || ' ' || e.extversion, e.oid, 'pg_extension'::regclass
    FROM pg_catalog.pg_extension e JOIN pg_catalog.pg_namespace n ON n.oid = e.extnamespace WHERE $1::text IS NULL OR n.nspname = $1`,
  schema: `'schema', nspname, nspname, pg_catalog.quote_ident(nspname), oid, 'pg_namespace'::regclass FROM own`,
};

/** One expression with subqueries, so that it is computed only for the rows of the page. */
const FULL = `, pg_catalog.json_strip_nulls(pg_catalog.json_build_object(
  'rows', CASE WHEN k.relkind <> 'v' AND k.reltuples >= 0 THEN pg_catalog.round(k.reltuples::float8) END,
  'bytes', (CASE WHEN k.relkind = 'p' THEN (SELECT pg_catalog.sum(pg_catalog.pg_total_relation_size(t.relid)) FROM pg_catalog.pg_partition_tree(o.oid) t)
    WHEN k.relkind NOT IN ('r', 'm') THEN NULL
    WHEN k.reltuples < 0 THEN pg_catalog.pg_total_relation_size(o.oid)
    ELSE (k.relpages + coalesce((SELECT t.relpages FROM pg_catalog.pg_class t WHERE t.oid = k.reltoastrelid), 0)
      + coalesce((SELECT pg_catalog.sum(i.relpages) FROM pg_catalog.pg_index x JOIN pg_catalog.pg_class i ON i.oid = x.indexrelid WHERE x.indrelid = o.oid), 0))
      * pg_catalog.current_setting('block_size')::int END)::float8,
  'partition_of', CASE WHEN k.relispartition THEN (SELECT inhparent::regclass::text FROM pg_catalog.pg_inherits WHERE inhrelid = o.oid) END,
  'row_security', CASE WHEN k.relrowsecurity THEN true END, 'comment', d.description)) AS facts`;
const FULL_JOINS = `LEFT JOIN pg_catalog.pg_class k ON o.class = 'pg_class'::regclass AND k.oid = o.oid
  LEFT JOIN pg_catalog.pg_description d ON d.objoid = o.oid AND d.classoid = o.class AND d.objsubid = 0`;

/** All kinds in one query, without the objects of extensions. */
function objectsQuery({ kinds, detail }: ObjectsAsked): string {
  const relkinds = kinds.flatMap((kind) => RELATION_KINDS[kind] ?? []);
  const relations = `CASE c.relkind WHEN 'v' THEN 'view' WHEN 'm' THEN 'materialized_view' WHEN 'f' THEN 'foreign_table' WHEN 'S' THEN 'sequence' ELSE 'table' END AS kind,
    n.nspname AS schema, c.relname AS name, pg_catalog.quote_ident(c.relname) AS written, c.oid, 'pg_class'::regclass AS class
    FROM pg_catalog.pg_class c JOIN own n ON n.oid = c.relnamespace WHERE c.relkind IN (${relkinds.join() || "NULL"})`;
  const sources = [relations, ...kinds.flatMap((kind) => OTHER_KINDS[kind] ?? [])];
  return `WITH own AS (SELECT oid, nspname FROM pg_catalog.pg_namespace
    WHERE nspname NOT LIKE 'pg\\_temp\\_%' AND nspname NOT LIKE 'pg\\_toast\\_temp\\_%'
      AND CASE WHEN $1::text IS NULL THEN nspname NOT IN ${SYSTEM} ELSE nspname = $1 END)
SELECT o.kind, o.schema::text, o.name::text, NULLIF(o.written, o.name::text) AS written, NULLIF(pg_catalog.quote_ident(o.schema), o.schema::text) AS "writtenSchema"${detail === "full" ? FULL : ""}
FROM (${sources.map((source) => `SELECT ${source}`).join(" UNION ALL ")}) o ${detail === "full" ? FULL_JOINS : ""}
WHERE ($2::text IS NULL OR pg_catalog.strpos(pg_catalog.lower(o.name), pg_catalog.lower($2)) > 0)
  AND ($3::text IS NULL OR (o.schema::text COLLATE "C", o.kind COLLATE "C", o.name::text COLLATE "C") > ($3 COLLATE "C", $4::text COLLATE "C", $5::text COLLATE "C"))
  AND NOT EXISTS (SELECT FROM pg_catalog.pg_depend x WHERE x.classid = o.class AND x.objid = o.oid AND x.deptype = 'e' AND x.refclassid = 'pg_extension'::regclass)
ORDER BY o.schema COLLATE "C", o.kind COLLATE "C", o.name COLLATE "C" LIMIT $6`;
}

interface FoundObject extends Readonly<Record<"kind" | "schema" | "name", string>> {
  /** The names as they must be written in SQL, if that differs. */
  readonly written: string | null;
  readonly writtenSchema: string | null;
  readonly facts?: Omit<ListedObject, "kind" | "schema" | "name">;
}

/** A page of a database's objects, sorted by schema, kind and name. */
export async function listObjects(database: Database, asked: ObjectsAsked, work: Work) {
  const { list = "pg_list_objects", budget = Number.POSITIVE_INFINITY } = asked;
  const { kinds, schema, query, detail, limit, cursor } = asked;
  const place = z.tuple([z.string(), z.string(), z.string()]);
  const cursors = cursorsOf(list, [kinds, schema, query, detail, database.name], place);
  const after = cursors.decode(cursor) ?? [null, null, null];
  const named = [schema, query].map((one) => (one === undefined ? null : unquoted(one)));
  const values = [...named, ...after, limit + 1];
  const rows = await database.rows<FoundObject & Record<string, unknown>>(
    work,
    objectsQuery(asked),
    values,
  );
  const objects = rows.map(
    ({ kind, schema, name, written, writtenSchema, facts }): ListedObject => {
      return { kind, schema: writtenSchema ?? schema, name: written ?? name, ...facts };
    },
  );
  const size = detail === "names" ? { size: sizeInGroups() } : {};
  const { page, ...next } = pageOf(objects, { limit, budget, ...size }, (last) => {
    const { schema = "", kind = "", name = "" } = rows[last] ?? {};
    return cursors.encode([schema, kind, name]);
  });
  return { objects: page, ...next };
}

/** The names of objects that are sorted by schema and kind, by schema and kind. */
export function namesOf(objects: readonly ListedObject[]): z.output<typeof listedNames> {
  const schemas = new Map<string, Map<string, string[]>>();
  for (const { schema, kind, name } of objects) {
    const kinds = schemas.get(schema) ?? new Map<string, string[]>();
    const names = kinds.get(kind);
    if (names === undefined) schemas.set(schema, kinds.set(kind, [name]));
    else names.push(name);
  }
  return Object.fromEntries(
    [...schemas].map(([schema, kinds]) => [schema, Object.fromEntries(kinds)]),
  );
}

/** The characters of each object in the answer with `namesOf`, in order. */
function sizeInGroups(): (object: ListedObject) => number {
  let last: ListedObject | undefined;
  return (object) => {
    const { schema, kind, name } = object;
    const isFirst = schema !== last?.schema || kind !== last.kind;
    last = object;
    return (
      JSON.stringify(name).length + 1 + (isFirst ? JSON.stringify([schema, kind]).length + 8 : 0)
    );
  };
}

/** Sorted names of schemas or readable relations that begin with `prefix`, for completion. */
export async function namesBeginning(
  database: Database,
  what: { readonly schema: string | undefined } | "schemas",
  prefix: string,
  work: Work,
): Promise<string[]> {
  const statement =
    what === "schemas"
      ? `SELECT nspname::text AS name FROM pg_catalog.pg_namespace
         WHERE nspname NOT LIKE 'pg\\_%' AND nspname <> 'information_schema' AND pg_catalog.starts_with(pg_catalog.lower(nspname), pg_catalog.lower($1))
         ORDER BY nspname LIMIT 100`
      : `SELECT DISTINCT c.relname::text AS name FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
         WHERE c.relkind IN ('r','p','v','m','f') AND n.nspname NOT IN ${SYSTEM}
           AND ($2::text IS NULL OR n.nspname = $2) AND pg_catalog.starts_with(pg_catalog.lower(c.relname), pg_catalog.lower($1)) ORDER BY 1 LIMIT 100`;
  const values = what === "schemas" ? [prefix] : [prefix, what.schema ?? null];
  const rows = await database.rows<{ name: string }>(work, statement, values);
  return rows.map(({ name }) => name);
}
