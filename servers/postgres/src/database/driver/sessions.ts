import { type Deadline, errorCode, Line, startDeadline } from "@refmcp/boundary";
import type { ToolError } from "@refmcp/boundary/answer";
import type { QueryResultRow } from "pg";
import { FunctionGate } from "../gate/reach.ts";
import type { OwnQuery } from "./catalog.ts";
import type { Connection } from "./connection.ts";
import { explained, timedOut } from "./errors.ts";
import { LookUps } from "./look-ups.ts";
import { Pool } from "./pool.ts";
import { requireHarmless } from "./role.ts";
import type { Mode } from "./settings.ts";
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
  /** Default: READ ONLY; undefined runs statements outside a transaction. */
  readonly mode?: Mode | undefined;
  /** How many times the limit of a statement the whole work may take; default 1. */
  readonly times?: number;
  /** Whether the time limit starts again with every `progressed`: an export or import may take up to an hour. */
  readonly isTransfer?: boolean;
  /** Whether it may run twice, so that BEGIN goes in the packet of its first statement: see `Connection.isRepeatable`. */
  readonly isRepeatable?: boolean;
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
  readonly #lookUps: LookUps;

  constructor(connection: Connection, { signal, restart }: Deadline, lookUps: LookUps) {
    this.#lookUps = lookUps;
    this.connection = connection;
    this.signal = signal;
    this.progressed = (isAtEnd = false) => restart(isAtEnd ? MAX_TRANSFER_MS : undefined);
  }

  // As those of the connection.
  readonly run = (statements: string) => this.connection.run(statements);
  readonly query = (...asked: Parameters<Connection["query"]>) => this.connection.query(...asked);
  readonly rows = <Row extends QueryResultRow>(...asked: Parameters<Connection["rows"]>) =>
    this.connection.rows<Row>(...asked);

  /** Looks up what this transaction sees. */
  readonly lookInside = <Row extends QueryResultRow>(query: OwnQuery) =>
    this.connection.look<Row>(query);
  /** Looks up what is committed: all that a read-only transaction sees. */
  readonly look = async <Row extends QueryResultRow>(query: OwnQuery) =>
    (await this.#lookUps.rows<Row>(this.connection, query, this.signal)) ??
    (await this.lookInside<Row>(query));
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
  readonly #lookUps: LookUps;
  readonly limits: WorkLimits;
  readonly #source: Source;
  readonly #writing: Line;

  constructor(label: string, limits: WorkLimits, source: Source) {
    this.label = label;
    this.limits = limits;
    this.functions = new FunctionGate(limits.allowFunction);
    this.#source = source;
    this.#writing = new Line(Math.max(1, limits.maxConnections - 1));
    this.pool = new Pool(() => this.#open(), limits.maxConnections, label);
    this.#lookUps = new LookUps(() => this.#open(), label);
  }

  /** @throws ToolError `unavailable`, or `denied` for a privileged role. */
  async #open(): Promise<Connection> {
    const connection = await this.#source.open();
    try {
      if (!this.limits.allowPrivilegedRole) requireHarmless(connection.role);
      await connection.configure(this.limits.timeoutMs);
      return connection;
    } catch (error) {
      await connection.close();
      throw error;
    }
  }

  /**
   * Runs a piece of work in a transaction and rolls it back; READ ONLY by default. Cancels the statement when the client
   * cancels or the time limit expires.
   *
   * @throws ToolError PostgreSQL's error, `timeout`, `cancelled`, or `unavailable` if it can't be reached.
   */
  async work<Value>(options: Work, run: (session: Session) => Promise<Value>): Promise<Value> {
    const timeoutMs = Math.min(options.timeoutMs ?? this.limits.timeoutMs, this.limits.timeoutMs);
    const { isTransfer = false, isRepeatable = false, times = 1 } = options;
    const mode = "mode" in options ? options.mode : "READ ONLY";
    const statementMs = isTransfer ? MAX_TRANSFER_MS : timeoutMs;
    let deadline: Deadline | undefined;
    let used: Connection | undefined;
    try {
      await this.#source.ready?.();
      const limit = startDeadline(timeoutMs * times + GRACE_MS, options.signal, () =>
        timedOut(timeoutMs, isTransfer),
      );
      deadline = limit;
      const { signal } = limit;
      return await this.pool.use(signal, async (connection) => {
        used = connection;
        connection.begin(mode, timeoutMs, statementMs);
        if (!isRepeatable) await connection.stoppable(connection.begun(), signal);
        const session = new Session(connection, limit, this.#lookUps);
        return await connection.stoppable(run(session), signal);
      });
    } catch (error) {
      options.signal.throwIfAborted();
      deadline?.signal.throwIfAborted();
      if (errorCode(error) === "57014") throw timedOut(statementMs);
      const why = used?.isInvalid === false ? undefined : await this.#source.whyLost?.(used);
      throw why ?? explained(error, this.label, options);
    } finally {
      deadline?.end();
    }
  }

  /** Runs one of our own queries in a separate transaction. */
  rows<Row extends QueryResultRow>(
    options: Work,
    statement: string,
    values?: readonly unknown[],
  ): Promise<Row[]> {
    const work = { isRepeatable: true, ...options };
    return this.work(work, (session) => session.rows(statement, values));
  }

  /**
   * Like `work`, for changes. One connection is left to others: a change needs a second one to record what it replaces, and
   * would wait for it in vain if changes held them all.
   */
  async change<Value>(options: Work, run: (session: Session) => Promise<Value>): Promise<Value> {
    // Recording what changed takes time too.
    const work = () => this.work({ times: 2, ...options, mode: "READ WRITE" }, run);
    return await this.#writing.run("", work, options.signal);
  }

  async close(): Promise<void> {
    await Promise.all([this.pool.close(), this.#lookUps.close()]);
    await this.#source.close?.();
  }
}
