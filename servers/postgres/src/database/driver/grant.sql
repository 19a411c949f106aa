-- A role that can only read the tables of one schema.
-- Run this in the database to read, as the owner of the tables or a superuser, for example with psql.
-- Adapt the password, the database and the schema first.
CREATE ROLE refmcp_reader LOGIN PASSWORD 'change-me'
  NOSUPERUSER NOCREATEDB NOCREATEROLE NOINHERIT NOREPLICATION NOBYPASSRLS CONNECTION LIMIT 10;
ALTER ROLE refmcp_reader SET default_transaction_read_only = on;
ALTER ROLE refmcp_reader SET statement_timeout = '60s';
ALTER ROLE refmcp_reader SET idle_in_transaction_session_timeout = '120s';
GRANT CONNECT ON DATABASE mydb TO refmcp_reader;
GRANT USAGE ON SCHEMA public TO refmcp_reader;
GRANT SELECT ON ALL TABLES IN SCHEMA public TO refmcp_reader;
-- Tables that this owner creates later:
ALTER DEFAULT PRIVILEGES IN SCHEMA public GRANT SELECT ON TABLES TO refmcp_reader;
-- By default anybody may create temporary tables and, up to PostgreSQL 14, tables in public. Revoke that:
REVOKE TEMPORARY ON DATABASE mydb FROM PUBLIC;
REVOKE CREATE ON SCHEMA public FROM PUBLIC;
-- pg_read_all_data is deliberately not used: it can read the password hashes in pg_authid.
