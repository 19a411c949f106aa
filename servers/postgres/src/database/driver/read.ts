import { setImmediate } from "node:timers/promises";
import type { Page, Reading, ResultWindow } from "@refmcp/sql";
import { rowWriter } from "@refmcp/sql/formats";
import { passReading } from "../gate/read.ts";
import type { Sessions } from "./sessions.ts";
import { paramsOf, type Row } from "./values.ts";

const PORTAL = "refmcp_result";
/** Rows to encode before other calls get a turn. */
const ROWS_AT_ONCE = 2_000;

/** PostgreSQL's notices, shortened. */
export const remarks = (all: readonly string[]) =>
  all.map((notice) => notice.slice(0, 300)).slice(0, 5);

/**
 * Reads a page of a statement's result in a transaction that has ended when this resolves.
 *
 * @throws ToolError from the gate, PostgreSQL or the limits.
 */
export async function readRows(
  sessions: Sessions,
  { sql, params, signal, timeoutMs, format, cellBytes }: Reading,
  { skip, rows: wanted, chars }: Page,
): Promise<ResultWindow> {
  const { mentions } = await passReading(sql);
  // One more shows whether there are more.
  const isFirst = skip === 0;
  const caps = { chars, rows: wanted + (isFirst ? 1 : 2), min: isFirst ? 1 : 2 };
  const skipping = skip < 2 ? [] : [`MOVE FORWARD ${skip - 1} IN ${PORTAL}`];
  const statement = { text: sql, params: paramsOf(params), portal: PORTAL, bound: skipping };
  // A function that is allowed may do what must not happen twice.
  const isRepeatable = sessions.limits.allowFunction.length === 0;
  const work = { signal, timeoutMs, sql, isRepeatable };
  const { batch, notices } = await sessions.work(work, async (session) => {
    const { connection } = session;
    connection.leavesNothing = await sessions.functions.requireHarmless(session.look, mentions);
    const batch = await session.query(statement, caps, true);
    return { batch, notices: connection.takeNotices() };
  });
  // In a separate transaction: a statement that was cancelled for exceeding the cap leaves one that is aborted.
  const { columns, decoded } = await sessions.types.columnsOf(batch.fields, (statement, values) =>
    sessions.rows({ signal, timeoutMs }, statement, values),
  );
  const write = rowWriter(format, cellBytes);
  const pieces: string[] = [];
  const cuts = new Set<number>();
  const cut = { count: 0 };
  // CSV is PostgreSQL's own text, as pg_export writes it and pg_import_csv reads it.
  const written = (row: Row) => write(format === "csv" ? row : decoded(row), cut);
  const rows = isFirst ? batch.rows : batch.rows.slice(1);
  const [before] = isFirst ? [] : batch.rows;
  for (const row of rows.slice(0, wanted)) {
    cut.count = 0;
    pieces.push(written(row));
    if (cut.count > 0) cuts.add(pieces.length - 1);
    if (pieces.length % ROWS_AT_ONCE === 0) await setImmediate();
  }
  return {
    columns,
    pieces,
    cuts,
    before: before && written(before),
    more: batch.more || rows.length > wanted,
    notices: remarks(notices),
  };
}
