-- extension is older than the version on this server; ALTER EXTENSION … UPDATE
-- check: security, level: warning, splinter: 0022
SELECT e.name || ' (' || e.installed_version || ', available ' || e.default_version || ')' AS object
FROM pg_catalog.pg_available_extensions e
  JOIN pg_catalog.pg_available_extension_versions v ON v.name = e.name
  AND v.installed
WHERE e.installed_version <> e.default_version;
