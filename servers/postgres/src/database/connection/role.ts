import { ToolError } from "@refmcp/core/answer";

/**
 * Roles whose members reach beyond rows: files and programs of the server, other sessions, or all data with the password
 * hashes (PostgreSQL, "Predefined Roles"), and what clouds call their superusers.
 */
const PRIVILEGED = [
  "pg_read_server_files",
  "pg_write_server_files",
  "pg_execute_server_program",
  "pg_signal_backend",
  "pg_read_all_data",
  "pg_write_all_data",
  "pg_checkpoint",
  "pg_maintain",
  "pg_create_subscription",
  "pg_use_reserved_connections",
  "rds_superuser",
  "cloudsqlsuperuser",
  "alloydbsuperuser",
  "azure_pg_admin",
] as const;

/** Asked right after connecting; one row. */
export const ROLE_QUERY = `SELECT current_user::text AS "user", pg_catalog.current_setting('server_version_num')::int AS version,
  EXISTS (SELECT FROM pg_catalog.pg_roles WHERE rolname IN (current_user, session_user) AND rolsuper) AS superuser,
  EXISTS (SELECT FROM pg_catalog.pg_roles WHERE rolname IN (current_user, session_user) AND rolreplication) AS replication,
  ARRAY(SELECT r.rolname::text FROM pg_catalog.pg_roles r
    WHERE (r.rolsuper OR r.rolname IN (${PRIVILEGED.map((role) => `'${role}'`).join(", ")}))
      AND r.rolname NOT IN (current_user, session_user)
      AND (pg_catalog.pg_has_role(current_user, r.oid, 'MEMBER') OR pg_catalog.pg_has_role(session_user, r.oid, 'MEMBER'))
    ORDER BY 1) AS roles`;

/** What the server says of the role that is connected. */
export interface RoleFacts {
  readonly user: string;
  /** 150003 for 15.3. */
  readonly version: number;
  readonly superuser: boolean;
  readonly replication: boolean;
  readonly roles: readonly string[];
}

/** What a role may do beyond reading rows, as a list for a sentence; empty where it is harmless. */
export function privilegesOf(facts: RoleFacts): string[] {
  if (facts.superuser) return ["superuser"];
  return [...(facts.replication ? ["replication"] : []), ...facts.roles.map((role) => `member of ${role}`)];
}

/** @throws ToolError `denied` for a role that could do more than its statements say. */
export function demandHarmless(facts: RoleFacts): void {
  const privileges = privilegesOf(facts);
  if (privileges.length === 0) return;
  throw new ToolError(
    "denied",
    `The role ${JSON.stringify(facts.user)} is refused: ${privileges.join(", ")}. Such a role can run programs and read files on the database's machine, or read every password hash.`,
    {
      code: "privileged_role",
      hint: "Connect as a role that can only read: this server started with --print-grant-sql prints the SQL that creates one. To connect as this one anyway, start the server with --allow-privileged-role.",
    },
  );
}

/** SQL that makes a role which can read the tables of one schema and nothing else; for a person to adapt and run. */
export const GRANT_SQL = `-- A role that can read the tables of one schema and do nothing else.
-- Run it in the database to be read, as the owner of the tables or a superuser, for example with psql.
-- Adapt the password, the database and the schema first.
CREATE ROLE refmcp_reader LOGIN PASSWORD 'change-me'
  NOSUPERUSER NOCREATEDB NOCREATEROLE NOINHERIT NOREPLICATION NOBYPASSRLS CONNECTION LIMIT 10;
ALTER ROLE refmcp_reader SET default_transaction_read_only = on;
ALTER ROLE refmcp_reader SET statement_timeout = '60s';
ALTER ROLE refmcp_reader SET idle_in_transaction_session_timeout = '120s';
GRANT CONNECT ON DATABASE mydb TO refmcp_reader;
GRANT USAGE ON SCHEMA public TO refmcp_reader;
GRANT SELECT ON ALL TABLES IN SCHEMA public TO refmcp_reader;
-- Tables that this owner makes later:
ALTER DEFAULT PRIVILEGES IN SCHEMA public GRANT SELECT ON TABLES TO refmcp_reader;
-- Everybody may make temporary tables, and up to PostgreSQL 14 tables in public, unless that is taken back:
REVOKE TEMPORARY ON DATABASE mydb FROM PUBLIC;
REVOKE CREATE ON SCHEMA public FROM PUBLIC;
-- pg_read_all_data is not used on purpose: it reads pg_authid, where the password hashes are.
`;
