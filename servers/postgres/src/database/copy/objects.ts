import type { Session } from "../connection/database.ts";

/** An object of a schema. Tables and composite types are followed by their columns. */
export interface SchemaObject {
  readonly kind: string;
  /** With its schema, quoted: `public.orders`, `public.orders.total`. */
  readonly name: string;
  /** The statement that creates it, or the definition of a column. */
  readonly sql: string;
}

/** Of a catalog's row: not of the system, and not a member of an extension. @param catalog e.g. `class` */
const own = (catalog: string, row: string, namespace: string) =>
  `JOIN spaces s ON s.oid = ${row}.${namespace} AND NOT EXISTS (SELECT FROM members m WHERE m.classid = 'pg_${catalog}'::regclass AND m.objid = ${row}.oid)`;

const COLUMN = `pg_catalog.format_type(a.atttypid, a.atttypmod) || CASE WHEN a.attcollation <> t.typcollation AND a.attcollation <> 0 THEN ' COLLATE ' || a.attcollation::regcollation ELSE '' END
  || CASE WHEN a.attgenerated <> '' THEN pg_catalog.format(' GENERATED ALWAYS AS (%s) %s', pg_catalog.pg_get_expr(d.adbin, d.adrelid), CASE a.attgenerated WHEN 'v' THEN 'VIRTUAL' ELSE 'STORED' END)
          WHEN a.attidentity <> '' AND NOT c.relispartition THEN pg_catalog.format(' GENERATED %s AS IDENTITY', CASE a.attidentity WHEN 'a' THEN 'ALWAYS' ELSE 'BY DEFAULT' END) ELSE '' END
  || CASE WHEN a.attnotnull THEN ' NOT NULL' ELSE '' END`;

/**
 * Every object of the database as the statement that creates it, in an order in which most dependencies come first. Reads
 * only catalogs that every role can read, and works from version 13. Owners, privileges and comments are left out.
 */
const OBJECTS = `WITH spaces AS (SELECT oid, nspname FROM pg_catalog.pg_namespace WHERE nspname !~ '^pg_' AND nspname <> 'information_schema'),
  members AS (SELECT classid, objid, refobjid FROM pg_catalog.pg_depend WHERE deptype = 'e'),
  relations AS (SELECT c.*, pg_catalog.format('%I.%I', s.nspname, c.relname) AS name FROM pg_catalog.pg_class c ${own("class", "c", "relnamespace")} WHERE c.relpersistence <> 't')
SELECT kind, name, sql FROM (
  SELECT 1 AS place, '' AS key, 'role' AS kind, pg_catalog.quote_ident(rolname) AS name, pg_catalog.format('CREATE ROLE %I', rolname) AS sql FROM pg_catalog.pg_roles WHERE rolname !~ '^pg_'
  UNION ALL SELECT 2, '', 'schema', pg_catalog.quote_ident(nspname), pg_catalog.format('CREATE SCHEMA %I', nspname) FROM spaces
  UNION ALL SELECT 3, '', 'extension', pg_catalog.quote_ident(extname), pg_catalog.format('CREATE EXTENSION %I SCHEMA %I', extname, nspname)
    FROM pg_catalog.pg_extension e JOIN pg_catalog.pg_namespace n ON n.oid = e.extnamespace WHERE extname <> 'plpgsql'
  UNION ALL SELECT 4, '', 'stand-in', pg_catalog.format('%I.%I', s.nspname, t.typname), pg_catalog.format('CREATE DOMAIN %I.%I AS text', s.nspname, t.typname)
    FROM pg_catalog.pg_type t JOIN spaces s ON s.oid = t.typnamespace JOIN members m ON m.classid = 'pg_type'::regclass AND m.objid = t.oid WHERE t.typtype IN ('b', 'c', 'd', 'e') AND t.typcategory <> 'A'
  UNION ALL SELECT 5, '', 'type', pg_catalog.format('%I.%I', s.nspname, t.typname), pg_catalog.format('CREATE TYPE %I.%I AS ', s.nspname, t.typname) || CASE t.typtype
      WHEN 'e' THEN pg_catalog.format('ENUM (%s)', (SELECT pg_catalog.string_agg(pg_catalog.quote_literal(enumlabel), ', ' ORDER BY enumsortorder) FROM pg_catalog.pg_enum WHERE enumtypid = t.oid))
      ELSE pg_catalog.format('RANGE (SUBTYPE = %s)', (SELECT pg_catalog.format_type(rngsubtype, NULL) FROM pg_catalog.pg_range WHERE rngtypid = t.oid)) END
    FROM pg_catalog.pg_type t ${own("type", "t", "typnamespace")} WHERE t.typtype IN ('e', 'r')
  UNION ALL SELECT 6, '', 'domain', pg_catalog.format('%I.%I', s.nspname, t.typname), pg_catalog.format('CREATE DOMAIN %I.%I AS %s', s.nspname, t.typname, pg_catalog.format_type(t.typbasetype, t.typtypmod))
      || coalesce(' DEFAULT ' || t.typdefault, '') || CASE WHEN t.typnotnull THEN ' NOT NULL' ELSE '' END
      || coalesce((SELECT pg_catalog.string_agg(pg_catalog.format(' CONSTRAINT %I %s', conname, pg_catalog.pg_get_constraintdef(oid)), '' ORDER BY conname) FROM pg_catalog.pg_constraint WHERE contypid = t.oid AND contype = 'c'), '')
    FROM pg_catalog.pg_type t ${own("type", "t", "typnamespace")} WHERE t.typtype = 'd'
  UNION ALL SELECT 7, name || E'\\x01', 'type', name, pg_catalog.format('CREATE TYPE %s AS ()', name) FROM relations WHERE relkind = 'c'
  UNION ALL SELECT 8, '', 'sequence', c.name, pg_catalog.format('CREATE SEQUENCE %s AS %s', c.name, pg_catalog.format_type(q.seqtypid, NULL)) FROM relations c JOIN pg_catalog.pg_sequence q ON q.seqrelid = c.oid
    WHERE NOT EXISTS (SELECT FROM pg_catalog.pg_depend d WHERE d.classid = 'pg_class'::regclass AND d.objid = c.oid AND d.deptype = 'i')
  UNION ALL SELECT 9, '', 'function', p.oid::regprocedure::text, CASE WHEN p.prokind <> 'a' AND s.oid IS NOT NULL THEN pg_catalog.pg_get_functiondef(p.oid) END FROM pg_catalog.pg_proc p ${own("proc", "p", "pronamespace")} WHERE p.prokind IN ('f', 'p', 'w')
    AND NOT EXISTS (SELECT FROM pg_catalog.pg_depend d WHERE d.classid = 'pg_proc'::regclass AND d.objid = p.oid AND d.deptype = 'i')
  UNION ALL SELECT 10, '', 'aggregate', p.oid::regprocedure::text, pg_catalog.format('CREATE AGGREGATE %I.%I(%s) (SFUNC = %s, STYPE = %s', s.nspname, p.proname, pg_catalog.pg_get_function_arguments(p.oid), g.aggtransfn::regproc, pg_catalog.format_type(g.aggtranstype, NULL))
      || CASE WHEN g.aggfinalfn <> 0 THEN ', FINALFUNC = ' || g.aggfinalfn::regproc ELSE '' END || coalesce(', INITCOND = ' || pg_catalog.quote_literal(g.agginitval), '') || ')'
    FROM pg_catalog.pg_proc p ${own("proc", "p", "pronamespace")} JOIN pg_catalog.pg_aggregate g ON g.aggfnoid = p.oid WHERE g.aggkind = 'n'
  UNION ALL SELECT 11, name || E'\\x01', 'table', name, pg_catalog.format('CREATE %sTABLE %s () ', CASE relpersistence WHEN 'u' THEN 'UNLOGGED ' ELSE '' END, name) || CASE relkind WHEN 'p' THEN 'PARTITION BY ' || pg_catalog.pg_get_partkeydef(oid) ELSE '' END
    FROM relations WHERE relkind IN ('r', 'p', 'f')
  UNION ALL SELECT CASE c.relkind WHEN 'c' THEN 7 ELSE 11 END, c.name || E'\\x01' || pg_catalog.lpad(a.attnum::text, 5, '0'), 'column', pg_catalog.format('%s.%I', c.name, a.attname), ${COLUMN} FROM relations c JOIN pg_catalog.pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
    JOIN pg_catalog.pg_type t ON t.oid = a.atttypid LEFT JOIN pg_catalog.pg_attrdef d ON d.adrelid = c.oid AND d.adnum = a.attnum WHERE c.relkind IN ('r', 'p', 'f', 'c')
  UNION ALL SELECT 12, '', 'default', pg_catalog.format('%s.%I', c.name, a.attname), pg_catalog.format('ALTER TABLE ONLY %s ALTER COLUMN %I SET DEFAULT %s', c.name, a.attname, pg_catalog.pg_get_expr(d.adbin, d.adrelid))
    FROM relations c JOIN pg_catalog.pg_attribute a ON a.attrelid = c.oid AND a.attgenerated = '' JOIN pg_catalog.pg_attrdef d ON d.adrelid = c.oid AND d.adnum = a.attnum WHERE c.relkind IN ('r', 'p', 'f')
  UNION ALL SELECT 13, '', 'owned sequence', q.name, pg_catalog.format('ALTER SEQUENCE %s OWNED BY %s.%I', q.name, c.name, a.attname) FROM relations q JOIN pg_catalog.pg_depend d ON d.classid = 'pg_class'::regclass AND d.objid = q.oid AND d.deptype = 'a'
    JOIN relations c ON c.oid = d.refobjid JOIN pg_catalog.pg_attribute a ON a.attrelid = c.oid AND a.attnum = d.refobjsubid WHERE q.relkind = 'S'
  UNION ALL SELECT 14, '', CASE WHEN c.relispartition THEN 'partition' ELSE 'inheritance' END, pg_catalog.format('%s of %s', c.name, p.name), CASE WHEN c.relispartition
      THEN pg_catalog.format('ALTER TABLE ONLY %s ATTACH PARTITION %s %s', p.name, c.name, pg_catalog.pg_get_expr(c.relpartbound, c.oid)) ELSE pg_catalog.format('ALTER TABLE %s INHERIT %s', c.name, p.name) END
    FROM pg_catalog.pg_inherits i JOIN relations c ON c.oid = i.inhrelid JOIN relations p ON p.oid = i.inhparent WHERE c.relkind IN ('r', 'p', 'f')
  UNION ALL SELECT CASE k.contype WHEN 'c' THEN 13 WHEN 'f' THEN 17 ELSE 15 END, '', 'constraint', pg_catalog.format('%s.%I', c.name, k.conname), pg_catalog.format('ALTER TABLE %s ADD CONSTRAINT %I %s', c.name, k.conname, pg_catalog.pg_get_constraintdef(k.oid))
    FROM pg_catalog.pg_constraint k JOIN relations c ON c.oid = k.conrelid WHERE k.contype IN ('c', 'p', 'u', 'x', 'f') AND k.conparentid = 0
  UNION ALL SELECT 16, '', 'index', pg_catalog.format('%I.%I', n.nspname, x.relname), pg_catalog.replace(pg_catalog.pg_get_indexdef(x.oid), ' ON ONLY ', ' ON ') FROM pg_catalog.pg_index i JOIN relations c ON c.oid = i.indrelid
    JOIN pg_catalog.pg_class x ON x.oid = i.indexrelid JOIN pg_catalog.pg_namespace n ON n.oid = x.relnamespace
    WHERE i.indisvalid AND NOT EXISTS (SELECT FROM pg_catalog.pg_inherits h WHERE h.inhrelid = x.oid) AND NOT EXISTS (SELECT FROM pg_catalog.pg_constraint k WHERE k.conindid = x.oid AND k.contype IN ('p', 'u', 'x'))
  UNION ALL SELECT 18, '', CASE relkind WHEN 'm' THEN 'materialized view' ELSE 'view' END, name, pg_catalog.format('CREATE %s %s%s AS %s', CASE relkind WHEN 'm' THEN 'MATERIALIZED VIEW' ELSE 'VIEW' END, name,
      ' WITH (' || nullif(pg_catalog.array_to_string(reloptions, ', '), '') || ')', pg_catalog.rtrim(pg_catalog.pg_get_viewdef(oid), ';')) || CASE relkind WHEN 'm' THEN ' WITH NO DATA' ELSE '' END
    FROM relations WHERE relkind IN ('v', 'm')
  UNION ALL SELECT 19, '', 'rule', pg_catalog.format('%s.%I', c.name, r.rulename), pg_catalog.pg_get_ruledef(r.oid) FROM pg_catalog.pg_rewrite r JOIN relations c ON c.oid = r.ev_class WHERE r.rulename <> '_RETURN'
  UNION ALL SELECT 20, '', 'trigger', pg_catalog.format('%s.%I', c.name, g.tgname), pg_catalog.pg_get_triggerdef(g.oid) FROM pg_catalog.pg_trigger g JOIN relations c ON c.oid = g.tgrelid WHERE NOT g.tgisinternal AND g.tgparentid = 0
  UNION ALL SELECT 21, '', 'policy', pg_catalog.format('%s.%I', c.name, p.polname), pg_catalog.format('CREATE POLICY %I ON %s AS %s FOR %s TO %s', p.polname, c.name, CASE WHEN p.polpermissive THEN 'PERMISSIVE' ELSE 'RESTRICTIVE' END,
      CASE p.polcmd WHEN 'r' THEN 'SELECT' WHEN 'a' THEN 'INSERT' WHEN 'w' THEN 'UPDATE' WHEN 'd' THEN 'DELETE' ELSE 'ALL' END,
      (SELECT pg_catalog.string_agg(CASE role WHEN 0 THEN 'PUBLIC' ELSE role::regrole::text END, ', ') FROM pg_catalog.unnest(p.polroles) role))
      || coalesce(' USING (' || pg_catalog.pg_get_expr(p.polqual, p.polrelid) || ')', '') || coalesce(' WITH CHECK (' || pg_catalog.pg_get_expr(p.polwithcheck, p.polrelid) || ')', '')
    FROM pg_catalog.pg_policy p JOIN relations c ON c.oid = p.polrelid
  UNION ALL SELECT 22, '', 'row security', name, pg_catalog.format('ALTER TABLE %s ENABLE ROW LEVEL SECURITY', name) FROM relations WHERE relrowsecurity
  UNION ALL SELECT 23, '', 'statistics', pg_catalog.format('%I.%I', s.nspname, x.stxname), pg_catalog.pg_get_statisticsobjdef(x.oid) FROM pg_catalog.pg_statistic_ext x ${own("statistic_ext", "x", "stxnamespace")}
) objects WHERE sql IS NOT NULL ORDER BY place, key COLLATE "C", name COLLATE "C"`;

export async function objectsOf(session: Session): Promise<SchemaObject[]> {
  // Names and definitions are written with their schemas. The planner expects few rows of the lists, which have many.
  await session.run("SET LOCAL search_path = pg_catalog; SET LOCAL enable_nestloop = off");
  return await session.rows<SchemaObject>(OBJECTS);
}

/**
 * The statements that create the objects, tables with their columns.
 *
 * @param standIns types that stand in for those of missing extensions, and accept no modifier: `vector(3)`
 */
export function* creating(objects: readonly SchemaObject[], standIns: ReadonlySet<string>) {
  for (const [at, object] of objects.entries()) {
    if (object.kind === "column") continue;
    const columns: string[] = [];
    for (let next = at + 1; objects[next]?.kind === "column"; next++) {
      const { name, sql } = objects[next] ?? object;
      const type = sql.replace(/^(\S+?)\([^)]*\)/, (all, base: string) =>
        standIns.has(base) ? base : all,
      );
      columns.push(`${name.slice(object.name.length + 1)} ${type}`);
    }
    const list = object.sql.indexOf("()", object.sql.indexOf(object.name) + object.name.length);
    const isList = columns.length > 0 && list !== -1;
    const sql = isList
      ? object.sql.slice(0, list + 1) + columns.join(", ") + object.sql.slice(list + 1)
      : object.sql;
    yield { ...object, sql };
  }
}
