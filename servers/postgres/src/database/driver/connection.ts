import type { Client, QueryResultRow } from "pg";
import { catalogRows, JUDGING, type OwnQuery } from "./catalog.ts";
import { type Batch, type Caps, PortalQuery, type Statement } from "./portal.ts";
import { type CancelKey, limitMessages, sendCancel } from "./protocol.ts";
import type { RoleFacts } from "./role.ts";
import { AFTER_READING, begin, limiting, type Mode, settings } from "./settings.ts";

/** How long a cancelled statement may take to stop before its connection is closed: some of PostgreSQL's work can't be interrupted. */
const CANCEL_WAIT_MS = 500;
const MAX_NOTICES = 20;

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
  /** What begins the transaction, until it is sent with the first statement. */
  #opening: readonly string[] = [];
  /** Whether there is nothing to roll back or to remove. */
  #isOver = true;
  /** Whether an earlier piece of work used it. */
  isReused = false;
  /** Whether the work may run again on another connection if this one turns out to be lost. */
  isRepeatable = true;
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
    await this.client.query([...this.#takeOpening(), statements].join("; "));
  }

  /** Runs our own statements in one round trip; a failure skips the rest. */
  async runAll(statements: readonly string[]): Promise<void> {
    const [text = ""] = statements.slice(-1);
    if (statements.length === 1) return await this.run(text);
    const last = { text, params: [], before: statements.slice(0, -1) };
    await this.query(last, { chars: 1, toEnd: true });
  }

  /**
   * Runs one statement over the extended protocol, and cancels it if a batch of rows far exceeds the cap.
   *
   * @param isLast whether the transaction may end in the same packet
   */
  async query(statement: Statement, caps: Caps, isLast = false): Promise<Batch> {
    const opening = this.#takeOpening();
    const before = [...opening, ...(statement.before ?? [])];
    const after = isLast && this.#needsRollbackOnly ? ["ROLLBACK"] : [];
    const query = new PortalQuery({ ...statement, before, after }, caps, () => this.cancel());
    const batch = await query.run(this.client).catch((error: unknown) => {
      if (query.hasBegun || opening.length === 0) this.isRepeatable = false;
      throw error;
    });
    if (query.isOver) this.#isOver = true;
    return batch;
  }

  /** Runs one of our own queries, see `catalogRows`. */
  rows<Row extends QueryResultRow>(
    text: string,
    values: readonly unknown[] = [],
    before: readonly string[] = [],
  ): Promise<Row[]> {
    const opening = this.#takeOpening();
    return catalogRows<Row>(this.client, { text, values, before: [...opening, ...before] });
  }

  /** The same for one that judges a statement; names in its rows have their schema. */
  look<Row extends QueryResultRow>(query: OwnQuery): Promise<Row[]> {
    return catalogRows<Row>(this.client, { ...query, before: this.#takeOpening() }, JUDGING);
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
   * Begins a transaction with these limits, in the packet of its first statement. Without a mode there is none, and the limits
   * are those of the session; behind a pooler they would stay in a backend of other clients, so only our own time limit
   * applies there.
   */
  begin(mode: Mode | undefined, timeoutMs: number, statementMs: number): void {
    this.#mode = mode;
    this.#isOver = false;
    this.isRepeatable = true;
    this.leavesNothing = false;
    const isUsual = timeoutMs === this.#timeoutMs && statementMs === timeoutMs;
    const scope = mode === undefined ? "SESSION" : "LOCAL";
    const limits = isUsual || (mode === undefined && this.isPooled);
    this.#opening = [
      ...(mode === undefined ? [] : [begin(mode)]),
      ...(mode !== undefined && this.isPooled ? settings("LOCAL", timeoutMs) : []),
      ...(limits ? [] : limiting(scope, timeoutMs, statementMs)),
    ];
  }

  /** Sends what begins the transaction by itself: what follows must not run twice. */
  async begun(): Promise<void> {
    const opening = this.#takeOpening();
    if (opening.length > 0) await this.runAll(opening);
    this.isRepeatable = false;
  }

  #takeOpening(): readonly string[] {
    const opening = this.#opening;
    this.#opening = [];
    return opening;
  }

  /** Locks and prepared statements of a shared backend are other clients', and our settings end with the transaction. */
  get #needsRollbackOnly(): boolean {
    return this.isPooled || (this.#mode === "READ ONLY" && this.leavesNothing);
  }

  /** Rolls back, removes what the work left in the session, and restores the session's settings. */
  async clean(): Promise<void> {
    this.#notices = [];
    this.isReused = true;
    const isUnused = this.#takeOpening().length > 0;
    if (this.#isOver || isUnused) return;
    const isRead = this.#mode === "READ ONLY" && this.role.resettable;
    const resets = isRead ? AFTER_READING : ["DISCARD ALL", ...this.#settings];
    await this.runAll(["ROLLBACK", ...(this.#needsRollbackOnly ? [] : resets)]);
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
