import { failure } from "./errors.ts";

/**
 * Predefined roles that give access to the database host (PostgreSQL, "Predefined Roles"). The owner roles of managed
 * services (rds_superuser, cloudsqlsuperuser, neon_superuser and others) don't; what they, pg_read_all_data,
 * pg_signal_backend or REPLICATION allow is stopped by the read-only transaction and the gate.
 */
const PRIVILEGED: Readonly<Record<string, string>> = {
  pg_read_server_files: "read any file that the database server can",
  pg_write_server_files: "write any file that the database server can",
  pg_execute_server_program: "run programs on the database host",
};

/** Whether membership of this role gives access to the database host. */
export const isPrivileged = (role: string) => Object.hasOwn(PRIVILEGED, role);

/** When this server started, which identifies it; in a form that does not depend on settings. */
export const STARTED = "pg_catalog.date_part('epoch', pg_catalog.pg_postmaster_start_time())::text";

/** Runs right after connecting; returns one row. */
export const ROLE_QUERY = `SELECT current_user::text AS "user",
  pg_catalog.pg_backend_pid() AS pid, ${STARTED} AS server, pg_catalog.has_function_privilege('pg_catalog.pg_advisory_unlock_all()', 'EXECUTE') AS resettable,
  pg_catalog.pg_is_in_recovery() AS standby, pg_catalog.current_setting('transaction_read_only') = 'on' AS readonly,
  EXISTS (SELECT FROM pg_catalog.pg_roles WHERE rolname IN (current_user, session_user) AND rolsuper) AS superuser,
  ARRAY(SELECT r.rolname::text FROM pg_catalog.pg_roles r
    WHERE (r.rolsuper OR r.rolname = ANY ('{${Object.keys(PRIVILEGED).join()}}'))
      AND r.rolname NOT IN (current_user, session_user)
      AND (pg_catalog.pg_has_role(current_user, r.oid, 'MEMBER') OR pg_catalog.pg_has_role(session_user, r.oid, 'MEMBER'))
    ORDER BY 1) AS roles`;

export interface RoleFacts {
  readonly user: string;
  readonly pid: number;
  /** What identifies it among those of the same address: `STARTED`. */
  readonly server: string;
  /** Whether the role may release its session-level advisory locks. */
  readonly resettable: boolean;
  readonly standby: boolean;
  readonly readonly: boolean;
  readonly superuser: boolean;
  /** Superusers and privileged roles that the role is a member of. */
  readonly roles: readonly string[];
}

/** @throws ToolError `denied` for a role that has access beyond the database. */
export function requireHarmless({ user, superuser, roles }: RoleFacts): void {
  const everything = "run programs and read and write files on the database host";
  const powers = superuser
    ? [`it is a superuser, so it can ${everything}`]
    : roles.map((role) => `it is a member of ${role}, so it can ${PRIVILEGED[role] ?? everything}`);
  if (powers.length === 0) return;
  throw failure(
    "privileged_role",
    `The role ${JSON.stringify(user)} is refused: ${powers.join("; ")}.`,
  );
}
