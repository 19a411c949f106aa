import type { Connection, FieldDef, Submittable } from "pg";

/** How much of a result is taken. */
export interface Caps {
  readonly rows: number;
  /** Of the values' text, as it comes over the wire. */
  readonly bytes: number;
  /** Lets the statement run to its end although rows beyond the caps are not kept: for RETURNING of a change. */
  readonly toEnd?: boolean;
}

/** A value as PostgreSQL writes it, or null. */
export type Cell = string | null;

export interface Batch {
  readonly fields: readonly FieldDef[];
  readonly rows: readonly Row[];
  /** Why it stopped before the end: the caps; undefined where the result is complete. */
  readonly stopped: "rows" | "bytes" | undefined;
  /** Rows that came and did not fit: the next ones. */
  readonly leftover: readonly Row[];
  /** Whether the portal has no rows after those. */
  readonly finished: boolean;
  /** What the server says that it did: `DELETE 3`; undefined before the end. */
  readonly tag: string | undefined;
}

export type Row = readonly Cell[];

export interface Statement {
  readonly text: string;
  readonly params: readonly Param[];
  /** A named portal outlives this batch until its transaction ends. */
  readonly portal?: string;
}

/** A parameter: text, or a value whose text depends on the type that PostgreSQL inferred for it. */
export type Param = string | null | { encode(typeOid: number): string | null };

/** A first batch this large answers most questions in one round trip, and is small where rows are large. */
const FIRST_ROWS = 64;
const MOST_ROWS = 2_000;
/** What one batch may go over the cap before the server is told to stop. */
const OVERRUN_BYTES = 8 * 1_048_576;

/**
 * One statement over the extended protocol (PostgreSQL, "Message Flow"), so that a second statement in its text is a
 * syntax error on the server itself. Rows come in batches through a portal until a cap is met: rows beyond it are never
 * made. An error is always followed by Sync, without which the connection would hang.
 */
export class PortalQuery implements Submittable {
  readonly done: Promise<Batch>;
  readonly #statement: Statement;
  readonly #caps: Caps;
  readonly #tooMuch: () => void;
  readonly #rows: Row[] = [];
  #leftover: Row[] = [];
  #fields: readonly FieldDef[] = [];
  #bytes = 0;
  #stopped: "rows" | "bytes" | undefined;
  #finished = false;
  #tag: string | undefined;
  #failure: unknown;
  #connection: Connection | undefined;
  #start: (connection: Connection) => void = (connection) => this.#parse(connection);
  #settle: { resolve(batch: Batch): void; reject(error: unknown): void } = {
    resolve: () => undefined,
    reject: () => undefined,
  };

  /** @param tooMuch called once where a batch runs far over the cap; it should cancel the statement. */
  constructor(statement: Statement, caps: Caps, tooMuch: () => void) {
    this.#statement = statement;
    this.#caps = caps;
    this.#tooMuch = tooMuch;
    this.done = new Promise<Batch>((resolve, reject) => {
      this.#settle = { resolve, reject };
    });
  }

  /** Opens a named portal and fetches nothing from it. */
  static open(statement: Statement & { readonly portal: string }): PortalQuery {
    return new PortalQuery(statement, { rows: 0, bytes: 0 }, () => undefined);
  }

  /** Goes on with a named portal of this connection; `leftover` comes before what is in it. */
  static resume(
    portal: string,
    from: Pick<Batch, "fields" | "leftover">,
    caps: Caps,
    tooMuch: () => void,
  ): PortalQuery {
    const query = new PortalQuery({ text: "", params: [], portal }, caps, tooMuch);
    query.#fields = from.fields;
    query.#start = () => {
      for (const row of from.leftover) query.#take(row);
      query.handlePortalSuspended();
    };
    return query;
  }

  /** The next page where all rows of a result are here already. */
  static local(from: Pick<Batch, "fields" | "leftover">, caps: Caps): Batch {
    const query = new PortalQuery({ text: "", params: [] }, caps, () => undefined);
    query.#fields = from.fields;
    query.#finished = true;
    for (const row of from.leftover) query.#take(row);
    return query.#batch();
  }

  submit(connection: Connection): void {
    this.#connection = connection;
    this.#start(connection);
  }

  #parse(connection: Connection): void {
    const { text, params } = this.#statement;
    connection.parse({ name: "", text, types: [] }, true);
    if (params.some((param) => typeof param === "object" && param !== null)) {
      connection.once("parameterDescription", this.#onTypes);
      connection.describe({ type: "S", name: "" }, true);
      connection.flush();
    } else {
      this.#bind(params.map((param) => (typeof param === "string" ? param : null)));
    }
  }

  readonly #onTypes = ({ dataTypeIDs }: { dataTypeIDs: readonly number[] }): void => {
    try {
      this.#bind(
        this.#statement.params.map((param, index) =>
          typeof param === "object" && param !== null ? param.encode(dataTypeIDs[index] ?? 0) : param,
        ),
      );
    } catch (error) {
      this.#failure = error;
      this.#connection?.sync();
    }
  };

  #bind(values: (string | null)[]): void {
    const portal = this.#portal;
    this.#connection?.bind({ portal, statement: "", values }, true);
    this.#connection?.describe({ type: "P", name: portal }, true);
    if (this.#caps.rows === 0) this.#connection?.sync();
    else this.#execute(FIRST_ROWS);
  }

  get #portal(): string {
    return this.#statement.portal ?? "";
  }

  /** Asks for one row more than is wanted at the end, to know whether there is one. */
  #execute(most: number): void {
    const left = this.#caps.toEnd === true ? most : this.#caps.rows + 1 - this.#rows.length;
    const rows = Math.max(1, Math.min(most, left));
    // pg's types want a text here; a number is what goes over the wire.
    this.#connection?.execute({ portal: this.#portal, rows: String(rows) }, true);
    this.#connection?.flush();
  }

  handleRowDescription({ fields }: { fields: readonly FieldDef[] }): void {
    this.#fields = fields;
  }

  handleDataRow({ fields }: { fields: Cell[] }): void {
    this.#take(fields);
  }

  #take(row: Row): void {
    let size = 0;
    for (const cell of row) size += cell?.length ?? 0;
    const fits = this.#rows.length === 0 || this.#bytes + size <= this.#caps.bytes;
    if (this.#stopped === undefined && fits && this.#rows.length < this.#caps.rows) {
      this.#rows.push(row);
      this.#bytes += size;
      return;
    }
    this.#stopped ??= this.#rows.length >= this.#caps.rows ? "rows" : "bytes";
    if (this.#isTooMuch || this.#caps.toEnd === true) return;
    this.#bytes += size;
    this.#leftover.push(row);
    if (this.#bytes <= this.#caps.bytes + OVERRUN_BYTES) return;
    this.#bytes = Number.NEGATIVE_INFINITY;
    this.#leftover = [];
    this.#tooMuch();
  }

  /** The server was told to stop: what still comes is not kept, and its error is no failure. */
  get #isTooMuch(): boolean {
    return this.#bytes === Number.NEGATIVE_INFINITY;
  }

  handlePortalSuspended(): void {
    if (this.#stopped !== undefined) {
      if (this.#caps.toEnd === true) this.#execute(MOST_ROWS);
      else this.#connection?.sync();
      return;
    }
    const average = Math.max(1, this.#bytes / Math.max(1, this.#rows.length));
    const fitting = Math.ceil((this.#caps.bytes - this.#bytes) / average) + 1;
    this.#execute(Math.max(1, Math.min(fitting, MOST_ROWS)));
  }

  handleCommandComplete({ text }: { text: string }): void {
    this.#finished = true;
    this.#tag = text;
    this.#connection?.sync();
  }

  handleEmptyQuery(): void {
    this.#connection?.sync();
  }

  /** pg says nothing of ReadyForQuery after an error, so this is the end. */
  handleError(error: unknown): void {
    this.#connection?.removeListener("parameterDescription", this.#onTypes);
    this.#connection?.sync();
    // A statement that was cancelled for being too much has given its rows.
    if (!this.#isTooMuch) this.#failure ??= error;
    this.handleReadyForQuery();
  }

  handleReadyForQuery(): void {
    if (this.#failure !== undefined) this.#settle.reject(this.#failure);
    else this.#settle.resolve(this.#batch());
  }

  #batch(): Batch {
    return {
      fields: this.#fields,
      rows: this.#rows,
      stopped: this.#stopped,
      leftover: this.#leftover,
      finished: this.#finished,
      tag: this.#tag,
    };
  }

  handleCopyInResponse(connection: Connection): void {
    connection.stream.destroy(new Error("COPY came through the gate"));
  }

  handleCopyData(): void {}
}
