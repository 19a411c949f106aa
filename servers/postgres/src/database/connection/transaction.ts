/** Limits of one transaction, in milliseconds. */
export interface TransactionLimits {
  readonly statementMs: number;
  /** For locks held by other sessions. */
  readonly lockMs: number;
  readonly idleMs: number;
}

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
export function settings(scope: "SESSION" | "LOCAL", limits: TransactionLimits): string[] {
  return [
    ...limiting(scope, limits),
    ...Object.entries(TEXT_SETTINGS).map(([name, value]) => `SET ${scope} ${name} = '${value}'`),
  ];
}

/** Statements that apply only the limits. */
export function limiting(scope: "SESSION" | "LOCAL", limits: TransactionLimits): string[] {
  return [
    `SET ${scope} statement_timeout = ${Math.round(limits.statementMs)}`,
    `SET ${scope} lock_timeout = ${Math.round(limits.lockMs)}`,
    `SET ${scope} idle_in_transaction_session_timeout = ${Math.round(limits.idleMs)}`,
  ];
}

export const begin = (mode: Mode) => `BEGIN TRANSACTION ISOLATION LEVEL READ COMMITTED ${mode}`;
