-- The age of the oldest unfrozen transaction.
SELECT pg_catalog.max(pg_catalog.age(datfrozenxid))::float8 AS oldest, pg_catalog.current_setting('autovacuum_freeze_max_age')::float8 AS frozen_at FROM pg_catalog.pg_database;
