import { setImmediate } from "node:timers/promises";
import { ToolError } from "@refmcp/boundary/answer";
import type { Ahead, Reading, ResultWindow } from "@refmcp/sql";
import { rowWriter } from "@refmcp/sql/formats";
import { passReading } from "../gate/read.ts";
import { type Batch, type Caps, PortalQuery, type Statement } from "./portal.ts";
import type { Session, Sessions } from "./sessions.ts";
import { paramsOf, type Row } from "./values.ts";

const PORTAL = "refmcp_result";
/** Rows to encode before other calls get a turn. */
const ROWS_AT_ONCE = 2_000;

/** PostgreSQL's notices, shortened. */
export const remarks = (all: readonly string[]) =>
  all.map((notice) => notice.slice(0, 300)).slice(0, 5);

/**
 * Reads a window of a statement's result in a transaction that has ended when this resolves.
 *
 * @throws ToolError from the gate, PostgreSQL or the limits.
 */
export async function readAhead(
  sessions: Sessions,
  { sql, params, signal, timeoutMs, format, cellBytes }: Reading,
  { skip, ...ahead }: Ahead,
): Promise<ResultWindow> {
  const caps = {
    chars: ahead.chars,
    enough: { rows: ahead.rows + (skip > 0 ? 1 : 0), ms: ahead.ms },
  };
  const { pageable, mentions } = await passReading(sql);
  if (skip > 0 && !pageable)
    throw new ToolError(
      "conflict",
      "The rest of this result is no longer in memory, and this statement can't be resumed.",
      { hint: "Omit cursor to start again." },
    );
  const { functions } = sessions;
  const work = { signal, timeoutMs, sql, isJudged: functions.judgesAll };
  const { batch, notices } = await sessions.workInOne(work, async (session) => {
    const opening = session.takeOpening();
    const isOpen = await functions.requireHarmless(session, mentions, opening?.statements);
    if (isOpen) opening?.opened?.();
    const statement = {
      text: sql,
      params: paramsOf(params),
      opening: isOpen ? undefined : opening,
    };
    const rows =
      skip === 0
        ? await session.query(statement, caps)
        : await skipped(session, { ...statement, portal: PORTAL }, skip, caps);
    return { batch: rows, notices: session.connection.takeNotices() };
  });
  const { fields, rows, more } = batch;
  // In a separate transaction: a statement that was cancelled for exceeding the cap leaves one that is aborted.
  const { columns, decoded } = await sessions.types.columnsOf(fields, (statement, values) =>
    sessions.rows({ signal, timeoutMs }, statement, values),
  );
  const names = columns.map(({ name }) => name);
  const writer = rowWriter(format, names, cellBytes);
  const pieces: string[] = [];
  const cuts = new Set<number>();
  const cut = { count: 0 };
  // CSV is PostgreSQL's own text, as pg_export writes it and pg_import_csv reads it.
  const written = (row: Row) => writer.write(format === "csv" ? row : decoded(row), cut);
  const [first] = rows;
  const before = skip > 0 && first !== undefined ? written(first) : undefined;
  for (const row of skip > 0 ? rows.slice(1) : rows) {
    cut.count = 0;
    pieces.push(written(row));
    if (cut.count > 0) cuts.add(pieces.length - 1);
    if (pieces.length % ROWS_AT_ONCE === 0) await setImmediate();
  }
  return { columns, pieces, cuts, before, more, notices: remarks(notices) };
}

/** The rows from the one before `skip` on; the server skips earlier ones. */
async function skipped(
  session: Session,
  statement: Statement,
  skip: number,
  caps: Caps,
): Promise<Batch> {
  const { fields } = await session.query(statement, { chars: 0 });
  if (skip > 1) await session.run(`MOVE FORWARD ${skip - 1} IN ${PORTAL}`);
  const rest = { ...caps, min: 2 };
  const { connection } = session;
  const resumed = PortalQuery.resume(PORTAL, fields, rest, () => connection.cancel());
  return await resumed.run(connection.client);
}
