import { ToolError } from "@refmcp/core/answer";
import type { Client, QueryResultRow } from "pg";
import { type Session, sendCancel } from "./cancel.ts";
import { connectionFailure } from "./failures.ts";
import { watchFrames } from "./frames.ts";
import { ROLE_QUERY, type RoleFacts } from "./role.ts";
import { Statements } from "./statements.ts";
import type { Address, Target, TargetAttribute } from "./target.ts";
import type { Attempt } from "./tls.ts";
import { begin, type Mode } from "./transaction.ts";
import type { Tunnel } from "./tunnel.ts";

/** How long a cancelled statement may take to end before its connection is cut. */
const CANCEL_PATIENCE_MS = 3_000;
const MAX_NOTICES = 20;
/**
 * What a read-only transaction that was rolled back can leave in its session, through a function that a view or a policy
 * calls: prepared statements and session-level advisory locks. Its settings are rolled back, and it can't commit, hold a
 * cursor, listen, create a temporary table or move a sequence.
 */
const RESET_AFTER_READING = ["DEALLOCATE ALL", "SELECT pg_catalog.pg_advisory_unlock_all()"];

/** What earlier calls may have left in a session: nothing, an open read-only transaction and its traces, or anything. */
type Remains = "nothing" | "reading" | "anything";

/** One session of a server. */
export class Link {
  readonly client: Client;
  readonly role: RoleFacts;
  /** What it must be asked for to be cancelled; undefined where it cannot be. */
  readonly #session: Session | undefined;
  #remains: Remains = "nothing";
  /** Statements that make the session's settings, and whether they hold. */
  #settings: readonly string[] = [];
  #isSettled = false;
  #notices: string[] = [];
  #spoiled = false;

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

  /** Whether it is not to be used again: it was cancelled, or lost. */
  get isSpoiled(): boolean {
    return this.#spoiled;
  }

  spoil(): void {
    this.#spoiled = true;
  }

  /** What the server remarked since the last time. */
  takeNotices(): string[] {
    return this.#notices.splice(0);
  }

  /** Runs statements of our own, not a user's, over the simple protocol. */
  async run(statements: string): Promise<void> {
    await this.client.query(statements);
  }

  /** Runs statements of our own in one round trip, each only where those before it succeeded. */
  async runAll(statements: readonly string[]): Promise<void> {
    await this.client.query(new Statements(statements)).done;
  }

  /**
   * Makes settings for the whole session, so that transactions need none. Only where the session is a PostgreSQL backend of
   * our own: a pooler may lend another one to each transaction.
   */
  async settle(settings: readonly string[]): Promise<void> {
    if (!this.#isOwn) return;
    await this.runAll(settings);
    this.#settings = settings;
    this.#isSettled = true;
  }

  /** Whether the session's cancel key is the backend's: a pooler gives its clients keys of its own. */
  get #isOwn(): boolean {
    return this.role.resettable && this.#session?.processId === this.role.pid;
  }

  /** Whether a transaction that begins now has the session's settings. */
  get isSettled(): boolean {
    return this.#isSettled && this.#remains !== "anything";
  }

  /** Notes that a transaction of this mode may still be open. */
  leave(mode: Mode): void {
    if (mode === "READ WRITE" || !this.#isOwn) this.#remains = "anything";
    else if (this.#remains === "nothing") this.#remains = "reading";
  }

  /** Statements that begin a transaction in a session without remains; `cleaned` is called when they have run. */
  beginning(mode: Mode): string[] {
    switch (this.#remains) {
      case "nothing":
        return [begin(mode)];
      case "reading":
        // Within the transaction, whose isolation level must come before anything that takes a snapshot.
        return ["ROLLBACK", begin(mode), ...RESET_AFTER_READING];
      case "anything":
        return ["ROLLBACK", "DISCARD ALL", begin(mode)];
    }
  }

  /** Ends the transaction, removes what it left in the session and restores the session's settings. */
  async clean(): Promise<void> {
    if (this.#remains === "nothing") return;
    const reset = this.#remains === "reading" ? RESET_AFTER_READING : ["DISCARD ALL"];
    await this.runAll(["ROLLBACK", ...reset, ...(this.isSettled ? [] : this.#settings)]);
    this.cleaned();
    this.#isSettled = this.#settings.length > 0;
  }

  /** Notes that nothing remains of earlier calls. */
  cleaned(): void {
    this.#isSettled = this.isSettled;
    this.#remains = "nothing";
    this.#notices = [];
  }

  /** Asks a question of our own. */
  async rows<Row extends QueryResultRow>(statement: string, values: readonly unknown[] = []): Promise<Row[]> {
    return (await this.client.query<Row>(statement, [...values])).rows;
  }

  /**
   * Waits for what the session runs, and stops it when `signal` aborts: a CancelRequest, and where that does not help,
   * the end of the connection. It is not used again afterwards.
   */
  async stoppable<Value>(work: Promise<Value>, signal: AbortSignal): Promise<Value> {
    let timer: NodeJS.Timeout | undefined;
    const stop = () => {
      this.cancel();
      timer = setTimeout(() => this.cut(), CANCEL_PATIENCE_MS);
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

  /** Asks the server to stop what the session runs; the session is not used again. */
  cancel(): void {
    this.spoil();
    if (this.#session === undefined) this.cut();
    else void sendCancel(this.#session);
  }

  /** Ends the connection at once, whatever it does. */
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
 * Connects: every address in turn, with and without TLS as its sslmode says, then asks who is connected.
 *
 * @param tunnel the way to the addresses, where they are not reached from here.
 * @throws ToolError `unavailable` that says why; never with a password.
 */
export async function openLink(target: Target, tunnel?: Tunnel): Promise<Link> {
  // The second round of prefer-standby takes what is there.
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

/** Whether a server is what `target_session_attrs` wants (libpq). */
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
  // Loaded with the first connection: a host that only lists tools does not wait for it.
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
    // It is connecting already: pg would connect it to the host, whose name it keeps for TLS.
    ...(through === undefined
      ? {}
      : { stream: () => Object.assign(through(), { connect: () => undefined }) }),
  });
  let key: { processID: number; secretKey: number } | undefined;
  client.connection.once("backendKeyData", (data: { processID: number; secretKey: number }) => {
    key = data;
  });
  // An error after connecting is noticed by whoever uses the connection next.
  client.on("error", () => undefined);
  await client.connect();
  const session =
    key === undefined
      ? undefined
      : {
          host,
          port,
          through,
          attempt,
          directTls: target.directTls,
          processId: key.processID,
          secretKey: key.secretKey,
        };
  return introduce(client, session);
}

/** Makes a link of a connected client. */
export async function introduce(client: Client, session: Session | undefined): Promise<Link> {
  watchFrames(client.connection.stream);
  try {
    const [role] = (await client.query<RoleFacts & QueryResultRow>(ROLE_QUERY)).rows;
    if (role === undefined) throw new Error("the server did not say who is connected");
    return new Link(client, role, session);
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
    `The server asks for a password of ${target.label}, and none is configured.${problem === undefined ? "" : ` ${problem}`}`,
    {
      hint: "Put it into the URL (DATABASE_URL in the host's env), PGPASSWORD or ~/.pgpass.",
    },
  );
}
