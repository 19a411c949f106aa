-- What each check could not look at with this role, as check and text; the first row says which role that is.
WITH me AS (
  SELECT r.rolsuper AS super, pg_catalog.pg_has_role('pg_read_all_stats', 'USAGE') AS stats,
    pg_catalog.pg_has_role('pg_read_all_settings', 'USAGE') AS settings, pg_catalog.pg_is_in_recovery() AS standby
  FROM pg_catalog.pg_roles r WHERE r.rolname = current_user
),
-- A few names and how many there are.
hidden AS (
  SELECT kind, pg_catalog.concat(pg_catalog.count(*), ' (', pg_catalog.array_to_string((pg_catalog.array_agg(name ORDER BY name))[1:3], ', '),
    CASE WHEN pg_catalog.count(*) > 3 THEN ', …' END, ')') AS names
  FROM (
    SELECT 'bloat' AS kind, c.oid::regclass::text AS name FROM pg_catalog.pg_class c
    WHERE c.relkind IN ('r', 'm') AND c.relpages > 1280 AND NOT pg_catalog.has_any_column_privilege(c.oid, 'SELECT')
    UNION ALL SELECT 'analyze', c.oid::regclass::text FROM pg_catalog.pg_class c
      JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
    -- Its size would need a lock.
    WHERE c.relkind IN ('r', 'm') AND c.oid >= 16384 AND pg_catalog.pg_stat_get_live_tuples(c.oid) + pg_catalog.pg_stat_get_dead_tuples(c.oid) > 10000
      AND pg_catalog.has_any_column_privilege(c.oid, 'SELECT')
      AND NOT EXISTS (SELECT FROM pg_catalog.pg_stats s WHERE s.schemaname = n.nspname AND s.tablename = c.relname)
    UNION ALL SELECT 'sequences', c.oid::regclass::text FROM pg_catalog.pg_class c
    WHERE CASE WHEN c.relkind = 'S' THEN NOT pg_catalog.has_sequence_privilege(c.oid, 'USAGE, SELECT') END
  ) each GROUP BY kind
)
SELECT '' AS check, pg_catalog.concat(current_user, CASE WHEN super THEN ' (superuser)' WHEN stats THEN ' (pg_read_all_stats)' ELSE ' (neither superuser nor pg_read_all_stats)' END,
  CASE WHEN standby THEN ', on a standby' END) AS unseen FROM me
UNION ALL SELECT c, 'sessions of other roles, which need pg_read_all_stats' FROM me, pg_catalog.unnest('{connections,transactions,locks,replication}'::text[]) c WHERE NOT stats
UNION ALL SELECT 'bloat', 'tables over 10 MB that this role may not read: ' || names FROM hidden WHERE kind = 'bloat'
UNION ALL SELECT 'bloat', 'tables with over 10,000 rows and no statistics, which need ANALYZE: ' || names FROM hidden WHERE kind = 'analyze'
UNION ALL SELECT 'sequences', 'sequences that this role may not read: ' || names FROM hidden WHERE kind = 'sequences'
UNION ALL SELECT c, 'use on the primary, since a standby counts only its own' FROM me, pg_catalog.unnest('{vacuum,indexes,cache}'::text[]) c WHERE standby
UNION ALL SELECT c, 'anything, since track_counts is off' FROM pg_catalog.unnest('{vacuum,indexes,cache}'::text[]) c WHERE pg_catalog.current_setting('track_counts') = 'off'
UNION ALL SELECT 'settings', 'settings that only superusers may see' FROM me WHERE NOT settings
UNION ALL SELECT 'security', 'storage.buckets, which this role may not read entirely' FROM pg_catalog.pg_class c
  JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname = 'storage' AND c.relname = 'buckets'
  AND NOT (pg_catalog.has_schema_privilege(n.oid, 'USAGE') AND pg_catalog.has_table_privilege(c.oid, 'SELECT') AND NOT pg_catalog.row_security_active(c.oid))
ORDER BY 1, 2;
