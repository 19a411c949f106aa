/** Limits of one transaction, in milliseconds. */
export interface TransactionLimits {
  readonly statementMs: number;
  /** For a lock that another session holds. */
  readonly lockMs: number;
  readonly idleMs: number;
}

/**
 * The statements that open a transaction, in order. Every limit and every setting that decides how text is read or written
 * is local to it: nothing rests on start-up options, which poolers refuse, and nothing is left for the next user of the
 * connection.
 *
 * - `standard_conforming_strings`: the server must read literals as the gate did; a role may have it turned off.
 * - `DateStyle` ISO, `bytea_output` hex, `extra_float_digits`: so that values come back exactly and in one form.
 */
export function opening(mode: "READ ONLY" | "READ WRITE", limits: TransactionLimits): readonly string[] {
  const settings: Readonly<Record<string, string>> = {
    statement_timeout: String(Math.round(limits.statementMs)),
    lock_timeout: String(Math.round(limits.lockMs)),
    idle_in_transaction_session_timeout: String(Math.round(limits.idleMs)),
    standard_conforming_strings: "on",
    backslash_quote: "safe_encoding",
    client_encoding: "UTF8",
    DateStyle: "ISO",
    bytea_output: "hex",
    extra_float_digits: "1",
    // A statement that is run again for its next page must read the table from its beginning.
    synchronize_seqscans: "off",
  };
  return [
    `BEGIN TRANSACTION ISOLATION LEVEL READ COMMITTED ${mode}`,
    ...Object.entries(settings).map(([name, value]) => `SET LOCAL ${name} = '${value}'`),
  ];
}
