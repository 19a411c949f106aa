import { errorCode } from "@refmcp/boundary";
import { oneLine, ToolError } from "@refmcp/boundary/answer";
import type { DatabaseError } from "pg";
import { excerpt } from "../gate/parser.ts";

/** Whether the connection was lost, so that retrying on another one may succeed. */
export function isLost(error: unknown): boolean {
  if (error instanceof ToolError) return false;
  const code = errorCode(error);
  if (code === undefined)
    return (
      error instanceof Error && /terminated|not queryable|timeout expired|ECONN|socket/i.test(error.message)
    );
  return /^(57P0[1-5]|08(?!P01)...|E[A-Z]{3,})$/.test(code);
}

/** Whether the server sent the error; other errors have no severity. */
export function isFromServer(error: unknown): error is DatabaseError {
  return error instanceof Error && "severity" in error && typeof error.severity === "string";
}

/** Explains why connecting failed, without the password. @param tunnel output of ssh, if there is a tunnel */
export function connectionFailure(error: unknown, label: string, tunnel = ""): ToolError {
  const code = errorCode(error);
  const unavailable = (why: string, hint: string) =>
    new ToolError("unavailable", `PostgreSQL at ${oneLine(label)} ${why}`, {
      hint,
      ...(code === undefined ? {} : { code }),
      cause: error,
    });
  if (code === "28P01" || code === "28000")
    return unavailable(
      `refused the login${code === "28000" ? " (no matching entry in pg_hba.conf, or TLS is required)" : ": wrong user or password"} (SQLSTATE ${code}).`,
      "Correct the user and password in the URL, PGUSER and PGPASSWORD, or ~/.pgpass.",
    );
  if (code === "3D000")
    return unavailable(
      "has no such database (SQLSTATE 3D000).",
      "Correct the database in the URL or PGDATABASE; psql -l lists the databases.",
    );
  if (code === "53300")
    return unavailable(
      "accepts no more connections (SQLSTATE 53300).",
      "Try again later, or raise the server's max_connections; --max-connections limits this server's share.",
    );
  if (code === "57P03")
    return unavailable("is starting up or shutting down (SQLSTATE 57P03).", "Try again in a few seconds.");
  if (code !== undefined && /^(CERT|DEPTH|SELF_SIGNED|UNABLE_TO|ERR_TLS|ERR_SSL|HOSTNAME)/.test(code))
    return unavailable(
      `has a certificate that can't be verified (${code}).`,
      "Pass the CA certificate with sslrootcert=FILE, or use sslmode=require, which encrypts without verifying.",
    );
  if (error instanceof Error && /does not support SSL/.test(error.message))
    return unavailable(
      "does not support TLS, and sslmode requires it.",
      "Use sslmode=prefer or disable to connect without it.",
    );
  if (error instanceof Error && /SASL|SCRAM|channel binding/i.test(error.message))
    return unavailable(
      "and this server can't agree on an authentication method.",
      "Check the password and channel_binding.",
    );
  const why = code === undefined ? "" : ` (${code})`;
  return unavailable(
    `can't be reached${why}.${tunnel === "" ? "" : ` ssh: ${tunnel}`}`,
    "Check that it is running and that host and port are right; the next call tries again.",
  );
}

/**
 * Turns a PostgreSQL error into one that says what to do next; returns other errors unchanged.
 *
 * @param sql the user's statement, to show the position of the error
 */
export function explained(error: unknown, label: string, sql?: string): unknown {
  if (error instanceof ToolError) return error;
  if (!isFromServer(error)) return isLost(error) ? connectionLost(label, error) : error;
  const code = error.code ?? "XX000";
  if (isLost(error)) return connectionLost(label, error);
  const position = Number(error.position);
  const where =
    sql !== undefined && Number.isInteger(position) && position > 0
      ? `, position ${position}: ${excerpt(sql, position - 1)}`
      : "";
  const detail = error.detail === undefined ? "" : ` ${oneLine(error.detail.slice(0, 500))}`;
  const line = error.where?.startsWith("COPY ") === true ? ` In ${oneLine(error.where.slice(0, 300))}.` : "";
  const message = `${oneLine(error.message.slice(0, 1_000))} (SQLSTATE ${code}${where}).${detail}${line}`;
  const hint = [
    error.hint === undefined ? "" : oneLine(error.hint.slice(0, 500)),
    NEXT_STEPS.find(([one]) => one.test(code))?.[1] ?? "",
  ];
  return new ToolError(kindOf(code), message, { code, hint: hint.filter((part) => part !== "").join(" ") });
}

function connectionLost(label: string, cause: unknown): ToolError {
  const code = errorCode(cause);
  return new ToolError(
    "unavailable",
    `The connection to PostgreSQL at ${oneLine(label)} was lost${code === undefined ? "" : ` (${code})`}.`,
    { hint: "Repeat the call: it opens a new connection.", cause },
  );
}

function kindOf(code: string): ToolError["kind"] {
  if (/^(42P01|42703|42883|42704|3F000|3D000)$/.test(code)) return "not_found";
  if (/^(42501|25006|28)/.test(code)) return "denied";
  if (/^(23|40|55)/.test(code)) return "conflict";
  if (code === "57014") return "timeout";
  if (/^(53|54)/.test(code)) return code.startsWith("54") ? "too_large" : "unavailable";
  if (/^(XX|58|F0)/.test(code)) return "unavailable";
  return "invalid";
}

/** The next step for a SQLSTATE: that of the first match. */
const NEXT_STEPS: readonly (readonly [code: RegExp, step: string])[] = [
  [/^(42P01|3F000)$/, "pg_list_objects lists what exists."],
  [/^42703$/, "pg_describe_table shows the columns."],
  [/^(42883|42704)$/, "Check the name and the argument types; write casts as value::type."],
  [/^42501$/, "This role lacks the privilege; ask the owner to GRANT it."],
  [/^25006$/, "Reading tools can't change data; use pg_execute, with --allow-write."],
  [
    /^(22P02|42804)$/,
    "Check the types; params are sent as text and converted to the type that the statement expects.",
  ],
  [/^(08P01|42P02)$/, "Pass as many params as the statement has $1, $2, …."],
  [/^(55P03|40P01|40001)$/, "Another session blocked it; try again."],
  [/^42/, "Correct the statement."],
];
