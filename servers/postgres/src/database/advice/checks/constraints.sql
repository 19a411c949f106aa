-- Constraints that are not validated.
SELECT conrelid::regclass::text AS table, conname::text AS constraint, pg_catalog.pg_get_constraintdef(oid) AS definition
  FROM pg_catalog.pg_constraint WHERE NOT convalidated ORDER BY 1, 2 LIMIT 10;
