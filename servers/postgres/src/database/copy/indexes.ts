import type { Session } from "../connection/database.ts";

/** An index that was created in the copy. */
export interface NewIndex {
  readonly id: string;
  /** With its schema, quoted. */
  readonly name: string;
  /** `btree (lower(email))`, as PostgreSQL writes it. */
  readonly definition: string;
  /** Its names in plans: its own, or those of its partitions. */
  readonly shown: ReadonlySet<string>;
}

/** Creates an index and reads what PostgreSQL made of it. @param statement a single CREATE INDEX */
export async function createIndex(session: Session, statement: string): Promise<NewIndex> {
  await session.query({ text: statement, params: [] }, { chars: 1 });
  const rows = await session.rows<{ id: string; name: string; leaf: string; definition: string }>(
    `SELECT x.oid::text AS id, pg_catalog.format('%I.%I', n.nspname, x.relname) AS name, coalesce(l.relname, x.relname)::text AS leaf,
       pg_catalog.substr(pg_catalog.pg_get_indexdef(x.oid), pg_catalog.length(pg_catalog.format('CREATE %sINDEX %I ON %s%I.%I USING ',
         CASE WHEN i.indisunique THEN 'UNIQUE ' ELSE '' END, x.relname, CASE x.relkind WHEN 'I' THEN 'ONLY ' ELSE '' END, n.nspname, c.relname)) + 1) AS definition
     FROM (SELECT * FROM pg_catalog.pg_index WHERE indexrelid NOT IN (SELECT inhrelid FROM pg_catalog.pg_inherits) ORDER BY indexrelid::int8 DESC LIMIT 1) i
     JOIN pg_catalog.pg_class x ON x.oid = i.indexrelid JOIN pg_catalog.pg_namespace n ON n.oid = x.relnamespace JOIN pg_catalog.pg_class c ON c.oid = i.indrelid
     LEFT JOIN pg_catalog.pg_partition_tree(x.oid) p ON p.isleaf LEFT JOIN pg_catalog.pg_class l ON l.oid = p.relid`,
  );
  const { id = "", name = "", definition = "" } = rows[0] ?? {};
  return { id, name, definition, shown: new Set(rows.map(({ leaf }) => leaf)) };
}

/** The estimated pages of each index file, and the rows of its table. An index on a partitioned table has many. */
export async function filesOf(session: Session, indexes: readonly NewIndex[]) {
  return await session.rows<{ root: string; id: string; pages: number; rows: number }>(
    `SELECT root.id::text AS root, i.indexrelid::text AS id, greatest(2, pg_catalog.ceil(c.reltuples * (12 + w.width) / 7372))::float8 AS pages, c.reltuples::float8 AS rows
     FROM pg_catalog.unnest($1::oid[]) root(id) LEFT JOIN LATERAL pg_catalog.pg_partition_tree(root.id) p ON true
     JOIN pg_catalog.pg_index i ON i.indexrelid = coalesce(p.relid, root.id) JOIN pg_catalog.pg_class c ON c.oid = i.indrelid AND c.relkind <> 'p'
     JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace,
     LATERAL (SELECT pg_catalog.sum(coalesce(s.avg_width, 16)) AS width FROM pg_catalog.pg_attribute a
       LEFT JOIN pg_catalog.pg_stats s ON s.schemaname = n.nspname AND s.tablename = c.relname AND s.attname = a.attname AND NOT s.inherited WHERE a.attrelid = i.indexrelid) w`,
    [indexes.map(({ id }) => id)],
  );
}

/** The object ids of the tables in a plan, whose nodes have their schemas. */
export async function tablesOf(
  session: Session,
  nodes: readonly { readonly Schema?: string; readonly "Relation Name"?: string }[],
): Promise<string[]> {
  const names = nodes.flatMap(({ Schema: schema, "Relation Name": name }) =>
    schema === undefined || name === undefined ? [] : [{ schema, name }],
  );
  const rows = await session.rows<{ id: string }>(
    `SELECT DISTINCT pg_catalog.to_regclass(pg_catalog.format('%I.%I', r.schema, r.name))::oid::text AS id
     FROM pg_catalog.jsonb_to_recordset($1::jsonb) r(schema text, name text)`,
    [JSON.stringify(names)],
  );
  return rows.map(({ id }) => id);
}
