-- Sequences that used over 70% of their values.
SELECT schemaname || '.' || sequencename AS sequence, pg_catalog.round(100.0 * last_value / max_value, 1)::float8 AS percent
  FROM pg_catalog.pg_sequences WHERE last_value > 0.7 * max_value AND NOT cycle ORDER BY 2 DESC LIMIT 10;
