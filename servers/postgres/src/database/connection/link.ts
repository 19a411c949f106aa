import { ToolError } from "@refmcp/boundary/answer";
import type { Client, QueryResultRow } from "pg";
import { PortalQuery } from "../reading/portal.ts";
import { type Session, sendCancel } from "./cancel.ts";
import { catalogRows } from "./catalog-rows.ts";
import { connectionFailure } from "./failures.ts";
import { watchFrames } from "./frames.ts";
import { ROLE_QUERY, type RoleFacts } from "./role.ts";
import type { Address, Target, TargetAttribute } from "./target.ts";
import type { Attempt } from "./tls.ts";
import { begin, type Mode } from "./transaction.ts";
import type { Tunnel } from "./tunnel.ts";

/** How long a cancelled statement may take to stop before its connection is closed. */
const CANCEL_WAIT_MS = 3_000;
const MAX_NOTICES = 20;
/**
 * Removes everything that a read-only transaction can leave in its session after a rollback, through functions called by
 * views or policies: prepared statements and session-level advisory locks. Its settings are rolled back, and it can't
 * commit, hold a cursor, listen, create a temporary table or advance a sequence.
 */
const RESET_AFTER_READING = ["DEALLOCATE ALL", "SELECT pg_catalog.pg_advisory_unlock_all()"];

/**
 * State that earlier calls may have left in a session: none, an open transaction, a read-only one and its traces, or
 * anything.
 */
type Remains = "nothing" | "transaction" | "reading" | "anything";

/** Statements that remove it. */
const RESETS: Readonly<Record<Remains, readonly string[]>> = {
  nothing: [],
  transaction: [],
  reading: RESET_AFTER_READING,
  anything: ["DISCARD ALL"],
};

/** A connection to a server, with its session. */
export class Link {
  readonly client: Client;
  readonly role: RoleFacts;
  /** Whether it was cancelled or lost and must not be used again. */
  isSpoiled = false;
  /** What a CancelRequest needs; undefined if the session can't be cancelled. */
  readonly #session: Session | undefined;
  #remains: Remains = "nothing";
  /** Statements that apply the session's settings, and whether they are in effect. */
  #settings: readonly string[] = [];
  #isSettled = false;
  #notices: string[] = [];

  constructor(client: Client, role: RoleFacts, session: Session | undefined) {
    this.client = client;
    this.role = role;
    this.#session = session;
    client.on("error", () => this.spoil());
    client.on("end", () => this.spoil());
    client.on("notice", ({ severity, message }) => {
      if (this.#notices.length < MAX_NOTICES && message !== undefined)
        this.#notices.push(`${severity ?? "NOTICE"}: ${message.slice(0, 500)}`);
    });
  }

  spoil(): void {
    this.isSpoiled = true;
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
    const last = { text: statements.at(-1) ?? "", params: [] };
    const opening = { statements: statements.slice(0, -1) };
    await new PortalQuery({ ...last, opening }, { chars: 1, toEnd: true }, () => undefined).run(this.client);
  }

  /**
   * Applies settings to the whole session, so that transactions don't have to. Does nothing behind a pooler, which may use
   * a different backend for each transaction.
   */
  async settle(settings: readonly string[]): Promise<void> {
    if (this.isPooled) return;
    await this.runAll(settings);
    this.#settings = settings;
    this.#isSettled = true;
  }

  /** Whether a pooler may share the backend with other clients: it issues its own cancel keys. */
  get isPooled(): boolean {
    return this.#session?.processID !== this.role.pid;
  }

  /** Whether a transaction started now would have the session's settings. */
  get isSettled(): boolean {
    return this.#isSettled && this.#remains !== "anything";
  }

  /** Records that a transaction in this mode may still be open. */
  leave(mode: Mode): void {
    // Locks and prepared statements of a shared backend are other clients', and our settings end with the transaction.
    if (this.isPooled) this.#remains = "transaction";
    else if (mode === "READ WRITE" || !this.role.resettable) this.#remains = "anything";
    else if (this.#remains === "nothing") this.#remains = "reading";
  }

  /** Statements that clean the session and begin a transaction; call `cleaned` when they have run. */
  beginning(mode: Mode): string[] {
    switch (this.#remains) {
      case "nothing":
        return [begin(mode)];
      case "reading":
        // Inside the transaction, since the isolation level must be set before anything takes a snapshot.
        return ["ROLLBACK", begin(mode), ...RESETS.reading];
      default:
        return ["ROLLBACK", ...RESETS[this.#remains], begin(mode)];
    }
  }

  /** Rolls back, removes what the transaction left in the session, and restores the session's settings. */
  async clean(): Promise<void> {
    if (this.#remains === "nothing") return;
    await this.runAll(["ROLLBACK", ...RESETS[this.#remains], ...(this.isSettled ? [] : this.#settings)]);
    this.cleaned();
    this.#isSettled = this.#settings.length > 0;
  }

  /** Records that nothing remains of earlier calls. */
  cleaned(): void {
    this.#isSettled = this.isSettled;
    this.#remains = "nothing";
    this.#notices = [];
  }

  /** Runs one of our own queries, see `catalogRows`. */
  rows<Row extends QueryResultRow>(
    statement: string,
    values: readonly unknown[] = [],
    before: readonly string[] = [],
  ): Promise<Row[]> {
    return catalogRows<Row>(this.client, statement, values, before);
  }

  /**
   * Waits for the session's work. When `signal` aborts, sends a CancelRequest and, if that does not help, closes the
   * connection. The session is not used again afterwards.
   */
  async stoppable<Value>(work: Promise<Value>, signal: AbortSignal): Promise<Value> {
    let timer: NodeJS.Timeout | undefined;
    const stop = () => {
      this.cancel();
      timer = setTimeout(() => this.cut(), CANCEL_WAIT_MS);
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
    this.spoil();
    if (this.#session === undefined) this.cut();
    else void sendCancel(this.#session);
  }

  /** Closes the connection immediately. */
  cut(): void {
    this.spoil();
    this.client.connection.stream.destroy();
  }

  async close(): Promise<void> {
    this.spoil();
    await this.client.end().catch(() => undefined);
  }
}

/**
 * Connects to the first address that works, with or without TLS according to sslmode, and reads the role.
 *
 * @param tunnel the SSH tunnel to the addresses, if there is one.
 * @throws ToolError `unavailable` that says why; never with a password.
 */
export async function openLink(target: Target, tunnel?: Tunnel): Promise<Link> {
  // The second round of prefer-standby accepts any server.
  const rounds = target.wanted === "prefer-standby" ? (["standby", "any"] as const) : [target.wanted];
  let last: unknown;
  for (const wanted of rounds) {
    for (const address of target.addresses) {
      for (const attempt of address.attempts) {
        try {
          const link = await connect(target, address, attempt, await tunnel?.socketsTo(address));
          if (fits(link.role, wanted)) return link;
          await link.close();
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
  throw last instanceof ToolError ? last : connectionFailure(last, target.label, tunnel?.said);
}

/** Whether a server matches `target_session_attrs` (libpq). */
function fits({ standby, readonly }: RoleFacts, wanted: TargetAttribute): boolean {
  switch (wanted) {
    case "read-write":
      return !standby && !readonly;
    case "read-only":
      return standby || readonly;
    case "primary":
      return !standby;
    case "standby":
      return standby;
    default:
      return true;
  }
}

async function connect(
  target: Target,
  address: Address,
  attempt: Attempt,
  through: Session["through"],
): Promise<Link> {
  const { host, port } = address;
  // Loaded with the first connection, so that listing tools does not wait for it.
  const { default: pg } = await import("pg");
  const client = new pg.Client({
    host,
    port,
    user: target.user,
    database: target.database,
    password: () => passwordOf(address, target),
    ssl: attempt,
    ...(target.directTls && attempt !== false ? { sslnegotiation: "direct" as const } : {}),
    enableChannelBinding: target.channelBinding,
    connectionTimeoutMillis: target.connectTimeoutMs,
    application_name: target.applicationName,
    ...(target.options === undefined ? {} : { options: target.options }),
    keepAlive: true,
    // Already connecting: pg would connect it to the host itself, whose name it needs for TLS.
    ...(through === undefined
      ? {}
      : { stream: () => Object.assign(through(), { connect: () => undefined }) }),
  });
  let key: Pick<Session, "processID" | "secretKey"> | undefined;
  client.connection.once("backendKeyData", ({ processID, secretKey }: NonNullable<typeof key>) => {
    key = { processID, secretKey };
  });
  // Errors after connecting surface at the next use of the connection.
  client.on("error", () => undefined);
  await client.connect();
  watchFrames(client.connection.stream);
  try {
    const [role] = await catalogRows<RoleFacts & QueryResultRow>(client, ROLE_QUERY);
    if (role === undefined) throw new Error("the server did not report the role");
    const { directTls } = target;
    return new Link(client, role, key && { host, port, through, attempt, directTls, ...key });
  } catch (error) {
    await client.end().catch(() => undefined);
    throw error;
  }
}

function passwordOf(address: Address, target: Target): string {
  const { password, problem } = address.password();
  if (password !== undefined && password !== "") return password;
  throw new ToolError(
    "unavailable",
    `The server requires a password for ${target.label}, but none is configured.${problem === undefined ? "" : ` ${problem}`}`,
    {
      hint: "Put it into the URL (DATABASE_URL in the host's env), PGPASSWORD or ~/.pgpass.",
    },
  );
}
