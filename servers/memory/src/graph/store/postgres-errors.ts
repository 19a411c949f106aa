import { errorCode } from "@refmcp/boundary";
import { ToolError } from "@refmcp/boundary/answer";

/** Converts a PostgreSQL error to one that says what to do next; other errors are returned unchanged. */
export function explained(error: unknown, location: string): unknown {
  // A SQLSTATE (`53100`) or a code of the operating system (`ECONNREFUSED`).
  const code = errorCode(error);
  if (error instanceof ToolError || !(error instanceof Error)) return error;
  const unavailable = (message: string, hint: string) =>
    new ToolError("unavailable", message, { hint, cause: error });
  if (code === "53100" || code === "53200")
    return unavailable(
      `PostgreSQL at ${location} has no ${code === "53100" ? "disk space" : "memory"} left; nothing was written.`,
      "Free some on the database server, then repeat the call.",
    );
  if (code === "55P03")
    return unavailable(
      `Another writer has held the memory's lock at ${location} for 30 s.`,
      "Repeat the call later; pg_stat_activity shows who holds it.",
    );
  if (code === "57014")
    return unavailable(
      `PostgreSQL at ${location} stopped the statement.`,
      "Request less, or repeat the call.",
    );
  if (code === "25006" || code === "42501")
    return new ToolError("denied", `This user has no write permission at ${location}.`, {
      hint: "Grant the --store user permission to create a schema in the database, and make sure --store is the primary server.",
      cause: error,
    });
  if (code !== undefined && /^28|^3D000$/.test(code))
    return unavailable(
      `PostgreSQL at ${location} refused the connection (${code === "3D000" ? "no such database" : "user or password"}).`,
      "Check --store: postgres://user:password@host:port/database.",
    );
  const lost =
    code === undefined
      ? /connection terminated|timeout exceeded/i.test(error.message)
      : /^E[A-Z]+$|^08|^57P/.test(code);
  if (lost)
    return unavailable(
      `PostgreSQL at ${location} is unreachable${code === undefined ? "" : ` (${code})`}.`,
      "Check that it is running and that --store is correct, then check with recent_changes whether the last write was saved.",
    );
  return error;
}
