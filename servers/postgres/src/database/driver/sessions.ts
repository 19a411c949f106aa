import { type Deadline, errorCode, startDeadline, WaitingLine } from "@refmcp/boundary";
import type { ToolError } from "@refmcp/boundary/answer";
import type { QueryResultRow } from "pg";
import { FunctionGate } from "../gate/reach.ts";
import { type Connection, limiting, type Mode, settings } from "./connection.ts";
import { explained, isLost, timedOut } from "./errors.ts";
import { Pool } from "./pool.ts";
import type { Opening } from "./portal.ts";
import { requireHarmless } from "./role.ts";
import { TypeCatalog } from "./values.ts";

export interface WorkLimits {
  readonly timeoutMs: number;
  readonly maxConnections: number;
  readonly allowPrivilegedRole: boolean;
  /** Whether statements may create, alter and drop roles. */
  readonly allowAdmin: boolean;
  /** Names of volatile functions that reading statements may call, or `*`. */
  readonly allowFunction: readonly string[];
}

export interface Work {
  readonly signal: AbortSignal;
  /** Default and maximum: the limit in the options. */
  readonly timeoutMs?: number | undefined;
  /** The user's statement, for error positions. */
  readonly sql?: string;
  /** How many characters precede it in what is sent. */
  readonly offset?: number;
  readonly mode?: Mode;
  /** How many times the limit of a statement the whole work may take; default 1. */
  readonly times?: number;
  /** Whether it only runs code that the function gate or we have judged, which leaves no prepared statement. */
  readonly isJudged?: boolean;
  /** Whether the time limit starts again with every `progressed`: an export or import may take up to an hour. */
  readonly isTransfer?: boolean;
}

/** Maximum time of an export or import that makes progress, in milliseconds. */
const MAX_TRANSFER_MS = 3_600_000;

/** How long after the server's own timeout we cancel the statement ourselves. */
const GRACE_MS = 500;

/** A connection and its transaction during one piece of work. */
export class Session {
  readonly connection: Connection;
  /** Aborts when the client cancels or the time limit expires. */
  readonly signal: AbortSignal;
  /** Starts the time limit of a transfer again. @param isAtEnd the rest takes time that nothing shows, such as key checks */
  readonly progressed: (isAtEnd?: boolean) => void;
  /** Whether the server confirmed that the transaction is open. */
  isOpen = false;
  /** The statements that open the transaction; undefined once taken. */
  #opening: readonly string[] | undefined;

  constructor(
    connection: Connection,
    { signal, restart }: Pick<Deadline, "signal" | "restart">,
    opening: readonly string[],
  ) {
    this.connection = connection;
    this.signal = signal;
    this.progressed = (isAtEnd = false) => restart(isAtEnd ? MAX_TRANSFER_MS : undefined);
    this.#opening = opening;
  }

  /**
   * The statements that open the transaction, to be sent with the first statement; undefined if already taken.
   *
   * @param guards statements that must succeed before it
   */
  takeOpening(guards: readonly string[] = []): Opening | undefined {
    const opening = this.#opening;
    if (opening === undefined) return undefined;
    this.#opening = undefined;
    return {
      statements: [...opening, ...guards],
      opened: () => {
        this.connection.cleaned();
        this.isOpen = true;
      },
    };
  }

  // As those of the connection.
  readonly run = (statements: string) => this.connection.run(statements);
  readonly query = (...asked: Parameters<Connection["query"]>) => this.connection.query(...asked);
  readonly rows = <Row extends QueryResultRow>(...asked: Parameters<Connection["rows"]>) =>
    this.connection.rows<Row>(...asked);

  async open(): Promise<void> {
    const opening = this.takeOpening();
    if (opening === undefined) return;
    await this.connection.runAll(opening.statements);
    opening.opened?.();
  }

  /**
   * Applies the limits and settings to the session until it is cleaned, without opening a transaction. Behind a pooler they
   * would stay in a backend of other clients, so only our own time limit applies there.
   */
  async openNone(timeoutMs: number): Promise<void> {
    await this.connection.clean();
    this.#opening = undefined;
    if (!this.connection.isPooled) await this.connection.runAll(settings("SESSION", timeoutMs));
    this.isOpen = true;
  }
}

/** Where connections come from. */
export interface Source {
  /** Starts what connections depend on; a call's time limit begins afterwards. */
  ready?(): Promise<unknown>;
  open(): Promise<Connection>;
  /** A better explanation for a lost or failed connection than its error, if there is one. */
  whyLost?(connection: Connection | undefined): Promise<ToolError | undefined>;
  close?(): Promise<void>;
}

/** The sessions with a PostgreSQL database. Each piece of work runs in its own transaction on a pooled connection. */
export class Sessions {
  /** `user@host:port/database`. */
  readonly label: string;
  readonly types = new TypeCatalog();
  readonly functions: FunctionGate;
  readonly pool: Pool;
  readonly limits: WorkLimits;
  readonly #source: Source;
  readonly #waitingWriters = new WaitingLine();
  #writers = 0;

  constructor(label: string, limits: WorkLimits, source: Source) {
    this.label = label;
    this.limits = limits;
    this.functions = new FunctionGate(limits.allowFunction);
    this.#source = source;
    this.pool = new Pool(() => this.#open(), limits.maxConnections, label);
  }

  /** @throws ToolError `unavailable`, or `denied` for a privileged role. */
  async #open(): Promise<Connection> {
    const connection = await this.#source.open();
    try {
      if (!this.limits.allowPrivilegedRole) requireHarmless(connection.role);
      await connection.configure(settings("SESSION", this.limits.timeoutMs));
      return connection;
    } catch (error) {
      await connection.close();
      throw error;
    }
  }

  /** The effective time limit of a call that asked for `timeoutMs`. */
  limitOf(timeoutMs: number | undefined): number {
    return Math.min(timeoutMs ?? this.limits.timeoutMs, this.limits.timeoutMs);
  }

  /**
   * Runs a piece of work in a transaction and rolls it back; READ ONLY by default. Cancels the statement when the client
   * cancels or the time limit expires.
   *
   * @throws ToolError PostgreSQL's error, `timeout`, `cancelled`, or `unavailable` if it can't be reached.
   */
  work<Value>(options: Work, run: (session: Session) => Promise<Value>): Promise<Value> {
    return this.workInOne(options, async (session) => {
      await session.open();
      return await run(session);
    });
  }

  /** Runs one of our own queries in a separate transaction. */
  rows<Row extends QueryResultRow>(
    options: Work,
    statement: string,
    values?: readonly unknown[],
  ): Promise<Row[]> {
    return this.work({ ...options, isJudged: true }, (session) => session.rows(statement, values));
  }

  /** Like `work`, but `run` opens the transaction with its first statement, and may be retried on another connection. */
  async workInOne<Value>(options: Work, run: (session: Session) => Promise<Value>): Promise<Value> {
    const timeoutMs = this.limitOf(options.timeoutMs);
    const { mode = "READ ONLY", isTransfer = false } = options;
    const statementMs = isTransfer ? MAX_TRANSFER_MS : timeoutMs;
    let deadline: Deadline | undefined;
    let connection: Connection | undefined;
    try {
      await this.#source.ready?.();
      deadline = startDeadline(timeoutMs * (options.times ?? 1) + GRACE_MS, options.signal, () =>
        timedOut(timeoutMs, isTransfer),
      );
      const { signal } = deadline;
      for (let attempt = 0; ; attempt++) {
        connection = await this.pool.acquire(signal);
        // What the session's own settings don't cover.
        const isUsual = timeoutMs === this.limits.timeoutMs && !isTransfer;
        const local = [
          ...(connection.isConfigured ? [] : settings("LOCAL", timeoutMs)),
          ...(isUsual ? [] : limiting("LOCAL", timeoutMs, statementMs)),
        ];
        const session = new Session(connection, deadline, [
          ...connection.beginning(mode),
          ...local,
        ]);
        try {
          return await connection.stoppable(run(session), signal);
        } catch (error) {
          // A pooled connection may have been lost unnoticed. The work has not begun then, so it is safe to retry.
          if (
            session.isOpen ||
            !isLost(error) ||
            signal.aborted ||
            attempt > this.limits.maxConnections
          )
            throw error;
          connection.invalidate();
          this.pool.discard(connection);
        }
      }
    } catch (error) {
      options.signal.throwIfAborted();
      deadline?.signal.throwIfAborted();
      if (errorCode(error) === "57014") throw timedOut(statementMs);
      const why =
        connection?.isInvalid === false ? undefined : await this.#source.whyLost?.(connection);
      if (why !== undefined) throw why;
      throw explained(error, this.label, options);
    } finally {
      deadline?.end();
      connection?.leave(mode, options.isJudged ?? false);
      if (connection !== undefined) this.pool.release(connection);
    }
  }

  /**
   * Like `work`, for changes. One connection is left to others: a change needs a second one to record what it replaces, and
   * would wait for it in vain if changes held them all.
   */
  async change<Value>(options: Work, run: (session: Session) => Promise<Value>): Promise<Value> {
    if (this.#writers >= Math.max(1, this.limits.maxConnections - 1))
      await this.#waitingWriters.wait(options.signal);
    else this.#writers += 1;
    try {
      // Recording what changed takes time too.
      return await this.work({ times: 2, ...options, mode: "READ WRITE" }, run);
    } finally {
      if (!this.#waitingWriters.hand()) this.#writers -= 1;
    }
  }

  async close(): Promise<void> {
    await this.pool.close();
    await this.#source.close?.();
  }
}
