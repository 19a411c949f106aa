import { ToolError } from "@refmcp/boundary/answer";
import type { Client, QueryResultRow } from "pg";
import { catalogRows, type OwnQuery } from "./catalog.ts";
import { connectionFailure } from "./errors.ts";
import { type Batch, type Caps, PortalQuery, type Statement } from "./portal.ts";
import { type CancelKey, limitMessages, sendCancel } from "./protocol.ts";
import { ROLE_QUERY, type RoleFacts } from "./role.ts";
import type { Address, Attempt, Target } from "./target.ts";

/** Maximum time to wait for other sessions' locks, in milliseconds. */
const LOCK_MS = 5_000;
/** How long a transaction may be idle in addition to its statement timeout. */
const IDLE_MS = 5_000;
/** How long a cancelled statement may take to stop before its connection is closed: some of PostgreSQL's work can't be interrupted. */
const CANCEL_WAIT_MS = 500;
const MAX_NOTICES = 20;

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
const limiting = (
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
const AFTER_READING = ["DEALLOCATE ALL", "SELECT pg_catalog.pg_advisory_unlock_all()"];

/** A connection to a server, with its session. */
export class Connection {
  readonly client: Client;
  readonly role: RoleFacts;
  /** Whether it was cancelled or lost and must not be used again. */
  isInvalid = false;
  #unlimit: () => void;
  /** Undefined if the session can't be cancelled. */
  readonly #key: CancelKey | undefined;
  /** Statements that apply the session's settings. */
  #settings: readonly string[] = [];
  #timeoutMs = 0;
  #mode: Mode | undefined;
  /** Whether what the transaction reads runs only PostgreSQL's own code, which leaves nothing in the session. */
  leavesNothing = false;
  #notices: string[] = [];

  constructor(client: Client, role: RoleFacts, key: CancelKey | undefined) {
    this.client = client;
    this.role = role;
    this.#key = key;
    this.#unlimit = limitMessages(client.connection.stream);
    client.on("error", () => this.invalidate());
    client.on("end", () => this.invalidate());
    client.on("notice", ({ severity, message }) => {
      if (this.#notices.length < MAX_NOTICES && message !== undefined)
        this.#notices.push(`${severity ?? "NOTICE"}: ${message.slice(0, 500)}`);
    });
  }

  invalidate(): void {
    this.isInvalid = true;
  }

  /** The server's notices since the last call. */
  takeNotices(): string[] {
    return this.#notices.splice(0);
  }

  /** Runs our own statements, never a user's, over the simple protocol. */
  async run(statements: string): Promise<void> {
    await this.client.query(statements);
  }

  /** Runs our own statements in one round trip; a failure skips the rest. */
  async runAll(statements: readonly string[]): Promise<void> {
    const [text = ""] = statements.slice(-1);
    if (statements.length === 1) return await this.run(text);
    const last = { text, params: [], before: statements.slice(0, -1) };
    await this.query(last, { chars: 1, toEnd: true });
  }

  /** Runs one statement over the extended protocol, and cancels it if a batch of rows far exceeds the cap. */
  query(statement: Statement, caps: Caps): Promise<Batch> {
    return new PortalQuery(statement, caps, () => this.cancel()).run(this.client);
  }

  /** Runs one of our own queries, see `catalogRows`. */
  rows<Row extends QueryResultRow>(
    statement: string,
    values: readonly unknown[] = [],
    before: readonly string[] = [],
  ): Promise<Row[]> {
    return catalogRows<Row>(this.client, { text: statement, values, before });
  }

  /**
   * Applies settings to the whole session, so that transactions don't have to. Does nothing behind a pooler, which may use
   * a different backend for each transaction.
   */
  async configure(timeoutMs: number): Promise<void> {
    if (this.isPooled) return;
    this.#timeoutMs = timeoutMs;
    this.#settings = settings("SESSION", timeoutMs);
    await this.runAll(this.#settings);
  }

  /** Runs work whose rows may be of any size, because it takes them as they come. */
  async unlimited<Value>(work: () => Promise<Value>): Promise<Value> {
    this.#unlimit();
    try {
      return await work();
    } finally {
      this.#unlimit = limitMessages(this.client.connection.stream);
    }
  }

  /** Whether a pooler may share the backend with other clients: it issues its own cancel keys. */
  get isPooled(): boolean {
    return this.#key?.processID !== this.role.pid;
  }

  /**
   * Begins a transaction with these limits. Without a mode there is none, and the limits are those of the session; behind a
   * pooler they would stay in a backend of other clients, so only our own time limit applies there.
   *
   * @param look runs in the same round trip
   * @returns its rows
   */
  async begin(
    mode: Mode | undefined,
    timeoutMs: number,
    statementMs: number,
    look?: OwnQuery,
  ): Promise<QueryResultRow[] | undefined> {
    this.#mode = mode;
    this.leavesNothing = false;
    const isUsual = timeoutMs === this.#timeoutMs && statementMs === timeoutMs;
    if (mode === undefined) {
      if (!isUsual && !this.isPooled)
        await this.runAll(limiting("SESSION", timeoutMs, statementMs));
      return undefined;
    }
    const before = [
      begin(mode),
      ...(this.isPooled ? settings("LOCAL", timeoutMs) : []),
      ...(isUsual ? [] : limiting("LOCAL", timeoutMs, statementMs)),
    ];
    if (look !== undefined) return await catalogRows(this.client, { ...look, before });
    await this.runAll(before);
    return undefined;
  }

  /** Rolls back, removes what the work left in the session, and restores the session's settings. */
  async clean(): Promise<void> {
    const isRead = this.#mode === "READ ONLY";
    const resets =
      isRead && this.role.resettable ? AFTER_READING : ["DISCARD ALL", ...this.#settings];
    // Locks and prepared statements of a shared backend are other clients', and our settings end with the transaction.
    const isClean = this.isPooled || (isRead && this.leavesNothing);
    await this.runAll(["ROLLBACK", ...(isClean ? [] : resets)]);
    this.#notices = [];
  }

  /**
   * Waits for the session's work. When `signal` aborts, sends a CancelRequest and, if that does not help, closes the
   * connection. The session is not used again afterwards.
   */
  async stoppable<Value>(work: Promise<Value>, signal: AbortSignal): Promise<Value> {
    let timer: NodeJS.Timeout | undefined;
    const stop = () => {
      this.cancel();
      timer = setTimeout(() => this.destroy(), CANCEL_WAIT_MS);
    };
    if (signal.aborted) stop();
    else signal.addEventListener("abort", stop, { once: true });
    try {
      return await work;
    } finally {
      clearTimeout(timer);
      signal.removeEventListener("abort", stop);
    }
  }

  /** Asks the server to cancel the running statement; the session is not used again. */
  cancel(): void {
    this.invalidate();
    if (this.#key === undefined) this.destroy();
    else void sendCancel(this.#key);
  }

  destroy(): void {
    this.invalidate();
    this.client.connection.stream.destroy();
  }

  async close(): Promise<void> {
    this.invalidate();
    await this.client.end().catch(() => undefined);
  }
}

/**
 * Connects to the first address that works, with or without TLS according to sslmode, and reads the role.
 *
 * @throws ToolError `unavailable` that says why; never with a password.
 */
export async function openConnection(target: Target): Promise<Connection> {
  // The second round of prefer-standby accepts any server.
  const rounds =
    target.wanted === "prefer-standby" ? (["standby", "any"] as const) : [target.wanted];
  let last: unknown;
  for (const wanted of rounds) {
    for (const address of target.addresses) {
      for (const attempt of address.attempts) {
        try {
          const connection = await connect(target, address, attempt);
          const { standby, readonly } = connection.role;
          // libpq's target_session_attrs.
          const kinds = {
            "read-write": !standby && !readonly,
            "read-only": standby || readonly,
            primary: !standby,
            standby,
            any: true,
          };
          if (kinds[wanted]) return connection;
          await connection.close();
          last = new ToolError("unavailable", `No server of ${target.label} is ${wanted}.`, {
            hint: "Check target_session_attrs and the hosts of the connection URL.",
          });
          break;
        } catch (error) {
          if (error instanceof ToolError) throw error;
          last = error;
        }
      }
    }
  }
  throw last instanceof ToolError ? last : connectionFailure(last, target.label);
}

async function connect(target: Target, address: Address, attempt: Attempt): Promise<Connection> {
  const { host, port } = address;
  const { directTls, options } = target;
  // Loaded with the first connection, so that listing tools does not wait for it.
  const { default: pg } = await import("pg");
  const client = new pg.Client({
    host,
    port,
    user: target.user,
    database: target.database,
    password: () => passwordOf(address, target),
    ssl: attempt,
    ...(directTls && attempt !== false ? { sslnegotiation: "direct" as const } : {}),
    enableChannelBinding: target.channelBinding,
    connectionTimeoutMillis: target.connectTimeoutMs,
    application_name: target.applicationName,
    ...(options === undefined ? {} : { options }),
    keepAlive: true,
  });
  let key: Pick<CancelKey, "processID" | "secretKey"> | undefined;
  client.connection.once("backendKeyData", (data: NonNullable<typeof key>) => {
    key = data;
  });
  // Errors after connecting surface at the next use of the connection.
  client.on("error", () => undefined);
  const isBound = target.channelBinding ? requireBinding(client) : () => true;
  await client.connect();
  if (!isBound()) {
    await client.end();
    throw new Error(NOT_BOUND);
  }
  try {
    const [role] = await catalogRows<RoleFacts & QueryResultRow>(client, { text: ROLE_QUERY });
    if (role === undefined) throw new Error("the server did not report the role");
    return new Connection(client, role, key && { ...key, host, port, attempt, directTls });
  } catch (error) {
    await client.end().catch(() => undefined);
    throw error;
  }
}

const NOT_BOUND = "the server does not offer channel binding";

/**
 * libpq's `channel_binding=require`, of which pg does less: it binds the login to the server's certificate only if the server
 * offers it. Closes the connection before a password, or a proof of it, is sent without binding.
 *
 * @returns whether the login was bound
 */
function requireBinding(client: Client): () => boolean {
  let isBound = false;
  const refuse = () => client.connection.stream.destroy(new Error(NOT_BOUND));
  client.connection.once(
    "authenticationSASL",
    ({ mechanisms }: { mechanisms: readonly string[] }) => {
      isBound = mechanisms.includes("SCRAM-SHA-256-PLUS");
      if (!isBound) refuse();
    },
  );
  client.connection.once("authenticationCleartextPassword", refuse);
  client.connection.once("authenticationMD5Password", refuse);
  return () => isBound;
}

function passwordOf(address: Address, target: Target): string {
  const { password, problem } = address.password();
  if (password) return password;
  throw new ToolError(
    "unavailable",
    `The server requires a password for ${target.label}, but none is configured.${problem === undefined ? "" : ` ${problem}`}`,
    { hint: "Put it into the URL (DATABASE_URL in the host's env), PGPASSWORD or ~/.pgpass." },
  );
}
