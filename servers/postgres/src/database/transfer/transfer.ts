import { pipeline } from "node:stream/promises";
import type { PathGuard, ReadHandle } from "@refmcp/boundary";
import { ToolError } from "@refmcp/boundary/answer";
import {
  type Calling,
  csvHeader,
  type ExportFormat,
  lossAction,
  type NewFile,
  quoteIdentifier,
  withNear,
  writeNewFile,
} from "@refmcp/sql";
import type { Connection, Submittable } from "pg";
import type { Database, Session, Work } from "../connection/database.ts";
import { passReading } from "../gate/read-gate.ts";
import { parseSql } from "../gate/syntax.ts";
import { findTable, type TableName } from "../reading/describe.ts";
import {
  AT_LAST,
  changedProtection,
  PROTECTION_CHANGED,
  touched,
  without,
} from "../writing/losses.ts";
import { settle, startOf } from "../writing/settle.ts";

/** Enough bytes for 1,600 columns with the longest names that PostgreSQL allows. */
const MAX_HEADER = 262_144;

export interface Export extends Work {
  readonly query: string;
  readonly path: string;
  readonly format: ExportFormat;
  progress(rowsBytes: number): void;
}

/**
 * Writes the rows of a SELECT to a file inside the boundary with COPY TO STDOUT: nothing is written on the database
 * host.
 *
 * @throws ToolError from the gate, PostgreSQL or the boundary; no file is left then.
 */
export async function exportRows(
  database: Database,
  guard: PathGuard,
  { query, path, format, progress, ...work }: Export,
): Promise<NewFile & { rows: number }> {
  const { kind, mentions } = await passReading(query);
  if (kind !== "select")
    throw new ToolError("invalid", "Only the rows of a SELECT can be exported.");
  const { statement, offset } = await copying(query, format);
  const { value, ...file } = await writeNewFile(guard, path, (write) =>
    database.work({ ...work, isTransfer: true, sql: query, offset }, async (session) => {
      await database.functions.requireHarmless(session, mentions);
      let bytes = 0;
      const take = async (piece: Buffer) => {
        await write(piece);
        bytes += piece.length;
        progress(bytes);
      };
      const copy = new CopyOut(statement, take, session.progressed);
      const rows = await session.connection.client.query(copy).done;
      // The cancellation may have come too late for the server, but not for the file.
      session.signal.throwIfAborted();
      return rows;
    }),
  );
  return { ...file, rows: value };
}

/**
 * The COPY of a query, and how many characters precede the query.
 *
 * @throws ToolError `invalid` unless the composed statement is one COPY of one reading query
 */
async function copying(query: string, format: ExportFormat) {
  // The gate saw one SELECT. A trailing semicolon would end it inside the parentheses, a trailing comment would hide one.
  const inner = `(${query.replace(/;\s*$/, "")}\n)`;
  // to_jsonb writes one line, which can't contain either of the two control characters.
  const statement =
    format === "csv"
      ? `COPY ${inner} TO STDOUT WITH (FORMAT csv, HEADER true, ENCODING 'UTF8')`
      : `COPY (SELECT pg_catalog.to_jsonb(r)::text FROM ${inner} r) TO STDOUT WITH (FORMAT csv, QUOTE E'\\x01', DELIMITER E'\\x02', ENCODING 'UTF8')`;
  const { stmts = [] } = await parseSql(statement);
  const [only] = stmts;
  if (stmts.length !== 1 || only?.stmt === undefined || !("CopyStmt" in only.stmt))
    throw new ToolError("invalid", "The query can't be used in a COPY.", {
      hint: "Pass one plain SELECT.",
    });
  return { statement, offset: statement.indexOf(inner) + 1 };
}

export interface Import {
  readonly path: string;
  readonly table: string;
  readonly schema?: string | undefined;
  readonly delimiter: string;
  /** Text that means NULL; default: an empty field without quotes. */
  readonly nullText: string;
  readonly dryRun: boolean;
}

/**
 * Loads a CSV file with a header line, inside the boundary, into a table in one transaction: all rows or none.
 *
 * @throws ToolError `not_found` with similar names for a table or column; PostgreSQL's error with the line.
 */
export async function importCsv(
  database: Database,
  guard: PathGuard,
  { path, table, schema, delimiter, nullText, dryRun }: Import,
  call: Omit<Calling, "budget">,
) {
  const file = await guard.openFile(path);
  try {
    const columns = await headerOf(file.handle, file.path, delimiter);
    const { size } = file.stat;
    return await database.change({ signal: call.signal, isTransfer: true }, async (session) => {
      const target = await tableOf(session, { table, schema });
      requireColumns(columns, target.columns, target.name);
      const list = columns.map(quoteIdentifier).join(", ");
      const literal = (text: string) => `'${text.replaceAll("'", "''")}'`;
      const reached = { mentions: [`relation ${target.relation}`] as const, blocks: [] };
      await database.functions.requireUndoable(session, reached, dryRun);
      const earlier = await touched(session);
      const { locatable: _, ...begun } = await startOf(database, session, []);
      const { default: copyStreams } = await import("pg-copy-streams");
      const stream = session.connection.client.query(
        copyStreams.from(
          `COPY ${target.name} (${list}) FROM STDIN WITH (FORMAT csv, HEADER true, DELIMITER ${literal(delimiter)}, NULL ${literal(nullText)}, ENCODING 'UTF8')`,
        ),
      );
      const source = file.handle.createReadStream({ start: 0, autoClose: false });
      source.on("data", () => {
        session.progressed();
        call.progress(source.bytesRead, size, "bytes read");
      });
      source.on("end", () => session.progressed(true));
      await pipeline(source, stream, { signal: session.signal });
      const now = await touched(session, AT_LAST);
      const { changeId } = await settle(database, session, {
        statements: [`pg_import_csv of ${file.path} into ${target.name}`],
        tables: without(now.tables, earlier.tables),
        weakened: (await changedProtection(session, earlier, now)) ? [PROTECTION_CHANGED] : [],
        places: { created: new Map(), deleted: new Map() },
        ...begun,
        dryRun,
        confirm: (loss) => call.confirm(loss, lossAction(loss)),
      });
      const facts = {
        table: target.name,
        rows: stream.rowCount,
        columns,
        bytes: size,
        committed: !dryRun,
      };
      return {
        ...facts,
        ...(changeId === undefined
          ? {}
          : { change_id: changeId, note: database.changes?.copyNote }),
      };
    });
  } finally {
    await file.handle.close();
  }
}

/** The column names in the first line of a CSV file, which PostgreSQL skips. */
async function headerOf(handle: ReadHandle, path: string, delimiter: string): Promise<string[]> {
  const buffer = Buffer.alloc(MAX_HEADER);
  const { bytesRead } = await handle.read(buffer, 0, MAX_HEADER, 0);
  const start = buffer.subarray(0, bytesRead);
  // PostgreSQL skips the first line, even an empty one.
  const isBlank = /^(\ufeff)?[\r\n]/.test(start.toString("utf8", 0, 8));
  const columns = isBlank ? [] : csvHeader(start, bytesRead < MAX_HEADER, path, delimiter);
  if (columns.length === 0 || columns.some((name) => name === "" || /[\0\ufffd]/.test(name)))
    throw badHeader(path, "does not begin with a line of column names");
  const repeated = columns.find((name, index) => columns.indexOf(name) !== index);
  if (repeated !== undefined)
    throw badHeader(path, `names the column ${JSON.stringify(repeated.slice(0, 63))} twice`);
  return columns;
}

function badHeader(path: string, what: string): ToolError {
  return new ToolError("invalid", `${JSON.stringify(path)} ${what}.`, {
    hint: "Use a UTF-8 CSV file whose first line names columns of the table; set delimiter for ; or tabs.",
  });
}

async function tableOf(session: Session, named: TableName) {
  const create = "Create it first with pg_execute and CREATE TABLE.";
  const { oid } = await findTable(session, named, "'r','p','f','v'", create);
  const [found] = await session.rows<{ name: string; relation: string; columns: string[] }>(
    `SELECT pg_catalog.quote_ident(n.nspname) || '.' || pg_catalog.quote_ident(c.relname) AS name, c.relname::text AS relation,
       ARRAY(SELECT attname::text FROM pg_catalog.pg_attribute WHERE attrelid = c.oid AND attnum > 0 AND NOT attisdropped AND attgenerated = '' ORDER BY attnum) AS columns
     FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace WHERE c.oid = $1::text::oid`,
    [oid],
  );
  return found ?? { name: named.table, relation: named.table, columns: [] };
}

function requireColumns(given: readonly string[], known: readonly string[], table: string): void {
  const unknown = given.find((name) => !known.includes(name));
  if (unknown === undefined) return;
  const hint = `The first line of the file must name columns of ${table}: ${known.join(", ")}. Set delimiter for ; or tabs.`;
  throw withNear("column", unknown, known, hint);
}

/** There is a message for each row, too small for a separate write. */
const PIECE = 262_144;
/** Above this many unwritten bytes the socket is paused. */
const HIGH_BYTES = 4 * 1_048_576;

interface Settle {
  resolve(rows: number): void;
  reject(error: unknown): void;
}

/**
 * Runs COPY … TO STDOUT over the extended protocol and passes on its bytes, with backpressure.
 */
class CopyOut implements Submittable {
  /** Resolves with the number of rows when every byte was consumed. */
  readonly done: Promise<number>;
  readonly #text: string;
  readonly #take: (piece: Buffer) => Promise<void>;
  readonly #received: () => void;
  #piece = Buffer.allocUnsafe(PIECE);
  #filled = 0;
  #connection: Connection | undefined;
  #queue: Promise<void> = Promise.resolve();
  #waiting = 0;
  #rows = 0;
  #failure: unknown;
  #settle: Settle = { resolve: () => undefined, reject: () => undefined };

  /** @param received called with every row */
  constructor(text: string, take: (piece: Buffer) => Promise<void>, received: () => void) {
    this.#text = text;
    this.#take = take;
    this.#received = received;
    this.done = new Promise<number>((resolve, reject) => {
      this.#settle = { resolve, reject };
    });
  }

  submit(connection: Connection): void {
    this.#connection = connection;
    connection.parse({ name: "", text: this.#text, types: [] }, true);
    connection.bind({ portal: "", statement: "", values: [] }, true);
    connection.execute({ portal: "" }, true);
    connection.sync();
  }

  handleCopyData({ chunk }: { chunk: Buffer }): void {
    if (this.#failure !== undefined) return;
    this.#received();
    if (this.#filled + chunk.length > PIECE) this.#flush();
    // The parser reuses its buffer.
    if (chunk.length > PIECE) this.#write(Buffer.from(chunk));
    else this.#filled += chunk.copy(this.#piece, this.#filled);
  }

  #flush(): void {
    const piece = this.#piece.subarray(0, this.#filled);
    this.#piece = Buffer.allocUnsafe(PIECE);
    this.#filled = 0;
    if (piece.length > 0) this.#write(piece);
  }

  #write(own: Buffer): void {
    this.#waiting += own.length;
    if (this.#waiting > HIGH_BYTES) this.#connection?.stream.pause();
    this.#queue = this.#queue.then(async () => {
      if (this.#failure === undefined) await this.#take(own);
      this.#waiting -= own.length;
      if (this.#waiting <= HIGH_BYTES) this.#connection?.stream.resume();
    });
    this.#queue.catch((error: unknown) => {
      // The disk is full, for example: the rest is useless.
      this.#failure ??= error;
      this.#connection?.stream.destroy();
    });
  }

  handleCommandComplete({ text }: { text: string }): void {
    this.#rows = Number(/(\d+)$/.exec(text)?.[1] ?? 0);
  }

  handleReadyForQuery(): void {
    this.#flush();
    this.#queue.then(
      () => this.#settle.resolve(this.#rows),
      (error: unknown) => this.#settle.reject(error),
    );
  }

  handleError(error: unknown): void {
    // The Sync that was already sent ends the failed statement.
    this.#failure ??= error;
    this.#settle.reject(this.#failure);
  }

  handleRowDescription(): void {}
  handleDataRow(): void {}
  handlePortalSuspended(): void {}
  handleEmptyQuery(): void {}
}
