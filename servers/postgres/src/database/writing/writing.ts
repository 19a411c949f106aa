import { grouped, oneLine, ToolError } from "@refmcp/core/answer";
import { type Column, counted, EVERY_ROW, LossTally } from "@refmcp/sql";
import type { Database, Session, Work } from "../connection/database.ts";
import { type Change, type Loss, passWriting, type RowTarget } from "../gate/write-gate.ts";
import { paramsOf } from "../reading/params.ts";
import { PortalQuery } from "../reading/portal.ts";

export interface Writing extends Pick<Work, "signal" | "timeoutMs"> {
  readonly statements: readonly { readonly sql: string; readonly params: readonly unknown[] }[];
  /** Characters of all rows that one RETURNING keeps. */
  readonly maxBytes: number;
  /** Run everything and roll it back. */
  readonly dryRun: boolean;
  /** Asks the user; throws if the user declines or can't be asked. */
  confirm(loss: string): Promise<void>;
}

export interface Outcome {
  readonly command: string;
  /** Rows that were inserted, updated, deleted or returned; undefined for commands without a count. */
  readonly rowCount: number | undefined;
  readonly columns: readonly Column[];
  readonly rows: readonly (readonly unknown[])[];
}

export interface Written {
  readonly committed: boolean;
  readonly outcomes: readonly Outcome[];
  /** What was or would be destroyed, as shown to the user; undefined if nothing. */
  readonly loss: string | undefined;
  /** Statements that restore what was dropped. */
  readonly undo: readonly string[];
  /** Includes rows changed by triggers, cascades and functions. */
  readonly tables: readonly TouchedTable[];
  readonly notices: readonly string[];
}

export interface TouchedTable {
  /** Its object id, which survives a rename. */
  readonly id: string;
  readonly table: string;
  readonly inserted: number;
  readonly updated: number;
  readonly deleted: number;
}

/** Rows of a dropped table are counted up to this number. */
const COUNTED = 1_000_000;

/**
 * Runs changing statements in one transaction. The loss is determined by running them, and the transaction is committed
 * only if nothing is lost or the user agreed to exactly this loss. Asking the user ends this run and rolls everything back;
 * the run after the user's answer determines the loss again, and asks again if it has changed.
 *
 * @throws ToolError from the gate or PostgreSQL, or `denied` by the user. Nothing is changed then.
 */
export async function write(database: Database, writing: Writing): Promise<Written> {
  const { statements, signal, timeoutMs } = writing;
  const changes: Change[] = [];
  for (const [index, { sql }] of statements.entries())
    changes.push(await numbered(index, statements.length, passWriting(sql, database.limits.allowAdmin)));
  const [first] = changes;
  if (first !== undefined && changes.some(({ alone }) => alone !== undefined))
    return await writeAlone(database, first, changes.length, statements[0]?.params ?? [], writing);
  return await database.work({ signal, timeoutMs, mode: "READ WRITE" }, async (session) => {
    const earlier = await touched(session);
    const outcomes: Outcome[] = [];
    const tally = new LossTally();
    const undo: string[] = [];
    const reported = new Set<string | undefined>();
    for (const [index, change] of changes.entries()) {
      const before = [];
      for (const loss of change.losses) before.push(await lookAt(session, loss));
      const run = runOne(database, session, change, statements[index]?.params ?? [], writing.maxBytes);
      const outcome = await numbered(index, changes.length, run, change.sql);
      outcomes.push(outcome);
      for (const { what, rows, restoring, isNothing } of before) {
        undo.push(...restoring);
        if (!isNothing && restoring.length === 0) tally.structure(what, rows);
      }
      for (const target of change.targets) reported.add(await addEveryRow(session, tally, target, outcome));
    }
    const tables = without(await touched(session), earlier);
    const notices = session.link.takeNotices();
    const loss = await lossOf(session, tally, reported, tables, notices);
    if (!writing.dryRun) {
      if (loss !== undefined) await writing.confirm(loss);
      session.signal.throwIfAborted();
      // Deferred constraints are checked here.
      await session.link.run("COMMIT");
    }
    return { committed: !writing.dryRun, outcomes, loss, undo, tables, notices };
  });
}

/** Runs a statement that PostgreSQL refuses in a transaction: alone, and without a way to roll it back. */
async function writeAlone(
  database: Database,
  change: Change,
  count: number,
  params: readonly unknown[],
  { signal, timeoutMs, maxBytes, dryRun }: Writing,
): Promise<Written> {
  if (count > 1 || dryRun)
    throw new ToolError("invalid", "VACUUM and CONCURRENTLY can't run in a transaction.", {
      hint: `Pass the statement alone${dryRun ? ", without dry_run" : ""}.`,
    });
  const relation = change.alone?.relation;
  let earlier: readonly string[] = [];
  try {
    return await database.workInOne(
      { signal, timeoutMs, sql: change.sql, mode: "READ WRITE" },
      async (session) => {
        await session.openNone();
        earlier = await invalidIndexes(session, relation);
        const undo: string[] = [];
        for (const loss of change.losses) undo.push(...(await lookAt(session, loss)).restoring);
        const outcome = await runOne(database, session, change, params, maxBytes);
        const notices = session.link.takeNotices();
        return { committed: true, outcomes: [outcome], loss: undefined, undo, tables: [], notices };
      },
    );
  } catch (error) {
    if (!(error instanceof ToolError) || relation === undefined) throw error;
    const now = await database
      .work({ signal }, (session) => invalidIndexes(session, relation))
      .catch(() => []);
    const left = now.filter((index) => !earlier.includes(index));
    if (left.length === 0) throw error;
    throw new ToolError(
      error.kind,
      `${error.message.replace("; nothing was changed", "")} It left ${left.length === 1 ? "an invalid index" : "invalid indexes"}, which no query uses and every write maintains: ${left.join(", ")}.`,
      {
        code: error.code,
        hint: `Run ${left.map((name) => `DROP INDEX CONCURRENTLY ${name}`).join("; ")} before you try again.`,
      },
    );
  }
}

/** Invalid indexes of a table, or of an index's table: what an interrupted CONCURRENTLY leaves. */
async function invalidIndexes({ link }: Session, relation: string | undefined): Promise<string[]> {
  if (relation === undefined) return [];
  const rows = await link.rows<{ name: string }>(
    `SELECT indexrelid::pg_catalog.regclass::text AS name FROM pg_catalog.pg_index
     WHERE NOT indisvalid AND indrelid IN (SELECT pg_catalog.to_regclass($1) UNION ALL
       SELECT indrelid FROM pg_catalog.pg_index WHERE indexrelid = pg_catalog.to_regclass($1)) ORDER BY 1`,
    [relation],
  );
  return rows.map(({ name }) => name);
}

/** Adds which of several statements failed to the error. */
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
    // Keeps the class and fields of the error, which explain it later.
    error.message = place + error.message;
    throw error;
  }
}

async function runOne(
  database: Database,
  session: Session,
  change: Change,
  params: readonly unknown[],
  maxBytes: number,
): Promise<Outcome> {
  const { link } = session;
  const query = new PortalQuery(
    { text: change.sql, params: paramsOf(params) },
    { chars: maxBytes, toEnd: true },
    () => undefined,
  );
  const { fields, rows, tag } = await query.run(link.client);
  const oids = fields.map(({ dataTypeID }) => dataTypeID);
  await database.types.learn(oids, (statement, values) => link.rows(statement, values));
  const decoders = oids.map((oid) => database.types.decoderOf(oid));
  const count = /(\d+)$/.exec(tag ?? "")?.[1];
  return {
    command: (tag ?? change.command).replace(/[\s\d]+$/, ""),
    rowCount: count === undefined ? undefined : Number(count),
    columns: fields.map(({ name, dataTypeID }) => ({ name, type: database.types.of(dataTypeID).name })),
    rows: rows.map((row) => row.map((cell, index) => decoders[index]?.(cell))),
  };
}

/** A relation's name with its schema, quoted. */
const FULL_NAME = "pg_catalog.format('%s.%I', relnamespace::pg_catalog.regnamespace, relname)";

/** How many rows the relations to drop or truncate have, and how to restore them. */
async function lookAt(session: Session, loss: Loss) {
  const { relations, losesNothingWithout, isUndoable = false } = loss;
  const restoring: string[] = [];
  let rows: number | undefined;
  let there = 0;
  for (const relation of relations) {
    const [found] = await session.link.rows<{ holds: boolean; table: string; ddl: string | null }>(
      `SELECT ${FULL_NAME} AS table, relkind IN ('r', 'm', 'p') AS holds, CASE relkind
         WHEN 'v' THEN 'CREATE VIEW ' || oid::pg_catalog.regclass || ' AS ' || pg_catalog.pg_get_viewdef(oid)
         WHEN 'i' THEN pg_catalog.pg_get_indexdef(oid) WHEN 'I' THEN pg_catalog.pg_get_indexdef(oid) END AS ddl
       FROM pg_catalog.pg_class WHERE oid = pg_catalog.to_regclass($1)`,
      [relation],
    );
    if (found === undefined) continue;
    there += 1;
    if (isUndoable && found.ddl !== null) restoring.push(found.ddl);
    if (!found.holds) continue;
    const [row] = await session.link.rows<{ count: number }>(
      `SELECT pg_catalog.count(*)::int AS count FROM (SELECT FROM ${found.table} LIMIT ${COUNTED + 1}) counted`,
    );
    rows = (rows ?? 0) + (row?.count ?? 0);
  }
  const isNothing =
    losesNothingWithout === "rows"
      ? rows === 0
      : losesNothingWithout !== undefined && relations.length > 0 && there === 0;
  return { what: loss.what, rows, isNothing, restoring: restoring.length === there ? restoring : [] };
}

/**
 * Records a DELETE or UPDATE that affected every row of its table, whatever its WHERE says.
 *
 * @returns the table's object id if it did
 */
async function addEveryRow(
  session: Session,
  tally: LossTally,
  { verb, relation }: RowTarget,
  { command, rowCount = 0 }: Outcome,
): Promise<string | undefined> {
  if (command !== verb || rowCount < EVERY_ROW) return undefined;
  const { id, isMore } = await rowsBeyond(session, relation, verb === "UPDATE" ? rowCount : 0);
  if (isMore) return undefined;
  tally.rows({ verb, target: relation, changed: rowCount, isEveryRow: true });
  return id;
}

/** Whether a table has more rows than this; false if it can't be read, so that the user is asked. */
async function rowsBeyond({ link }: Session, relation: string, rows: number) {
  const [found] = await link.rows<{ id: string; table: string; readable: boolean }>(
    `SELECT oid::text AS id, ${FULL_NAME} AS table, pg_catalog.has_any_column_privilege(oid, 'SELECT') AS readable
     FROM pg_catalog.pg_class WHERE oid = pg_catalog.to_regclass($1)`,
    [relation],
  );
  // If the table was dropped in the same transaction, that is reported instead.
  if (found === undefined) return { id: undefined, isMore: true };
  if (!found.readable) return { id: found.id, isMore: false };
  const [one] = await link.rows<{ more: boolean }>(
    `SELECT EXISTS (SELECT FROM ${found.table} OFFSET ${rows}) AS more`,
  );
  return { id: found.id, isMore: one?.more === true };
}

/**
 * What this session did to tables, also through triggers, cascades and functions, since it last reported statistics. That
 * may have been before this transaction, and includes work that was rolled back.
 */
async function touched({ link }: Session): Promise<TouchedTable[]> {
  return await link.rows<TouchedTable>(
    `SELECT relid::text AS id, relid::pg_catalog.regclass::text AS table, n_tup_ins::float8 AS inserted, n_tup_upd::float8 AS updated, n_tup_del::float8 AS deleted
     FROM pg_catalog.pg_stat_xact_user_tables WHERE n_tup_ins + n_tup_upd + n_tup_del > 0 ORDER BY 2 LIMIT 100`,
  );
}

/** The difference to `earlier`; a renamed table counts as the same. */
function without(now: readonly TouchedTable[], earlier: readonly TouchedTable[]): TouchedTable[] {
  return now.flatMap((one) => {
    const before = earlier.find(({ id }) => id === one.id);
    const since = {
      id: one.id,
      table: one.table,
      inserted: one.inserted - (before?.inserted ?? 0),
      updated: one.updated - (before?.updated ?? 0),
      deleted: one.deleted - (before?.deleted ?? 0),
    };
    return since.inserted + since.updated + since.deleted > 0 ? [since] : [];
  });
}

/** The whole loss as text for the user; undefined if nothing is lost. @param reported tables already counted */
async function lossOf(
  session: Session,
  tally: LossTally,
  reported: ReadonlySet<string | undefined>,
  tables: readonly TouchedTable[],
  notices: readonly string[],
): Promise<string | undefined> {
  const altered = tables.filter(({ updated, deleted }) => updated + deleted > 0);
  for (const { id, table, updated, deleted } of altered) {
    if (reported.has(id)) continue;
    // Changed by a trigger, a cascade, a function, MERGE or ON CONFLICT.
    const changed = updated + deleted;
    const isEveryRow = changed >= EVERY_ROW && !(await rowsBeyond(session, table, updated)).isMore;
    const verb = updated === 0 ? "DELETE" : deleted === 0 ? "UPDATE" : "change";
    tally.rows({ verb, target: table, changed, isEveryRow });
  }
  return tally.loss([
    ...altered.map(
      ({ table, updated, deleted }) => `${table}: ${counted(deleted)} deleted, ${grouped(updated)} updated`,
    ),
    ...notices.filter((notice) => /drop cascades|truncate cascades/.test(notice)).map(oneLine),
  ]);
}
