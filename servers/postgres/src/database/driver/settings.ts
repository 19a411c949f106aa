/** Maximum time to wait for other sessions' locks, in milliseconds. */
const LOCK_MS = 5_000;
/** How long a transaction may be idle in addition to its statement timeout. */
const IDLE_MS = 5_000;

/** Without one, statements run outside a transaction. */
export type Mode = "READ ONLY" | "READ WRITE";

export const begin = (mode: Mode) => `BEGIN TRANSACTION ISOLATION LEVEL READ COMMITTED ${mode}`;

/** Statements that apply all limits and settings to a session or only its transaction. */
export const settings = (scope: "SESSION" | "LOCAL", timeoutMs: number): string[] => [
  ...limiting(scope, timeoutMs),
  // The server must read literals as the gate does; a role may have turned it off.
  `SET ${scope} standard_conforming_strings = 'on'`,
  `SET ${scope} backslash_quote = 'safe_encoding'`,
  // Values come back exactly and in one form.
  `SET ${scope} client_encoding = 'UTF8'`,
  `SET ${scope} DateStyle = 'ISO'`,
  `SET ${scope} bytea_output = 'hex'`,
  `SET ${scope} extra_float_digits = '1'`,
  // A statement that is rerun for its next page must scan the table from the start.
  `SET ${scope} synchronize_seqscans = 'off'`,
];

/** @param statementMs the server's own limit of a statement, if it is not that of the call */
export const limiting = (
  scope: "SESSION" | "LOCAL",
  timeoutMs: number,
  statementMs = timeoutMs,
): string[] => [
  `SET ${scope} statement_timeout = ${statementMs}`,
  `SET ${scope} lock_timeout = ${Math.min(LOCK_MS, timeoutMs)}`,
  `SET ${scope} idle_in_transaction_session_timeout = ${timeoutMs + IDLE_MS}`,
];

/**
 * All that a read-only transaction can leave in a session after a rollback, through functions that it calls. Its settings are
 * rolled back, and it can't commit, hold a cursor, listen, create a temporary table or advance a sequence.
 */
export const AFTER_READING = ["DEALLOCATE ALL", "SELECT pg_catalog.pg_advisory_unlock_all()"];
