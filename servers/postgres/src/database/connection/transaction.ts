/** Maximum time to wait for other sessions' locks, in milliseconds. */
const LOCK_MS = 5_000;
/** How long a transaction may be idle in addition to its statement timeout. */
const IDLE_MS = 5_000;

export type Mode = "READ ONLY" | "READ WRITE";

/**
 * Settings that determine how text is read and written.
 *
 * - `standard_conforming_strings`: the server must read literals as the gate does; a role may have turned it off.
 * - `DateStyle` ISO, `bytea_output` hex, `extra_float_digits`: values come back exactly and in one form.
 */
const TEXT_SETTINGS: Readonly<Record<string, string>> = {
  standard_conforming_strings: "on",
  backslash_quote: "safe_encoding",
  client_encoding: "UTF8",
  DateStyle: "ISO",
  bytea_output: "hex",
  extra_float_digits: "1",
  // A statement that is rerun for its next page must scan the table from the start.
  synchronize_seqscans: "off",
};

/** Statements that apply all limits and settings to a session or only its transaction. */
export function settings(scope: "SESSION" | "LOCAL", timeoutMs: number): string[] {
  return [
    ...limiting(scope, timeoutMs),
    ...Object.entries(TEXT_SETTINGS).map(([name, value]) => `SET ${scope} ${name} = '${value}'`),
  ];
}

/** Statements that apply only the limits. */
export function limiting(scope: "SESSION" | "LOCAL", timeoutMs: number): string[] {
  return [
    `SET ${scope} statement_timeout = ${timeoutMs}`,
    `SET ${scope} lock_timeout = ${Math.min(LOCK_MS, timeoutMs)}`,
    `SET ${scope} idle_in_transaction_session_timeout = ${timeoutMs + IDLE_MS}`,
  ];
}

export const begin = (mode: Mode) => `BEGIN TRANSACTION ISOLATION LEVEL READ COMMITTED ${mode}`;
