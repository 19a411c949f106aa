-- invalid
-- check: indexes, level: error
SELECT i.indexrelid::regclass || ' on ' || i.indrelid::regclass AS object
FROM pg_catalog.pg_index i
WHERE NOT i.indisvalid;
