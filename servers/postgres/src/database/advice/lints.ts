import { CONFIDENTIAL_NAME } from "@refmcp/sql/values";

/** Problems, each with a query that finds its objects in one column `object`. */
export type Lints = Readonly<Record<string, string>>;

/** The roles under which PostgREST and Supabase serve requests from the internet. */
const API_ROLES = ["anon", "authenticated"];
const ROLES = API_ROLES.map((name) => `'${name}'`).join(", ");

/** Whose objects are yours: not PostgreSQL's, an extension's, or those that a hosting service keeps for itself. */
const yours = (catalog: string, row: string, namespace: string) =>
  `${namespace} NOT IN (SELECT n.oid FROM pg_catalog.pg_namespace n JOIN pg_catalog.pg_roles o ON o.oid = n.nspowner
     WHERE n.nspname ~ '^(pg_|information_schema$)' OR o.rolname ~ '^supabase_')
   AND NOT EXISTS (SELECT FROM pg_catalog.pg_depend d WHERE d.classid = '${catalog}'::regclass AND d.objid = ${row}.oid AND d.deptype = 'e')`;
const yourTable = yours("pg_class", "c", "c.relnamespace");
const yourFunction = yours("pg_proc", "p", "p.pronamespace");

/** API roles that may do something with a relation `c`, which is reachable for them. */
const reachableFor = (privileges: string, columns: string) =>
  `FROM pg_catalog.pg_class c CROSS JOIN LATERAL (SELECT pg_catalog.string_agg(r.rolname, ', ' ORDER BY r.rolname) AS names FROM pg_catalog.pg_roles r
     WHERE r.rolname IN (${ROLES}) AND pg_catalog.has_schema_privilege(r.oid, c.relnamespace, 'USAGE')
       AND (pg_catalog.has_table_privilege(r.oid, c.oid, '${privileges}') OR pg_catalog.has_any_column_privilege(r.oid, c.oid, '${columns}'))) api
   WHERE api.names IS NOT NULL AND ${yourTable}`;
const readable = reachableFor("SELECT", "SELECT");
const open = reachableFor("SELECT, INSERT, UPDATE, DELETE, TRUNCATE", "SELECT, INSERT, UPDATE");

const forRoles = "c.oid::regclass || ' (' || api.names || ')' AS object";

/** Policies `p` of tables `c` whose row security is on, with their conditions. */
const policies = `FROM pg_catalog.pg_policy p JOIN pg_catalog.pg_class c ON c.oid = p.polrelid
   CROSS JOIN LATERAL (SELECT pg_catalog.pg_get_expr(p.polqual, p.polrelid) AS using, pg_catalog.pg_get_expr(p.polwithcheck, p.polrelid) AS checked) e
   WHERE ${yourTable}`;
const namedPolicy = "c.oid::regclass || ' (' || p.polname || ')' AS object";
const eachPolicyText = "pg_catalog.concat_ws(' ', e.using, e.checked)";

/** Supabase's functions about the request, and PostgREST's settings. */
const ABOUT_THE_REQUEST = "\\m((auth\\.)?(uid|jwt|role|email)\\(\\)|current_setting\\()";
const ALWAYS = "'true', '(1 = 1)'";

const runsAsOwner =
  "NOT EXISTS (SELECT FROM pg_catalog.unnest(c.reloptions) o WHERE o ~* '^security_invoker=(true|on|yes|1)$')";
const hasNoPath = `NOT EXISTS (SELECT FROM pg_catalog.unnest(p.proconfig) s WHERE s LIKE 'search_path=%') AND ${yourFunction}`;

export const SECURITY_LINTS: Lints = {
  "row security is off, API roles can read it, and columns look confidential": `SELECT c.oid::regclass || ' (' || columns.names || ')' AS object FROM (SELECT c.oid, c.relrowsecurity, c.relkind ${readable}) c
      CROSS JOIN LATERAL (SELECT pg_catalog.string_agg(a.attname, ', ' ORDER BY a.attnum) AS names FROM pg_catalog.pg_attribute a
        WHERE a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped AND pg_catalog.replace(pg_catalog.lower(a.attname), '-', '_') ~ '${CONFIDENTIAL_NAME}') columns
      WHERE c.relkind IN ('r', 'p') AND NOT c.relrowsecurity AND columns.names IS NOT NULL`,
  "row security is off, and API roles can use it": `SELECT ${forRoles} ${open} AND c.relkind IN ('r', 'p') AND NOT c.relrowsecurity`,
  "PUBLIC has privileges, and row security is off": `SELECT c.oid::regclass::text AS object FROM pg_catalog.pg_class c WHERE c.relkind IN ('r', 'p') AND NOT c.relrowsecurity
      AND EXISTS (SELECT FROM pg_catalog.aclexplode(c.relacl) a WHERE a.grantee = 0) AND ${yourTable}`,
  "has policies, but row security is off": `SELECT c.oid::regclass::text AS object FROM pg_catalog.pg_class c
      WHERE NOT c.relrowsecurity AND EXISTS (SELECT FROM pg_catalog.pg_policy p WHERE p.polrelid = c.oid) AND ${yourTable}`,
  "policy for PUBLIC or API roles lets them write any row": `SELECT ${namedPolicy} ${policies} AND c.relrowsecurity AND p.polpermissive
      AND (0 = ANY (p.polroles) OR EXISTS (SELECT FROM pg_catalog.pg_roles r WHERE r.oid = ANY (p.polroles) AND r.rolname IN (${ROLES})))
      AND ((p.polcmd IN ('w', 'd', '*') AND coalesce(e.using, 'true') IN (${ALWAYS})) OR e.checked IN (${ALWAYS}) OR (p.polcmd = 'a' AND e.checked IS NULL))`,
  "policy trusts user_metadata, which users can change themselves": `SELECT ${namedPolicy} ${policies} AND ${eachPolicyText} ~ '\\m(raw_)?user_meta_?data\\M'`,
  "view reads a table with row security as its owner, which bypasses it; set security_invoker": `SELECT DISTINCT c.oid::regclass || ' (' || t.oid::regclass || ')' AS object
      FROM pg_catalog.pg_class c JOIN pg_catalog.pg_rewrite r ON r.ev_class = c.oid
        JOIN pg_catalog.pg_depend d ON d.classid = 'pg_rewrite'::regclass AND d.objid = r.oid AND d.refclassid = 'pg_class'::regclass
        JOIN pg_catalog.pg_class t ON t.oid = d.refobjid AND t.relrowsecurity
      WHERE c.relkind = 'v' AND ${runsAsOwner} AND ${yourTable}`,
  "view gives API roles what its owner may read; set security_invoker": `SELECT ${forRoles} ${readable} AND c.relkind = 'v' AND ${runsAsOwner}`,
  "view shows the users of the login service to API roles": `SELECT DISTINCT ${forRoles} ${readable} AND c.relkind IN ('v', 'm') AND EXISTS (SELECT FROM pg_catalog.pg_rewrite r
        JOIN pg_catalog.pg_depend d ON d.classid = 'pg_rewrite'::regclass AND d.objid = r.oid AND d.refclassid = 'pg_class'::regclass
        JOIN pg_catalog.pg_class t ON t.oid = d.refobjid
      WHERE r.ev_class = c.oid AND t.oid = pg_catalog.to_regclass('auth.users') AND (c.relkind = 'm' OR NOT t.relrowsecurity OR ${runsAsOwner}))`,
  "materialized view, which has no row security, is readable by API roles": `SELECT ${forRoles} ${readable} AND c.relkind = 'm'`,
  "foreign table, which has no row security, is usable by API roles": `SELECT ${forRoles} ${open} AND c.relkind = 'f'`,
  "SECURITY DEFINER function can be called by API roles": `SELECT p.oid::regprocedure || ' (' || api.names || ')' AS object FROM pg_catalog.pg_proc p
      CROSS JOIN LATERAL (SELECT pg_catalog.string_agg(r.rolname, ', ' ORDER BY r.rolname) AS names FROM pg_catalog.pg_roles r
        WHERE r.rolname IN (${ROLES}) AND pg_catalog.has_schema_privilege(r.oid, p.pronamespace, 'USAGE') AND pg_catalog.has_function_privilege(r.oid, p.oid, 'EXECUTE')) api
      WHERE p.prosecdef AND api.names IS NOT NULL AND ${yourFunction}`,
  "SECURITY DEFINER without a fixed search_path": `SELECT p.oid::regprocedure::text AS object FROM pg_catalog.pg_proc p WHERE p.prosecdef AND ${hasNoPath}`,
  // Where no API role exists, callers set the path, and every function would be listed.
  "function without a fixed search_path, in a database with API roles": `SELECT p.oid::regprocedure::text AS object FROM pg_catalog.pg_proc p
      WHERE NOT p.prosecdef AND ${hasNoPath} AND EXISTS (SELECT FROM pg_catalog.pg_roles WHERE rolname IN (${ROLES}))`,
  "extension is older than the version on this server; ALTER EXTENSION … UPDATE": `SELECT e.name || ' (' || e.installed_version || ', available ' || e.default_version || ')' AS object
      FROM pg_catalog.pg_available_extensions e JOIN pg_catalog.pg_available_extension_versions v ON v.name = e.name AND v.installed
      WHERE e.installed_version <> e.default_version`,
};

export const SCHEMA_LINTS: Lints = {
  "no primary key": `SELECT c.oid::regclass::text AS object FROM pg_catalog.pg_class c WHERE c.relkind IN ('r', 'p') AND NOT c.relispartition
      AND c.relpersistence = 'p' AND ${yourTable} AND NOT EXISTS (SELECT FROM pg_catalog.pg_index i WHERE i.indrelid = c.oid AND i.indisprimary)`,
  "row security is on without a policy: only the owner sees rows": `SELECT c.oid::regclass::text AS object FROM pg_catalog.pg_class c
      WHERE c.relrowsecurity AND ${yourTable} AND NOT EXISTS (SELECT FROM pg_catalog.pg_policy p WHERE p.polrelid = c.oid)`,
  "several permissive policies for the same command and role: each is evaluated for every row": `SELECT relation || ' (' || pg_catalog.max(policies) || ' policies)' AS object FROM (
        SELECT c.oid::regclass AS relation, pg_catalog.count(*) AS policies FROM pg_catalog.pg_policy p JOIN pg_catalog.pg_class c ON c.oid = p.polrelid
          JOIN (SELECT DISTINCT polrelid, pg_catalog.unnest(polroles) AS role FROM pg_catalog.pg_policy) r ON r.polrelid = p.polrelid AND p.polroles && ARRAY[r.role, 0::oid],
          pg_catalog.unnest(CASE p.polcmd WHEN '*' THEN '{r,a,w,d}'::"char"[] ELSE ARRAY[p.polcmd] END) command
        WHERE p.polpermissive AND ${yourTable} GROUP BY 1, r.role, command HAVING pg_catalog.count(*) > 1) several GROUP BY relation`,
  "policy asks about the request once for every row; wrap the call in (SELECT …)": `SELECT ${namedPolicy} ${policies} AND c.relrowsecurity
      AND pg_catalog.regexp_replace(${eachPolicyText}, 'SELECT ${ABOUT_THE_REQUEST}', '', 'gi') ~ '${ABOUT_THE_REQUEST}'`,
  "extension in schema public, where its functions mix with yours": `SELECT e.extname::text AS object FROM pg_catalog.pg_extension e JOIN pg_catalog.pg_namespace n ON n.oid = e.extnamespace WHERE n.nspname = 'public'`,
  "column of a reg type, which pg_upgrade refuses": `SELECT c.oid::regclass || ' (' || a.attname || ' ' || t.typname || ')' AS object FROM pg_catalog.pg_attribute a
        JOIN pg_catalog.pg_class c ON c.oid = a.attrelid AND c.relkind IN ('r', 'p', 'm') JOIN pg_catalog.pg_type t ON t.oid = a.atttypid
      WHERE NOT a.attisdropped AND t.typnamespace = 'pg_catalog'::regnamespace AND ${yourTable}
        AND t.typname IN ('regcollation', 'regconfig', 'regdictionary', 'regnamespace', 'regoper', 'regoperator', 'regproc', 'regprocedure')`,
};

export const INDEX_LINTS: Lints = {
  invalid:
    "SELECT i.indexrelid::regclass || ' on ' || i.indrelid::regclass AS object FROM pg_catalog.pg_index i WHERE NOT i.indisvalid",
  "never used, and over 1 MB": `SELECT s.indexrelid::regclass || ' on ' || s.relid::regclass || ' (' || pg_catalog.pg_size_pretty(pg_catalog.pg_relation_size(s.indexrelid)) || ')' AS object
      FROM pg_catalog.pg_stat_user_indexes s JOIN pg_catalog.pg_index i ON i.indexrelid = s.indexrelid
      WHERE s.idx_scan = 0 AND i.indisvalid AND NOT i.indisunique AND pg_catalog.pg_relation_size(s.indexrelid) > 1048576`,
  "the same as another index": `SELECT DISTINCT c.oid::regclass || ' (' || pg_catalog.string_agg(i.indexrelid::regclass::text, ', ' ORDER BY i.indexrelid::regclass::text) || ')' AS object
      FROM pg_catalog.pg_index i JOIN pg_catalog.pg_class c ON c.oid = i.indrelid JOIN pg_catalog.pg_class x ON x.oid = i.indexrelid
      WHERE ${yourTable} GROUP BY c.oid, x.relam, i.indisunique, i.indkey::text, i.indclass::text, i.indcollation::text, i.indoption::text,
        pg_catalog.pg_get_expr(i.indexprs, c.oid), pg_catalog.pg_get_expr(i.indpred, c.oid) HAVING pg_catalog.count(*) > 1`,
  "foreign key without an index: changes of the referenced table scan this one": `SELECT c.oid::regclass || ' (' || f.conname || ')' AS object FROM pg_catalog.pg_constraint f JOIN pg_catalog.pg_class c ON c.oid = f.conrelid
      WHERE f.contype = 'f' AND f.conparentid = 0 AND ${yourTable} AND NOT EXISTS (SELECT FROM pg_catalog.pg_index i WHERE i.indrelid = f.conrelid AND i.indpred IS NULL
        AND (i.indkey::int2[])[0:pg_catalog.cardinality(f.conkey) - 1] @> f.conkey)`,
};

const SHOWN = 10;

/** One query for all lints, with a row for each problem that exists; the first row names the API roles that exist. */
export const lintQuery = (lints: Lints) => {
  const finding = Object.values(lints).map(
    (find, at) =>
      `SELECT ${at}, pg_catalog.count(*)::int, (pg_catalog.array_agg(object::text ORDER BY object::text))[1:${SHOWN}] FROM (${find}) found HAVING pg_catalog.count(*) > 0`,
  );
  const roles = `SELECT -1 AS lint, 0 AS count, ARRAY(SELECT rolname::text FROM pg_catalog.pg_roles WHERE rolname IN (${ROLES}) ORDER BY 1) AS objects`;
  return `${[roles, ...finding].join(" UNION ALL ")} ORDER BY 1`;
};

/**
 * What the rows of `lintQuery` mean. The summary says what was checked, since a database may have other problems.
 *
 * @param checked a list of what the lints check; `API roles` are named in it
 */
export const lintResult = (lints: Lints, checked: string) => (rows: readonly Record<string, unknown>[]) => {
  const problems = Object.keys(lints);
  const roles = rows.flatMap(({ lint, objects }) => (lint === -1 && Array.isArray(objects) ? objects : []));
  const details = rows.flatMap(({ lint, count, objects }) => {
    const problem = problems[Number(lint)];
    return problem === undefined ? [] : [{ problem, count, objects }];
  });
  const existing = roles.length === 0 ? `none of ${API_ROLES.join(", ")} exists here` : roles.join(", ");
  const looked = `Checked: ${checked.replace("API roles", `API roles (${existing})`)}.`;
  if (details.length === 0) return { ok: true, summary: `Nothing found. ${looked}` };
  const found = details.reduce((sum, { count }) => sum + Number(count), 0);
  return { ok: false, summary: `Problems found: ${found}. ${looked}`, details };
};
