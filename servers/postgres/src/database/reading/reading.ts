import { setImmediate } from "node:timers/promises";
import { ToolError } from "@refmcp/boundary/answer";
import type { Ahead, Format, ResultWindow } from "@refmcp/sql";
import { rowWriter } from "@refmcp/sql/formats";
import type { Database, Session, Work } from "../connection/database.ts";
import { type Batch, type Caps, PortalQuery, type Row } from "../driver/portal.ts";
import { paramsOf } from "../driver/values.ts";
import { passReading } from "../gate/read-gate.ts";

export interface Question extends Pick<Work, "signal" | "timeoutMs"> {
  readonly sql: string;
  readonly params: readonly unknown[];
  readonly format: Format;
  /** Longer values are truncated to this many bytes. */
  readonly cellBytes: number;
}

const PORTAL = "refmcp_result";
/** Rows to encode before other calls get a turn. */
const ROWS_AT_ONCE = 2_000;

/**
 * Reads a window of a statement's result in a transaction that has ended when this resolves.
 *
 * @throws ToolError from the gate, PostgreSQL or the limits.
 */
export async function readAhead(
  database: Database,
  question: Question,
  { skip, ...ahead }: Ahead,
): Promise<ResultWindow> {
  const caps = { chars: ahead.chars, enough: { rows: ahead.rows + (skip > 0 ? 1 : 0), ms: ahead.ms } };
  const { sql, signal, timeoutMs, format, cellBytes } = question;
  const { pageable, calls } = await passReading(sql);
  if (skip > 0 && !pageable)
    throw new ToolError(
      "conflict",
      "The rest of this result is no longer in memory, and this statement can't be resumed.",
      {
        hint: "Omit cursor to start again.",
      },
    );
  const { functions } = database;
  const run = async (session: Session) => {
    const guards = skip > 0 ? undefined : functions.guards(calls);
    if (guards === undefined) {
      await session.open();
      await functions.requireHarmless(session.link, calls);
    }
    const statement = { text: sql, params: paramsOf(question.params), opening: session.takeOpening(guards) };
    const read =
      skip === 0
        ? await new PortalQuery(statement, caps, () => session.link.cancel()).run(session.link.client)
        : await skipped(session, { ...statement, portal: PORTAL }, skip, caps);
    return { batch: read, notices: session.link.takeNotices() };
  };
  const work = { signal, timeoutMs, sql };
  const { batch, notices } = await database.workInOne(work, run).catch((error: unknown) => {
    if (functions.isRedeclared(error)) return database.workInOne(work, run);
    throw error;
  });
  const { fields, rows, more } = batch;
  const { types } = database;
  // In a separate transaction: a statement that was cancelled for exceeding the cap leaves one that is aborted.
  await types.learn(
    fields.map(({ dataTypeID }) => dataTypeID),
    (statement, values) => database.work({ signal, timeoutMs }, ({ link }) => link.rows(statement, values)),
  );
  const columns = fields.map(({ name, dataTypeID }) => ({ name, type: types.of(dataTypeID).name }));
  const decoders = fields.map(({ dataTypeID }) => types.decoderOf(dataTypeID));
  const writer = rowWriter(
    format,
    columns.map(({ name }) => name),
    cellBytes,
  );
  const pieces: string[] = [];
  const cuts = new Set<number>();
  const cut = { count: 0 };
  // CSV is PostgreSQL's own text, as pg_export writes it and pg_import_csv reads it.
  const written = (row: Row) =>
    writer.write(format === "csv" ? row : row.map((cell, at) => decoders[at]?.(cell)), cut);
  const [first] = rows;
  const before = skip > 0 && first !== undefined ? written(first) : undefined;
  for (const row of skip > 0 ? rows.slice(1) : rows) {
    cut.count = 0;
    pieces.push(written(row));
    if (cut.count > 0) cuts.add(pieces.length - 1);
    if (pieces.length % ROWS_AT_ONCE === 0) await setImmediate();
  }
  return { columns, pieces, cuts, before, more, notices };
}

/** The rows from the one before `skip` on; the server skips earlier ones. */
async function skipped(
  { link }: Session,
  statement: ConstructorParameters<typeof PortalQuery>[0] & { readonly portal: string },
  skip: number,
  caps: Caps,
): Promise<Batch> {
  const { fields } = await new PortalQuery(statement, { chars: 0 }).run(link.client);
  if (skip > 1) await link.run(`MOVE FORWARD ${skip - 1} IN ${PORTAL}`);
  const rest = { ...caps, min: 2 };
  return await PortalQuery.resume(PORTAL, fields, rest, () => link.cancel()).run(link.client);
}
