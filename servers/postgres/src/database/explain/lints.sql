-- The lints of pg_health, after the parts that they share. Each begins with its check, problem and number in splinter, and
-- finds its objects in one column "object". The API roles are those under which PostgREST and Supabase serve requests.
WITH role AS (SELECT oid, rolname FROM pg_catalog.pg_roles WHERE rolname IN ('anon', 'authenticated')),
space AS (
  SELECT n.oid, n.nspname FROM pg_catalog.pg_namespace n JOIN pg_catalog.pg_roles o ON o.oid = n.nspowner
  WHERE n.nspname !~ '^(pg_|information_schema$)' AND o.rolname !~ '^supabase_'),
-- Relations that belong neither to the system nor to an extension.
own AS (
  SELECT c.*, EXISTS (SELECT FROM pg_catalog.unnest(c.reloptions) o WHERE o ~* '^security_invoker=(true|on|yes|1)$') AS is_invoker
  FROM pg_catalog.pg_class c JOIN space s ON s.oid = c.relnamespace
  WHERE c.relkind IN ('r', 'p', 'v', 'm', 'f')
    AND NOT EXISTS (SELECT FROM pg_catalog.pg_depend d WHERE d.classid = 'pg_class'::regclass AND d.objid = c.oid AND d.deptype = 'e')),
-- With the API roles that can read them, and those that can do anything with their rows.
api AS (
  SELECT own.*, allowed.* FROM own CROSS JOIN LATERAL (
    SELECT pg_catalog.string_agg(r.rolname, ', ' ORDER BY r.rolname) FILTER (WHERE
        pg_catalog.has_table_privilege(r.oid, own.oid, 'SELECT') OR pg_catalog.has_any_column_privilege(r.oid, own.oid, 'SELECT')) AS readers,
      pg_catalog.string_agg(r.rolname, ', ' ORDER BY r.rolname) FILTER (WHERE
        pg_catalog.has_table_privilege(r.oid, own.oid, 'SELECT, INSERT, UPDATE, DELETE, TRUNCATE')
        OR pg_catalog.has_any_column_privilege(r.oid, own.oid, 'SELECT, INSERT, UPDATE')) AS users
    FROM role r WHERE pg_catalog.has_schema_privilege(r.oid, own.relnamespace, 'USAGE')) allowed),
viewed AS (
  SELECT r.ev_class AS by, t.* FROM pg_catalog.pg_rewrite r
    JOIN pg_catalog.pg_depend d ON d.classid = 'pg_rewrite'::regclass AND d.objid = r.oid AND d.refclassid = 'pg_class'::regclass
    JOIN pg_catalog.pg_class t ON t.oid = d.refobjid),
policy AS (
  SELECT c.oid::regclass || ' (' || p.polname || ')' AS object, c.relrowsecurity, p.*,
    0 = ANY (p.polroles) OR EXISTS (SELECT FROM role r WHERE r.oid = ANY (p.polroles)) AS is_open,
    pg_catalog.pg_get_expr(p.polqual, p.polrelid) AS using, pg_catalog.pg_get_expr(p.polwithcheck, p.polrelid) AS checked
  FROM pg_catalog.pg_policy p JOIN own c ON c.oid = p.polrelid),
function AS (
  SELECT p.*, EXISTS (SELECT FROM pg_catalog.unnest(p.proconfig) s WHERE s LIKE 'search_path=%') AS is_fixed
  FROM pg_catalog.pg_proc p JOIN space s ON s.oid = p.pronamespace
  WHERE NOT EXISTS (SELECT FROM pg_catalog.pg_depend d WHERE d.classid = 'pg_proc'::regclass AND d.objid = p.oid AND d.deptype = 'e'))

-- security: row security is off, API roles can read it, and columns look confidential [splinter 0023]
SELECT c.oid::regclass || ' (' || columns.names || ')' AS object
FROM api c CROSS JOIN LATERAL (SELECT pg_catalog.string_agg(a.attname, ', ' ORDER BY a.attnum) AS names
    FROM pg_catalog.pg_attribute a WHERE a.attrelid = c.oid AND a.attnum > 0
    AND NOT a.attisdropped AND pg_catalog.replace(pg_catalog.lower(a.attname), '-', '_') ~ '^(.*_)?(pass(word|wd|phrase|code)|pwd|secret|token|jwt|otp|pin|salt|credential|(api|private|secret|access|auth|session|ssh|pgp|gpg|license|activation)_?key|(recovery|backup|verification|auth|2fa)_codes?|session_id|two_factor|mac_?addr(ess)?|imei|device_uuid|certificate|ssn|social_security(_number)?|passport(_number|_id)?|national_id|tax_id|drivers?_license|license_number|patient_id|(health|medical)_(record|insurance)|insurance_number|credit_card|card_number|cvv|cvc|cvn|iban|bic|swift_code|bank_account|account_number|routing_number)(_(hash|digest|encrypted|number|value))?$') columns
WHERE c.relkind IN ('r', 'p') AND NOT c.relrowsecurity AND c.readers IS NOT NULL AND columns.names IS NOT NULL

-- security: row security is off, and API roles can use it [splinter 0013]
SELECT oid::regclass || ' (' || users || ')' AS object FROM api WHERE users IS NOT NULL AND relkind IN ('r', 'p') AND NOT relrowsecurity

-- security: PUBLIC has privileges, and row security is off
SELECT oid::regclass::text AS object FROM own
WHERE relkind IN ('r', 'p') AND NOT relrowsecurity AND EXISTS (SELECT FROM pg_catalog.aclexplode(relacl) a WHERE a.grantee = 0)

-- security: has policies, but row security is off [splinter 0007]
SELECT DISTINCT polrelid::regclass::text AS object FROM policy WHERE NOT relrowsecurity

-- security: policy for PUBLIC or API roles lets them write any row [splinter 0024]
SELECT object FROM policy
WHERE relrowsecurity AND polpermissive AND is_open AND ((polcmd IN ('w', 'd', '*') AND coalesce("using", 'true') IN ('true', '(1 = 1)'))
  OR checked IN ('true', '(1 = 1)') OR (polcmd = 'a' AND checked IS NULL))

-- security: policy trusts user_metadata, which users can change themselves [splinter 0015]
SELECT object FROM policy WHERE pg_catalog.concat_ws(' ', "using", checked) ~ '\m(raw_)?user_meta_?data\M'

-- security: view reads a table with row security as its owner, which bypasses it; set security_invoker
SELECT DISTINCT c.oid::regclass || ' (' || t.oid::regclass || ')' AS object
FROM own c JOIN viewed t ON t.by = c.oid AND t.relrowsecurity WHERE c.relkind = 'v' AND NOT c.is_invoker

-- security: view gives API roles what its owner may read; set security_invoker [splinter 0010]
SELECT oid::regclass || ' (' || readers || ')' AS object FROM api WHERE readers IS NOT NULL AND relkind = 'v' AND NOT is_invoker

-- security: view shows the users of the login service to API roles [splinter 0002]
SELECT c.oid::regclass || ' (' || c.readers || ')' AS object
FROM api c WHERE c.readers IS NOT NULL AND c.relkind IN ('v', 'm')
  AND EXISTS (SELECT FROM viewed t JOIN pg_catalog.pg_namespace n ON n.oid = t.relnamespace AND n.nspname = 'auth'
    WHERE t.by = c.oid AND t.relname = 'users' AND (c.relkind = 'm' OR NOT t.relrowsecurity OR NOT c.is_invoker))

-- security: materialized view, which has no row security, is readable by API roles [splinter 0016]
SELECT oid::regclass || ' (' || readers || ')' AS object FROM api WHERE readers IS NOT NULL AND relkind = 'm'

-- security: foreign table, which has no row security, is usable by API roles [splinter 0017]
SELECT oid::regclass || ' (' || users || ')' AS object FROM api WHERE users IS NOT NULL AND relkind = 'f'

-- security: message queue without row security, which API roles can read through pgmq_public [splinter 0019]
SELECT c.oid::regclass || ' (' || pg_catalog.string_agg(r.rolname, ', ' ORDER BY r.rolname) || ')' AS object
FROM pg_catalog.pg_class c
  JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace AND n.nspname = 'pgmq'
  JOIN role r ON pg_catalog.has_table_privilege(r.oid, c.oid, 'SELECT')
  JOIN pg_catalog.pg_namespace wrapper ON wrapper.nspname = 'pgmq_public' AND pg_catalog.has_schema_privilege(r.oid, wrapper.oid, 'USAGE')
WHERE c.relkind IN ('r', 'p') AND c.relname LIKE 'q\_%' AND NOT c.relrowsecurity GROUP BY c.oid

-- security: public storage bucket whose files API roles can list [splinter 0025]
-- The table exists only on Supabase, so it is named in a text, and only where this role may read it. Anyone else's view or
-- policy of that name must not run.
SELECT b.id || ' (' || pg_catalog.string_agg(p.polname, ', ' ORDER BY p.polname) || ')' AS object
FROM pg_catalog.pg_namespace n
  JOIN pg_catalog.pg_class objects ON objects.relnamespace = n.oid AND objects.relname = 'objects'
  JOIN pg_catalog.pg_class buckets ON buckets.relnamespace = n.oid AND buckets.relname = 'buckets' AND buckets.relkind = 'r'
  JOIN pg_catalog.pg_roles o ON o.oid = buckets.relowner AND (o.rolsuper OR o.rolname ~ '^supabase_')
  CROSS JOIN LATERAL pg_catalog.unnest(CASE
    WHEN n.nspname = 'storage' AND pg_catalog.has_schema_privilege(n.oid, 'USAGE') AND pg_catalog.has_table_privilege(buckets.oid, 'SELECT')
    THEN pg_catalog.xpath('/table/row/id/text()', pg_catalog.query_to_xml('SELECT id FROM storage.buckets WHERE public', true, false, ''))
  END) x (id)
  CROSS JOIN LATERAL (SELECT pg_catalog.replace(pg_catalog.replace(pg_catalog.replace(x.id::text, '&lt;', '<'), '&gt;', '>'), '&amp;', '&') AS id) b
  JOIN pg_catalog.pg_policy p ON p.polrelid = objects.oid AND p.polpermissive AND p.polcmd IN ('r', '*')
    AND (0 = ANY (p.polroles) OR EXISTS (SELECT FROM role r WHERE r.oid = ANY (p.polroles)))
  CROSS JOIN LATERAL (SELECT coalesce(pg_catalog.pg_get_expr(p.polqual, p.polrelid), 'true') AS condition) e
WHERE e.condition IN ('true', '(1 = 1)', '(bucket_id = ''' || pg_catalog.replace(b.id, '''', '''''') || '''::text)')
GROUP BY b.id

-- security: visible to API roles in the GraphQL schema, because they may SELECT it [splinter 0026, 0027]
SELECT c.oid::regclass || ' (' || pg_catalog.string_agg(r.rolname, ', ' ORDER BY r.rolname) || ')' AS object
FROM pg_catalog.pg_class c
  JOIN space s ON s.oid = c.relnamespace
  JOIN role r ON pg_catalog.has_table_privilege(r.oid, c.oid, 'SELECT') OR pg_catalog.has_any_column_privilege(r.oid, c.oid, 'SELECT')
WHERE c.relkind IN ('r', 'v', 'm', 'f') AND EXISTS (SELECT FROM pg_catalog.pg_extension WHERE extname = 'pg_graphql') GROUP BY c.oid

-- security: foreign key to a unique column of the login service, which its updates may drop; reference its primary key [splinter 0021]
SELECT c.oid::regclass || ' (' || f.conname || ')' AS object
FROM pg_catalog.pg_constraint f
  JOIN pg_catalog.pg_class c ON c.oid = f.conrelid
  JOIN space s ON s.oid = c.relnamespace
  JOIN pg_catalog.pg_class target ON target.oid = f.confrelid
  JOIN pg_catalog.pg_namespace login ON login.oid = target.relnamespace AND login.nspname = 'auth'
  JOIN pg_catalog.pg_index i ON i.indexrelid = f.conindid AND NOT i.indisprimary
WHERE f.contype = 'f' AND f.conparentid = 0

-- security: SECURITY DEFINER function can be called by API roles [splinter 0028, 0029]
SELECT p.oid::regprocedure || ' (' || pg_catalog.string_agg(r.rolname, ', ' ORDER BY r.rolname) || ')' AS object
FROM function p JOIN role r ON pg_catalog.has_schema_privilege(r.oid, p.pronamespace, 'USAGE') AND pg_catalog.has_function_privilege(r.oid, p.oid, 'EXECUTE')
WHERE p.prosecdef GROUP BY p.oid

-- security: SECURITY DEFINER without a fixed search_path [splinter 0011]
SELECT oid::regprocedure::text AS object FROM function WHERE prosecdef AND NOT is_fixed

-- security: function without a fixed search_path, in a database with API roles [splinter 0011]
SELECT oid::regprocedure::text AS object FROM function WHERE NOT prosecdef AND NOT is_fixed AND EXISTS (SELECT FROM role)

-- security: extension is older than the version on this server; ALTER EXTENSION … UPDATE [splinter 0022]
SELECT e.name || ' (' || e.installed_version || ', available ' || e.default_version || ')' AS object
FROM pg_catalog.pg_available_extensions e
  JOIN pg_catalog.pg_available_extension_versions v ON v.name = e.name AND v.installed
WHERE e.installed_version <> e.default_version

-- schema: no primary key [splinter 0004]
SELECT oid::regclass::text AS object FROM own
WHERE relkind IN ('r', 'p') AND NOT relispartition AND relpersistence = 'p'
  AND NOT EXISTS (SELECT FROM pg_catalog.pg_index i WHERE i.indrelid = own.oid AND i.indisprimary)

-- schema: row security is on without a policy: only the owner sees rows [splinter 0008]
SELECT oid::regclass::text AS object FROM own
WHERE relrowsecurity AND NOT EXISTS (SELECT FROM pg_catalog.pg_policy p WHERE p.polrelid = own.oid)

-- schema: several permissive policies for the same command and role: each is evaluated for every row [splinter 0006]
SELECT relation || ' (' || pg_catalog.max(policies) || ' policies)' AS object
FROM (SELECT p.polrelid::regclass AS relation, pg_catalog.count(*) AS policies
    FROM policy p
    JOIN (SELECT DISTINCT polrelid, pg_catalog.unnest(polroles) AS role
      FROM pg_catalog.pg_policy) r ON r.polrelid = p.polrelid AND p.polroles && ARRAY[r.role, 0::oid], pg_catalog.unnest(CASE p.polcmd WHEN '*' THEN '{r,a,w,d}'::"char"[] ELSE ARRAY[p.polcmd] END) command
    WHERE p.polpermissive GROUP BY 1, r.role, command HAVING pg_catalog.count(*) > 1) several
GROUP BY relation

-- schema: policy asks about the request once for every row; wrap the call in (SELECT …) [splinter 0003]
SELECT object FROM policy
WHERE relrowsecurity AND pg_catalog.regexp_replace(pg_catalog.concat_ws(' ', "using", checked), 'SELECT \m((auth\.)?(uid|jwt|role|email)\(\)|current_setting\()', '', 'gi') ~ '\m((auth\.)?(uid|jwt|role|email)\(\)|current_setting\()'

-- schema: extension in schema public, where its functions mix with yours [splinter 0014]
SELECT extname::text AS object FROM pg_catalog.pg_extension e JOIN pg_catalog.pg_namespace n ON n.oid = e.extnamespace WHERE n.nspname = 'public'

-- schema: column of a reg type, which pg_upgrade refuses [splinter 0018]
SELECT c.oid::regclass || ' (' || a.attname || ' ' || t.typname || ')' AS object
FROM own c
  JOIN pg_catalog.pg_attribute a ON a.attrelid = c.oid AND NOT a.attisdropped
  JOIN pg_catalog.pg_type t ON t.oid = a.atttypid AND t.typnamespace = 'pg_catalog'::regnamespace
WHERE c.relkind IN ('r', 'p', 'm')
  AND t.typname IN ('regcollation', 'regconfig', 'regdictionary', 'regnamespace', 'regoper', 'regoperator', 'regproc', 'regprocedure')

-- indexes: invalid
SELECT indexrelid::regclass || ' on ' || indrelid::regclass AS object FROM pg_catalog.pg_index WHERE NOT indisvalid

-- indexes: never used, and over 1 MB [splinter 0005]
SELECT s.indexrelid::regclass || ' on ' || s.relid::regclass || ' (' || pg_catalog.pg_size_pretty(pg_catalog.pg_relation_size(s.indexrelid)) || ')' AS object
FROM pg_catalog.pg_stat_user_indexes s JOIN pg_catalog.pg_index i ON i.indexrelid = s.indexrelid
WHERE s.idx_scan = 0 AND i.indisvalid AND NOT i.indisunique AND pg_catalog.pg_relation_size(s.indexrelid) > 1048576

-- indexes: the same as another index [splinter 0009]
SELECT DISTINCT c.oid::regclass || ' (' || pg_catalog.string_agg(i.indexrelid::regclass::text, ', ' ORDER BY i.indexrelid::regclass::text) || ')' AS object
FROM pg_catalog.pg_index i JOIN own c ON c.oid = i.indrelid JOIN pg_catalog.pg_class x ON x.oid = i.indexrelid
GROUP BY c.oid, x.relam, i.indisunique, i.indkey::text, i.indclass::text, i.indcollation::text, i.indoption::text, pg_catalog.pg_get_expr(i.indexprs, c.oid), pg_catalog.pg_get_expr(i.indpred, c.oid)
HAVING pg_catalog.count(*) > 1

-- indexes: foreign key without an index: changes of the referenced table scan this one [splinter 0001]
SELECT c.oid::regclass || ' (' || f.conname || ')' AS object
FROM pg_catalog.pg_constraint f JOIN own c ON c.oid = f.conrelid
WHERE f.contype = 'f' AND f.conparentid = 0
  AND NOT EXISTS (SELECT FROM pg_catalog.pg_index i WHERE i.indrelid = f.conrelid
    AND i.indpred IS NULL AND (i.indkey::int2[])[0:pg_catalog.cardinality(f.conkey) - 1] @> f.conkey)
