-- Standbys over 100 MB behind, and inactive slots, which retain WAL.
SELECT application_name AS standby, state, pg_catalog.pg_wal_lsn_diff(sent_lsn, replay_lsn)::float8 AS behind_bytes, NULL::float8 AS kept_bytes
    FROM pg_catalog.pg_stat_replication WHERE pg_catalog.pg_wal_lsn_diff(sent_lsn, replay_lsn) > 104857600
  UNION ALL SELECT slot_name::text, 'inactive slot', NULL, (CASE WHEN pg_catalog.pg_is_in_recovery() THEN NULL
  ELSE pg_catalog.pg_wal_lsn_diff(pg_catalog.pg_current_wal_lsn(), restart_lsn) END)::float8 AS kept_bytes
    FROM pg_catalog.pg_replication_slots WHERE NOT active LIMIT 10;
