import { errorCode } from "@refmcp/boundary";
import { type ErrorKind, errorsOf, oneLine, ToolError } from "@refmcp/boundary/answer";
import { excerpt } from "@refmcp/sql";
import type { DatabaseError } from "pg";

/** The codes of our own errors. An error of PostgreSQL has its SQLSTATE as code. */
export const failure = errorsOf({
  bad_connection: ["invalid"],
  embedded: ["unavailable", "See the server's log (stderr). The next call tries again."],
  embedded_lost: ["unavailable"],
  not_reading: ["denied"],
  pool_exhausted: ["unavailable", "Wait for other calls to finish, or raise --max-connections."],
  privileged_role: [
    "denied",
    "Connect as a role that can only read: this server started with --print-grant-sql prints the SQL that creates one. To connect as this one anyway, start the server with --allow-privileged-role.",
  ],
  unconfigured: [
    "unavailable",
    "Start the server with DATABASE_URL=postgres://user:password@host:5432/database in its environment (or --url, --db NAME=URL, PGHOST and similar), or with --embedded to try it without a server. --print-grant-sql prints SQL for a role that can only read.",
  ],
});

export const denied = (message: string, hint: string) => failure("not_reading", message, { hint });

/** For a connection string; the message must not show it, since it may contain a password. */
export const malformed = (what: string, hint: string) =>
  failure("bad_connection", `${what}.`, { hint });

export const closing = () => new ToolError("unavailable", "The server is closing.");

export const timedOut = (timeoutMs: number, isTransfer = false) =>
  new ToolError(
    "timeout",
    `Stopped after ${timeoutMs / 1000} s${isTransfer ? " without progress" : ", the time limit of this call"}; nothing was changed.`,
    {
      code: "57014",
      hint: "Narrow it (WHERE, LIMIT, fewer joins; pg_explain shows the plan), or raise timeout_ms up to --query-timeout-ms.",
    },
  );

/** Whether the connection was lost, so that retrying on another one may succeed. */
export function isLost(error: unknown): boolean {
  if (error instanceof ToolError) return false;
  const code = errorCode(error);
  if (code !== undefined) return /^(57P0[1-5]|08(?!P01)...|E[A-Z]{3,})$/.test(code);
  return (
    error instanceof Error &&
    /terminated|not queryable|timeout expired|ECONN|socket/i.test(error.message)
  );
}

/** Why connecting failed, by the code and the message of the error. */
const CONNECTING: readonly (readonly [error: RegExp, why: string, hint: string])[] = [
  [
    /^28000 .*client certificate/,
    "requires a client certificate",
    "Name it with sslcert=FILE and its key with sslkey=FILE; its common name must be the user.",
  ],
  [
    /^28(000|P01) /,
    "refused the login (wrong user or password, no entry in pg_hba.conf, or no TLS)",
    "Correct the user and password in the URL, PGUSER and PGPASSWORD, or ~/.pgpass.",
  ],
  [
    /^3D000 /,
    "has no such database",
    "Correct the database in the URL or PGDATABASE; psql -l lists the databases.",
  ],
  [
    /^53300 /,
    "accepts no more connections",
    "Try again later, or raise the server's max_connections; --max-connections limits this server's share.",
  ],
  [/^57P03 /, "is starting up or shutting down", "Try again in a few seconds."],
  [
    /^ERR_TLS_CERT_ALTNAME_INVALID/,
    "has a certificate for another host name",
    "Use the name in the certificate as host (with hostaddr for the address), or sslmode=verify-ca.",
  ],
  [
    /^ERR_SSL_\w*ALERT/,
    "refused the client certificate or the TLS version",
    "Check that sslcert is signed by an authority that the server trusts.",
  ],
  [
    /^(CERT|DEPTH|SELF_SIGNED|UNABLE_TO|ERR_TLS|ERR_SSL|HOSTNAME)/,
    "has a certificate that can't be verified",
    "Pass the CA certificate with sslrootcert=FILE, or use sslmode=require, which encrypts without verifying.",
  ],
  [
    / .*does not support SSL/,
    "does not support TLS, and sslmode requires it",
    "Use sslmode=prefer or disable to connect without it.",
  ],
  [
    / .*(SASL|SCRAM|channel binding)/i,
    "and this server can't agree on an authentication method",
    "Check the password and channel_binding, which needs TLS and SCRAM.",
  ],
];
const NOT_REACHED =
  "Check that it is running and that host and port are right; the next call tries again.";

/** Explains why connecting failed, without the password. */
export function connectionFailure(error: unknown, label: string): ToolError {
  const code = errorCode(error);
  const text = `${code ?? ""} ${error instanceof Error ? error.message : ""}`;
  const reason = CONNECTING.find(([pattern]) => pattern.test(text));
  const [, why, hint] = reason ?? [/^/, "can't be reached", NOT_REACHED];
  const detail =
    code === undefined
      ? ""
      : ` (${reason !== undefined && /^\d/.test(code) ? "SQLSTATE " : ""}${code})`;
  const message = `PostgreSQL at ${oneLine(label)} ${why}${detail}.`;
  return new ToolError("unavailable", message, { hint, code, cause: error });
}

/** The kind of a SQLSTATE: that of the first match; otherwise `invalid`. */
const KINDS: readonly (readonly [code: RegExp, kind: ErrorKind])[] = [
  [/^(42P01|42703|42883|42704|3F000|3D000)$/, "not_found"],
  [/^(42501|25006|28)/, "denied"],
  [/^(23|40|55)/, "conflict"],
  [/^57014$/, "timeout"],
  [/^54/, "too_large"],
  [/^(53|XX|58|F0)/, "unavailable"],
];

/** The next step for a SQLSTATE: that of the first match. */
const NEXT_STEPS: readonly (readonly [code: RegExp, step: string])[] = [
  [/^(42P01|3F000)$/, "pg_describe_tables lists what exists."],
  [/^42703$/, "pg_describe_tables shows the columns."],
  [/^(42883|42704)$/, "Check the name and the argument types; write casts as value::type."],
  [/^42501$/, "This role lacks the privilege; ask the owner to GRANT it."],
  [/^25006$/, "Reading tools can't change data; use pg_execute, with --allow-write."],
  [
    /^(22P02|42804)$/,
    "Check the types; params are sent as text and converted to the type that the statement expects.",
  ],
  [
    /^22P04$/,
    "Every record needs as many fields as the header, and a quote in a quoted field is written twice; empty lines are not allowed.",
  ],
  [/^22021$/, "Text must be valid in the encoding of the database, without NUL characters."],
  [/^23/, "Nothing was changed. pg_describe_tables shows keys and constraints."],
  [/^(08P01|42P02)$/, "Pass as many params as the statement has $1, $2, …."],
  [/^(55P03|40P01|40001)$/, "Another session blocked it; try again."],
  [/^42601$/, "The error is at » or right before it."],
  [/^42/, "pg_describe_tables shows the columns and their types."],
];

const first = <Value>(table: readonly (readonly [RegExp, Value])[], code: string) =>
  table.find(([pattern]) => pattern.test(code))?.[1];

/** Whether the server sent the error; other errors have no severity. */
const isFromServer = (error: unknown): error is DatabaseError =>
  error instanceof Error && "severity" in error && typeof error.severity === "string";

/**
 * Turns a PostgreSQL error into one that says what to do next; returns other errors unchanged.
 *
 * @param sent the user's statement, to show the position of the error, and how many characters precede it in what was sent
 */
export function explained(
  error: unknown,
  label: string,
  { sql, offset = 0 }: { readonly sql?: string; readonly offset?: number } = {},
): unknown {
  if (isLost(error)) {
    const code = errorCode(error);
    const detail = code === undefined ? "" : ` (${code})`;
    const message = `The connection to PostgreSQL at ${oneLine(label)} was lost${detail}.`;
    const hint = "Repeat the call: it opens a new connection.";
    return new ToolError("unavailable", message, { hint, cause: error });
  }
  if (!isFromServer(error)) return error;
  const { code = "XX000", detail, where } = error;
  const position = Number(error.position) - offset;
  const at =
    sql !== undefined && position > 0
      ? `, position ${position}: ${excerpt(sql, position - 1)}`
      : "";
  const more = detail === undefined ? "" : ` ${oneLine(detail.slice(0, 500))}`;
  const line = where?.startsWith("COPY ") === true ? ` In ${oneLine(where.slice(0, 300))}.` : "";
  const message = `${oneLine(error.message.slice(0, 1_000))} (SQLSTATE ${code}${at}).${more}${line}`;
  const hint = [oneLine(error.hint?.slice(0, 500) ?? ""), first(NEXT_STEPS, code) ?? ""]
    .filter(Boolean)
    .join(" ");
  return new ToolError(first(KINDS, code) ?? "invalid", message, { code, hint });
}
