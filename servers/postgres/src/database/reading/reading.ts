import { setImmediate } from "node:timers/promises";
import { ToolError } from "@refmcp/boundary/answer";
import { type Ahead, limitsOf, type Question, type ResultWindow, rowWriter } from "@refmcp/sql";
import type { Database, Session } from "../connection/database.ts";
import type { Postgres } from "../connection/postgres.ts";
import { type Batch, type Caps, PortalQuery, type Statement } from "../driver/portal.ts";
import { paramsOf, type Row } from "../driver/values.ts";
import { passReading } from "../gate/read-gate.ts";
import { withNearNames } from "./near.ts";

const PORTAL = "refmcp_result";
/** Rows to encode before other calls get a turn. */
const ROWS_AT_ONCE = 2_000;

/**
 * Runs one reading statement and returns a page of its rows, as the JSON text of `queryOutput`.
 *
 * @throws ToolError from the gate, PostgreSQL, the limits or the cursor.
 */
export async function readPage(postgres: Postgres, question: Question): Promise<string> {
  const database = postgres.at(question.database);
  const { cellBytes, ...limits } = limitsOf(postgres.limits, question);
  const named = { ...question, database: database.name };
  return await postgres.results.page("query", named, limits, async (ahead) => {
    const reading = readAhead(database, { ...question, cellBytes }, ahead);
    const window = await withNearNames(reading, database, question.sql, question);
    return { ...window, notices: remarks(window.notices ?? []) };
  });
}

/** PostgreSQL's notices, shortened. */
export const remarks = (all: readonly string[]) => all.map((one) => one.slice(0, 300)).slice(0, 5);

/**
 * Reads a window of a statement's result in a transaction that has ended when this resolves.
 *
 * @param question `cellBytes`: longer values are truncated
 * @throws ToolError from the gate, PostgreSQL or the limits.
 */
export async function readAhead(
  database: Database,
  question: Pick<Question, "sql" | "params" | "format" | "signal" | "timeoutMs"> & {
    readonly cellBytes: number;
  },
  { skip, ...ahead }: Ahead,
): Promise<ResultWindow> {
  const caps = {
    chars: ahead.chars,
    enough: { rows: ahead.rows + (skip > 0 ? 1 : 0), ms: ahead.ms },
  };
  const { sql, signal, timeoutMs, format, cellBytes } = question;
  const { pageable, mentions } = await passReading(sql);
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
    const guards = skip > 0 ? undefined : functions.guards(mentions, session.connection.isPrepared);
    if (guards === undefined) {
      await session.open();
      await functions.requireHarmless(session, mentions);
    }
    const opening = session.takeOpening(guards) ?? {
      statements: functions.guards(mentions, false) ?? [],
    };
    const statement = { text: sql, params: paramsOf(question.params), opening };
    const read =
      skip === 0
        ? await session.query(statement, caps)
        : await skipped(session, { ...statement, portal: PORTAL }, skip, caps);
    return { batch: read, notices: session.connection.takeNotices() };
  };
  const work = { signal, timeoutMs, sql, isJudged: functions.judgesAll };
  const { batch, notices } = await database.workInOne(work, run).catch((error: unknown) => {
    if (functions.isRedeclared(error)) return database.workInOne(work, run);
    throw error;
  });
  const { fields, rows, more } = batch;
  // In a separate transaction: a statement that was cancelled for exceeding the cap leaves one that is aborted.
  const { columns, decoded } = await database.types.columnsOf(fields, (statement, values) =>
    database.rows({ signal, timeoutMs }, statement, values),
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
  return { columns, pieces, cuts, before, more, notices };
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
  return await PortalQuery.resume(PORTAL, fields, rest, () => session.connection.cancel()).run(
    session.connection.client,
  );
}
