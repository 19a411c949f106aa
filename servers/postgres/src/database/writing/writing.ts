import { grouped, oneLine, ToolError } from "@refmcp/core/answer";
import type { Database, Session, Work } from "../connection/database.ts";
import { type Change, passWriting } from "../gate/write-gate.ts";
import { paramsOf } from "../reading/params.ts";
import { type Caps, PortalQuery } from "../reading/portal.ts";

export interface Writing extends Pick<Work, "signal" | "timeoutMs"> {
  readonly statements: readonly string[];
  /** For the one statement; several take none. */
  readonly params: readonly unknown[];
  readonly caps: Caps;
  /** Runs everything and takes it back. */
  readonly dryRun: boolean;
  /** Asks the user; throws where the user declines or nobody can be asked. */
  confirm(loss: string): Promise<void>;
}

export interface Outcome {
  readonly command: string;
  /** Rows that were inserted, updated, deleted or returned; undefined where a command counts none. */
  readonly rowCount: number | undefined;
  readonly columns: readonly { readonly name: string; readonly type: string }[];
  readonly rows: readonly (readonly unknown[])[];
  readonly stopped: "rows" | "bytes" | undefined;
}

export interface Written {
  readonly committed: boolean;
  readonly outcomes: readonly Outcome[];
  /** What was destroyed, or would be, as the user was asked; undefined where nothing was. */
  readonly loss: string | undefined;
  /** Rows that triggers, cascades and functions touched are among these. */
  readonly tables: readonly TouchedTable[];
  readonly notices: readonly string[];
}

export interface TouchedTable {
  readonly table: string;
  readonly inserted: number;
  readonly updated: number;
  readonly deleted: number;
}

/** A change of more rows than this asks the user, whatever its WHERE says. */
const MANY_ROWS = 1_000;
/** Rows of a table that is dropped are counted up to here. */
const COUNTED = 1_000_000;

/**
 * Runs changing statements in one transaction. What they destroy is found by running them: the transaction stays open
 * while the loss is worked out, and is committed only where nothing is lost or the user agreed to exactly this loss.
 * A question ends this run, which takes everything back; the run after the answer works the loss out anew, and asks again
 * where it became another.
 *
 * @throws ToolError what the gate or PostgreSQL say; `denied` by the user. Nothing is changed then.
 */
export async function write(database: Database, writing: Writing): Promise<Written> {
  const { statements, params, signal, timeoutMs } = writing;
  if (statements.length > 1 && params.length > 0)
    throw new ToolError(
      "invalid",
      `params stand beside ${statements.length} statements; they belong to one.`,
      {
        hint: "Run that statement alone.",
      },
    );
  const changes: Change[] = [];
  for (const [index, sql] of statements.entries())
    changes.push(await numbered(index, statements.length, passWriting(sql)));
  return await database.work({ signal, timeoutMs, mode: "READ WRITE" }, async (session) => {
    const earlier = await touched(session);
    const outcomes: Outcome[] = [];
    const lost: string[] = [];
    for (const [index, change] of changes.entries()) {
      const counted = await countRows(session, change);
      const outcome = await numbered(
        index,
        changes.length,
        runOne(database, session, change, writing),
        change.sql,
      );
      outcomes.push(outcome);
      if (change.loss !== undefined) lost.push(lossText(change.loss.what, counted, outcome));
    }
    const tables = without(await touched(session), earlier);
    const notices = session.link.takeNotices();
    const loss = lossOf(lost, changes, tables, notices);
    if (!writing.dryRun) {
      if (loss !== undefined) await writing.confirm(loss);
      session.signal.throwIfAborted();
      // Deferred constraints are checked here.
      await session.link.run("COMMIT");
    }
    return { committed: !writing.dryRun, outcomes, loss, tables, notices };
  });
}

/** Tells which of several statements failed. */
async function numbered<Value>(
  index: number,
  of: number,
  work: Promise<Value>,
  sql?: string,
): Promise<Value> {
  try {
    return await work;
  } catch (error) {
    if (of === 1 || !(error instanceof Error)) throw error;
    const place = `Statement ${index + 1} of ${of}${sql === undefined ? "" : ` (${oneLine(sql.slice(0, 60))})`}: `;
    // The error keeps its class: the database's fields explain it later.
    error.message = place + error.message;
    throw error;
  }
}

async function runOne(
  database: Database,
  session: Session,
  change: Change,
  writing: Writing,
): Promise<Outcome> {
  const { link } = session;
  const query = new PortalQuery(
    { text: change.sql, params: paramsOf(writing.params) },
    { ...writing.caps, toEnd: true },
    () => undefined,
  );
  const { fields, rows, stopped, tag } = await link.client.query(query).done;
  await database.types.learn(
    fields.map(({ dataTypeID }) => dataTypeID),
    async (statement) =>
      (await link.client.query<string[]>({ text: statement, rowMode: "array" })).rows.map((row) =>
        row.map(String),
      ),
  );
  const count = /(\d+)$/.exec(tag ?? "")?.[1];
  return {
    command: (tag ?? change.command).replace(/[\s\d]+$/, ""),
    rowCount: count === undefined ? undefined : Number(count),
    columns: fields.map(({ name, dataTypeID }) => ({ name, type: database.types.of(dataTypeID).name })),
    rows: rows.map((row) =>
      row.map((cell, index) => database.types.decode(cell, fields[index]?.dataTypeID ?? 0)),
    ),
    stopped,
  };
}

/** The rows of what is about to be dropped or truncated. */
async function countRows({ link }: Session, { loss }: Change): Promise<string[]> {
  const counts: string[] = [];
  for (const relation of loss?.relations ?? []) {
    // DROP … IF EXISTS of nothing loses nothing.
    const [there] = await link.rows<{ there: boolean }>(
      "SELECT pg_catalog.to_regclass($1) IS NOT NULL AS there",
      [relation],
    );
    if (there?.there !== true) continue;
    const [row] = await link.rows<{ count: string }>(
      `SELECT count(*)::text AS count FROM (SELECT FROM ${relation} LIMIT ${COUNTED + 1}) counted`,
    );
    const count = Number(row?.count ?? 0);
    counts.push(
      `${relation} has ${count > COUNTED ? `more than ${grouped(COUNTED)}` : grouped(count)} ${count === 1 ? "row" : "rows"}`,
    );
  }
  return counts;
}

function lossText(what: string, counted: readonly string[], outcome: Outcome): string {
  if (counted.length > 0) return `${what} (${counted.join(", ")})`;
  const { rowCount } = outcome;
  return rowCount === undefined || !/DELETE|UPDATE|MERGE/.test(outcome.command)
    ? what
    : `${what} (${grouped(rowCount)} ${rowCount === 1 ? "row" : "rows"})`;
}

/**
 * What this session did to tables, also through triggers, cascades and functions, since it last told the statistics:
 * that may be longer than this transaction, and what was taken back counts too.
 */
async function touched({ link }: Session): Promise<TouchedTable[]> {
  const rows = await link.rows<{ table: string; inserted: string; updated: string; deleted: string }>(
    `SELECT relid::pg_catalog.regclass::text AS table, n_tup_ins::text AS inserted, n_tup_upd::text AS updated, n_tup_del::text AS deleted
     FROM pg_catalog.pg_stat_xact_user_tables WHERE n_tup_ins + n_tup_upd + n_tup_del > 0 ORDER BY 1 LIMIT 100`,
  );
  return rows.map(({ table, ...counts }) => ({
    table,
    inserted: Number(counts.inserted),
    updated: Number(counts.updated),
    deleted: Number(counts.deleted),
  }));
}

/** What was done since `earlier`. */
function without(now: readonly TouchedTable[], earlier: readonly TouchedTable[]): TouchedTable[] {
  return now.flatMap((one) => {
    const before = earlier.find(({ table }) => table === one.table);
    const since = {
      table: one.table,
      inserted: one.inserted - (before?.inserted ?? 0),
      updated: one.updated - (before?.updated ?? 0),
      deleted: one.deleted - (before?.deleted ?? 0),
    };
    return since.inserted + since.updated + since.deleted > 0 ? [since] : [];
  });
}

/** The whole loss in one text for the user; undefined where nothing is lost. */
function lossOf(
  lost: readonly string[],
  changes: readonly Change[],
  tables: readonly TouchedTable[],
  notices: readonly string[],
): string | undefined {
  const altered = tables.filter(({ updated, deleted }) => updated + deleted > 0);
  const rows = altered.reduce((sum, { updated, deleted }) => sum + updated + deleted, 0);
  // A SELECT that deletes does so in a function.
  const isHidden = rows > 0 && changes.some(({ command }) => command === "SELECT");
  if (lost.length === 0 && rows <= MANY_ROWS && !isHidden) return undefined;
  const parts = [
    ...lost.map((text, index) => (lost.length === 1 ? text : `${index + 1}. ${text}`)),
    ...altered.map(
      ({ table, updated, deleted }) =>
        `${table}: ${grouped(deleted)} rows deleted, ${grouped(updated)} updated`,
    ),
    ...notices.filter((notice) => /drop cascades|truncate cascades/.test(notice)),
  ];
  return `This cannot be undone: ${parts.map((part) => oneLine(part)).join("; ")}.`;
}
