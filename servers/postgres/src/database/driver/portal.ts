import type { Client, Connection, FieldDef, Submittable } from "pg";
import { serialize } from "pg-protocol";
import type { Cell, Param, Row } from "./values.ts";

export interface Caps {
  /** Maximum characters of the values' text. */
  readonly chars: number;
  readonly rows?: number;
  /** Rows to keep at any size; default 1. */
  readonly min?: number;
  /** Let the statement finish although rows beyond the cap are dropped: for RETURNING. */
  readonly toEnd?: boolean;
  /** Takes the last two columns of every row. */
  readonly locate?: ((columns: Row) => void) | undefined;
}

export interface Batch {
  readonly fields: readonly FieldDef[];
  readonly rows: readonly Row[];
  readonly more: boolean;
  /** The server's command tag, such as `DELETE 3`; undefined if it did not finish. */
  readonly tag: string | undefined;
}

export interface Statement {
  readonly text: string;
  readonly params: readonly Param[];
  /** Our own statements before it, in the same packet: after a failure, the server skips the rest. */
  readonly before?: readonly string[];
  /** A named portal, which stays open until its transaction ends. */
  readonly portal?: string;
  /** Our own statements between binding, when its names are resolved, and running it; they need a named portal. */
  readonly bound?: readonly string[];
  /** Our own statements after it, in the same packet if all its rows come at once. */
  readonly after?: readonly string[];
  /** The names of prepared statements by their text; it becomes one of them. */
  readonly prepared?: Map<string, string> | undefined;
}

/** Enough for most questions in one round trip, and still small if rows are large. */
const FIRST_ROWS = 64;
const MAX_ROWS = 2_000;
/** As many rows come at once if the transaction ends with them. */
const LAST_ROWS = 256;
/** How far one batch may exceed the cap before it is cancelled. */
const OVERRUN_CHARS = 8 * 1_048_576;

/** Serialized messages: nearly every call begins with the same statements. */
const serialized = new Map<string, Buffer>();
const MAX_WRITTEN = 100;

/**
 * Our own statements, without parameters, as messages of the extended protocol. There is no Sync between them, so the
 * server skips everything after a failure: a statement that follows runs in their transaction or not at all.
 */
function messagesOf(statements: readonly string[]): Buffer {
  const key = statements.join(";");
  const each = (text: string) => [serialize.parse({ text }), serialize.bind(), serialize.execute()];
  const messages = serialized.get(key) ?? Buffer.concat(statements.flatMap(each));
  if (serialized.size >= MAX_WRITTEN) serialized.clear();
  serialized.set(key, messages);
  return messages;
}

/**
 * One statement over the extended protocol (PostgreSQL, "Message Flow"), so that a second statement in its text is a
 * syntax error on the server itself. Rows come in batches through a portal until a cap is reached; rows beyond it are
 * never computed. An error is always followed by Sync, without which the connection would hang.
 *
 * Not pg-cursor: it binds at once, and a statement of the user has to be bound under the user's search path while our own, in
 * the same packet, are resolved under that of pg_catalog (CVE-2018-1058); it also reads a batch before it can be too large.
 */
export class PortalQuery implements Submittable {
  readonly #statement: Statement;
  readonly #caps: Caps;
  readonly #tooMuch: (() => void) | undefined;
  readonly #rows: Row[] = [];
  #fields: readonly FieldDef[] = [];
  #chars = 0;
  /** Our own statements that have not completed yet. */
  #before = 0;
  #isDropping = false;
  /** Whether `after` was sent, too. */
  #isLast = false;
  #isSuspended = false;
  /** Whether the server answered: the connection was not lost before. */
  hasBegun = false;
  /** Whether Sync was sent, which the server always answers with ReadyForQuery. */
  #isSynced = false;
  /** Rows to fetch from the open portal once the server is ready. */
  #next: number | undefined;
  #tag: string | undefined;
  #failure: unknown;
  #client: Client | undefined;
  #connection: Connection | undefined;
  #settle: { resolve(batch: Batch): void; reject(error: unknown): void } | undefined;

  /** @param tooMuch called once if a batch far exceeds the cap; it should cancel the statement. */
  constructor(statement: Statement, caps: Caps, tooMuch?: () => void) {
    this.#statement = statement;
    this.#caps = caps;
    this.#tooMuch = tooMuch;
  }

  run(client: Client): Promise<Batch> {
    this.#client = client;
    return new Promise((resolve, reject) => {
      this.#settle = { resolve, reject };
      client.query(this);
    });
  }

  submit(connection: Connection): void {
    this.#connection = connection;
    this.#isSynced = false;
    const next = this.#next;
    this.#next = undefined;
    if (next !== undefined) this.#fetch(next);
    else this.#begin();
  }

  #send(...messages: readonly Buffer[]): void {
    this.#connection?.stream.write(Buffer.concat(messages));
  }

  #sync(): void {
    if (this.#isSynced) return;
    this.#isSynced = true;
    this.#send(serialize.sync());
  }

  /** Fetches rows from the open portal, waiting until the server is ready if Sync was sent. */
  #fetch(rows: number): void {
    if (this.#isSynced) this.#next = rows;
    else this.#send(serialize.execute({ portal: this.#portal, rows }), serialize.flush());
  }

  #begin(): void {
    const { text, params, before = [], bound = [], prepared } = this.#statement;
    this.#before = before.length + bound.length;
    const parsing = [messagesOf(before)];
    if (prepared?.has(text) !== true) {
      prepared?.set(text, `refmcp_${prepared.size}`);
      parsing.push(serialize.parse({ text, name: prepared?.get(text) ?? "" }));
    }
    if (params.some((param) => typeof param === "object" && param !== null)) {
      this.#connection?.once("parameterDescription", this.#onTypes);
      this.#send(...parsing, serialize.describe({ type: "S" }), serialize.flush());
    } else this.#bind([], parsing);
  }

  readonly #onTypes = ({ dataTypeIDs }: { dataTypeIDs: readonly number[] }): void => {
    try {
      this.#bind(dataTypeIDs, []);
    } catch (error) {
      this.#failure = error;
      this.#sync();
    }
  };

  /** Sends the rest with the first fetch and Sync in one packet: most results need one round trip only. */
  #bind(types: readonly number[], before: readonly Buffer[]): void {
    const portal = this.#portal;
    const { rows = FIRST_ROWS, toEnd = false } = this.#caps;
    const { text, params, bound = [], after = [], prepared } = this.#statement;
    this.#isLast = after.length > 0 && rows <= LAST_ROWS;
    const values = params.map((param, index) =>
      typeof param === "object" && param !== null ? param.encode(types[index] ?? 0) : param,
    );
    this.#isSynced = true;
    this.#send(
      ...before,
      serialize.bind({ portal, values, statement: prepared?.get(text) ?? "" }),
      serialize.describe({ type: "P", name: portal }),
      messagesOf(bound),
      // All at once: the command tag would count only the last batch.
      serialize.execute({
        portal,
        rows: toEnd ? 0 : Math.min(this.#isLast ? LAST_ROWS : FIRST_ROWS, rows),
      }),
      ...(toEnd && portal !== "" ? [serialize.close({ type: "P", name: portal })] : []),
      ...(this.#isLast ? [messagesOf(after)] : []),
      serialize.sync(),
    );
  }

  /** Whether what comes after it has run, too. */
  get isOver(): boolean {
    return this.#isLast && this.#failure === undefined && !this.#isDropping;
  }

  get #portal(): string {
    return this.#statement.portal ?? "";
  }

  handleRowDescription({ fields }: { fields: readonly FieldDef[] }): void {
    this.#fields = fields;
  }

  handleDataRow({ fields }: { fields: Cell[] }): void {
    if (this.#before > 0 || this.#tag !== undefined) return;
    const { chars, min = 1, toEnd = false, locate } = this.#caps;
    locate?.(fields.splice(-2));
    if (locate !== undefined && fields.length === 0) return;
    // Rows already received are kept beyond the cap, since the next page begins with them, but only up to a limit.
    const max = toEnd ? chars : chars + OVERRUN_CHARS;
    if (this.#isDropping || (this.#chars > max && this.#rows.length >= min)) {
      if (!this.#isDropping && !toEnd) this.#tooMuch?.();
      this.#isDropping = true;
      return;
    }
    this.#rows.push(fields);
    for (const cell of fields) this.#chars += cell?.length ?? 0;
  }

  handlePortalSuspended(): void {
    this.#isSuspended = true;
    if (this.#isLast) return;
    const { chars, min = 1, rows = Number.POSITIVE_INFINITY } = this.#caps;
    const space = chars - this.#chars;
    const count = this.#rows.length;
    if (count >= rows || (space <= 0 && count >= min)) {
      this.#sync();
      return;
    }
    const fitting = Math.ceil((space / Math.max(1, this.#chars)) * count);
    this.#fetch(Math.max(1, Math.min(fitting, rows - count, MAX_ROWS)));
  }

  handleCommandComplete({ text }: { text: string }): void {
    if (this.#before > 0) {
      this.#before -= 1;
      this.hasBegun = true;
      return;
    }
    if (!this.#isLast || !this.#isSuspended) this.#tag ??= text;
    this.#sync();
  }

  handleEmptyQuery(): void {
    this.#sync();
  }

  /** pg does not report ReadyForQuery after an error, so this is the end. */
  handleError(error: unknown): void {
    this.#connection?.removeListener("parameterDescription", this.#onTypes);
    this.#next = undefined;
    this.#sync();
    // A statement cancelled for exceeding the cap has delivered its rows.
    if (!this.#isDropping || this.#caps.toEnd === true) this.#failure ??= error;
    this.handleReadyForQuery();
  }

  handleReadyForQuery(): void {
    if (this.#failure !== undefined) this.#settle?.reject(this.#failure);
    else if (this.#next !== undefined) this.#client?.query(this);
    else
      this.#settle?.resolve({
        fields: this.#fields,
        rows: this.#rows,
        more: this.#isDropping || this.#tag === undefined,
        tag: this.#tag,
      });
  }

  handleCopyInResponse(connection: Connection): void {
    connection.stream.destroy(new Error("COPY passed the gate"));
  }

  handleCopyData(): void {}
}
