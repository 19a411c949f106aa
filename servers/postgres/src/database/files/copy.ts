import { pipeline } from "node:stream/promises";
import { ToolError } from "@refmcp/boundary/answer";
import { type CopyIn, type CopyOut, quoteIdentifier, shownImport } from "@refmcp/sql";
import {
  AT_LAST,
  changedProtection,
  PROTECTION_CHANGED,
  type Touched,
  touched,
  without,
} from "../change/losses.ts";
import { settle, startOf } from "../change/settle.ts";
import { rowsOf } from "../change/tables.ts";
import type { Session, Sessions } from "../driver/sessions.ts";
import { passReading } from "../gate/read.ts";

/** Bytes that are written at once: there is a message for each row. */
const PIECE = 262_144;
/** An import of a larger file is not recorded, in bytes. */
const MAX_RECORDED_FILE = 8 * 1_048_576;

/**
 * Writes the rows of a SELECT with COPY TO STDOUT: nothing is written on the database host.
 *
 * @throws ToolError from the gate or PostgreSQL, and what `write` throws
 */
export async function copyOut(
  sessions: Sessions,
  { sql, signal, write }: CopyOut,
): Promise<number> {
  const { kind, mentions } = await passReading(sql);
  if (kind !== "select")
    throw new ToolError("invalid", "Only the rows of a SELECT can be exported.");
  // The gate saw one SELECT: neither a semicolon nor a parenthesis in it ends the COPY, and a comment ends with its line.
  const [before, inner] = ["COPY (", sql.replace(/;\s*$/, "")];
  const statement = `${before}${inner}\n) TO STDOUT WITH (FORMAT csv, HEADER true, ENCODING 'UTF8')`;
  const work = { signal, isTransfer: true, sql, offset: before.length };
  return await sessions.work(work, async (session) => {
    const { connection } = session;
    connection.leavesNothing = await sessions.functions.requireHarmless(session.look, mentions);
    const { default: copyStreams } = await import("pg-copy-streams");
    return await connection.unlimited(async () => {
      const stream = connection.client.query(copyStreams.to(statement));
      try {
        await writeAll(stream, write, session.progressed);
      } catch (error) {
        // The rest of the rows is useless after any failure.
        connection.destroy();
        throw error;
      }
      return stream.rowCount;
    });
  });
}

/** Writes what comes in larger pieces. */
async function writeAll(
  source: AsyncIterable<Buffer>,
  write: CopyOut["write"],
  progressed: () => void,
): Promise<void> {
  let waiting: Buffer[] = [];
  let bytes = 0;
  for await (const piece of source) {
    progressed();
    waiting.push(piece);
    bytes += piece.length;
    if (bytes < PIECE) continue;
    await write(Buffer.concat(waiting));
    waiting = [];
    bytes = 0;
  }
  await write(Buffer.concat(waiting));
}

/**
 * Loads a CSV file with a header line into a table in one transaction: all rows or none.
 *
 * @param identity what the record of changes knows the database by
 * @throws ToolError PostgreSQL's error with the line
 */
export async function copyIn(
  sessions: Sessions,
  identity: string,
  { relation, columns, path, delimiter, bytes, progress, ...job }: CopyIn,
): Promise<{ rows: number; changeId?: string | undefined }> {
  const { signal, dryRun, size } = job;
  return await sessions.change({ signal, isTransfer: true }, async (session) => {
    const mode = dryRun ? "dry run" : "change";
    const mentions = [`name ${relation.name}`] as const;
    await sessions.functions.requireHarmless(session.lookInside, mentions, mode);
    const earlier = await touched(session);
    const start = await startOf(session, [relation.written]);
    const list = columns.map(quoteIdentifier).join(", ");
    const { default: copyStreams } = await import("pg-copy-streams");
    const stream = session.connection.client.query(
      copyStreams.from(
        `COPY ${relation.written} (${list}) FROM STDIN WITH (FORMAT csv, HEADER true, DELIMITER '${delimiter.replace("'", "''")}', ENCODING 'UTF8')`,
      ),
    );
    const source = async function* () {
      let read = 0;
      for await (const piece of bytes()) {
        session.progressed();
        read += piece.length;
        progress(read);
        yield piece;
      }
      session.progressed(true);
    };
    await pipeline(source, stream, { signal: session.signal });
    const now = await touched(session, AT_LAST);
    const isWeakened = await changedProtection(session, earlier, now);
    const tables = without(now.tables, earlier.tables);
    const isRecorded = size <= MAX_RECORDED_FILE && start.locatable.length > 0;
    const outcome = {
      ...start,
      identity,
      statements: [shownImport(path, relation.written)],
      tables,
      places: {
        created: isRecorded ? await addedRows(session, relation, tables) : new Map(),
        deleted: new Map(),
      },
      weakened: isWeakened ? [PROTECTION_CHANGED] : [],
    };
    const { changeId } = await settle(sessions, session, outcome, job);
    return { rows: stream.rowCount, changeId };
  });
}

/** Where an import has added rows, by table: those that this transaction made. */
async function addedRows(
  session: Session,
  { id, written }: CopyIn["relation"],
  tables: Touched["tables"],
) {
  const places = new Map<string, string[]>();
  if (tables.every((table) => table.id !== id)) return places;
  const text = `SELECT t.ctid FROM ONLY ${written} t
    WHERE t.xmin = pg_catalog.pg_current_xact_id()::xid`;
  const rows = await rowsOf(session, text);
  const added = rows.map(([place]) => place ?? "");
  return places.set(id, added);
}
