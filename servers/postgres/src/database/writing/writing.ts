import { oneLine, ToolError } from "@refmcp/boundary/answer";
import {
  type Calling,
  type Changing,
  encodeRow,
  lossAction,
  lossText,
  shownSql,
} from "@refmcp/sql";
import type { Database, Session } from "../connection/database.ts";
import type { Postgres } from "../connection/postgres.ts";
import { paramsOf } from "../driver/values.ts";
import { type Change, passWriting } from "../gate/write-gate.ts";
import { withNearNames } from "../reading/near.ts";
import { remarks } from "../reading/reading.ts";
import {
  AT_LAST,
  changedElsewhere,
  changedProtection,
  hasReplaced,
  lookAt,
  oidOf,
  PROTECTION_CHANGED,
  type TouchedTable,
  touched,
  without,
} from "./losses.ts";
import { settle, startOf } from "./settle.ts";

interface Writing extends Omit<Changing, "database">, Pick<Calling, "signal" | "confirm"> {
  /** Characters of all rows that one RETURNING keeps. */
  readonly maxBytes: number;
}

interface Written {
  readonly committed: boolean;
  readonly outcomes: readonly Awaited<ReturnType<typeof runOne>>[];
  /** What was or would be destroyed, as shown to the user; undefined if nothing. */
  readonly loss: string | undefined;
  readonly changeId: string | undefined;
  /** Includes rows changed by triggers, cascades and functions. */
  readonly tables: readonly TouchedTable[];
  readonly notices: readonly string[];
}

const MAX_TABLES = 100;
const CODE = "DO, a block of code with unpredictable effects";
const CASCADES = /drop cascades|truncate cascades/;

/**
 * Runs changing statements in one transaction and reports what they did, as `changeOutput`. Rows of RETURNING share the
 * space that the rest of the answer leaves.
 *
 * @throws ToolError from the gate or PostgreSQL, or if the user declines; nothing is changed then.
 */
export async function runChanges(
  postgres: Postgres,
  { database, ...changing }: Changing,
  call: Omit<Calling, "progress">,
) {
  const at = postgres.at(database);
  const { maxBytes, maxCellBytes } = postgres.limits;
  const writing = {
    ...changing,
    signal: call.signal,
    maxBytes,
    confirm: (loss: string) => call.confirm(loss, lossAction(loss)),
  };
  const sql = changing.statements.map((one) => one.sql).join(" ");
  const { committed, outcomes, loss, changeId, tables, notices } = await withNearNames(
    write(at, writing),
    at,
    sql,
    writing,
  );
  const said = remarks(notices);
  const cut = { count: 0 };
  let space = call.budget - 500 - JSON.stringify([tables, loss, said]).length;
  let isShort = false;
  const results = outcomes.map(({ command, rowCount, columns, rows }) => {
    const facts = { command, ...(rowCount === undefined ? {} : { row_count: rowCount }) };
    space -= JSON.stringify([facts, columns]).length + 30;
    if (columns.length === 0) return facts;
    const shown: unknown[][] = [];
    for (const row of rows) {
      const encoded = encodeRow(row, maxCellBytes, cut);
      space -= JSON.stringify(encoded).length + 1;
      if (space < 0) break;
      shown.push(encoded);
    }
    isShort ||= shown.length < (rowCount ?? rows.length);
    return { ...facts, columns, rows: shown };
  });
  const by = isShort ? ("bytes" as const) : cut.count > 0 ? ("cell" as const) : undefined;
  return {
    committed,
    results,
    tables: tables.map(({ id: _, ...table }) => table),
    ...(loss === undefined ? {} : { loss }),
    ...(changeId === undefined ? {} : { change_id: changeId, note: at.changes?.copyNote }),
    truncated: by !== undefined,
    ...(by === undefined ? {} : { truncated_by: by }),
    ...(said.length === 0 ? {} : { notices: said }),
  };
}

/**
 * The loss is determined by running the statements, and the transaction is committed only if nothing is lost or the user
 * agreed to exactly this loss. Asking the user ends this run and rolls everything back; the run after the user's answer
 * determines the loss again, and asks again if it has changed.
 */
async function write(database: Database, writing: Writing): Promise<Written> {
  const { statements, signal, timeoutMs } = writing;
  const changes: Change[] = [];
  for (const [index, { sql }] of statements.entries())
    changes.push(
      await numbered(index, statements.length, passWriting(sql, database.limits.allowAdmin)),
    );
  const [first] = changes;
  if (first !== undefined && changes.some(({ alone }) => alone !== undefined))
    return await writeAlone(database, first, writing);
  // What a block of code does may outlast a rollback, so nothing of it runs before the user agrees.
  const blocks = changes.flatMap(({ blocks: [code], sql }) => (code === undefined ? [] : [sql]));
  const codes = blocks.map((sql) => `${CODE}: ${shownSql(sql)}`);
  const loss = lossText({ objects: codes });
  if (loss !== undefined && !writing.dryRun) await writing.confirm(loss);
  return await database.change({ signal, timeoutMs }, async (session) => {
    const earlier = await touched(session);
    const { locatable, ...begun } = await startOf(database, session, changes);
    const places = { created: new Map<string, string[]>(), deleted: new Map<string, string[]>() };
    const outcomes: Written["outcomes"][number][] = [];
    const objects: string[] = writing.dryRun ? [...codes] : [];
    const weakened: string[] = [];
    const made = new Set<string>();
    // Statements that change the schema themselves are judged by their text.
    const isMixed = changes.some(({ changesRows }) => !changesRows);
    let hasChangedProtection = false;
    const reached = {
      mentions: changes.flatMap(({ mentions }) => mentions),
      blocks: changes.flatMap((change) => change.blocks),
    };
    if (!isMixed) await database.functions.requireUndoable(session, reached, writing.dryRun);
    for (const [index, change] of changes.entries()) {
      if (isMixed) {
        const run = database.functions.requireUndoable(session, change, writing.dryRun);
        await numbered(index, changes.length, run, change.sql);
      }
      const lost = change.loss === undefined ? undefined : await lookAt(session, change.loss, made);
      const isFree =
        change.creates !== undefined && (await oidOf(session, change.creates)) === undefined;
      const mine =
        isMixed && (change.changesRows || change.replaces) ? await touched(session) : undefined;
      const { located, sql } = change;
      const isLocated = located !== undefined && locatable.has(located.relation);
      const text = isLocated ? located.sql : sql;
      const run = runOne(
        database,
        session,
        { ...change, sql: text },
        statements[index]?.params ?? [],
        {
          maxBytes: writing.maxBytes,
          places: isLocated
            ? change.command === "DELETE"
              ? places.deleted
              : places.created
            : undefined,
        },
      );
      outcomes.push(await numbered(index, changes.length, run, sql));
      if (mine !== undefined && change.replaces) {
        if (hasReplaced(mine, await touched(session))) objects.push(shownSql(change.sql));
      } else if (mine !== undefined)
        hasChangedProtection ||= await changedProtection(session, mine, await touched(session));
      const created = isFree ? await oidOf(session, change.creates) : undefined;
      if (created !== undefined) made.add(created);
      if (lost !== undefined) objects.push(lost);
    }
    const now = await touched(session, AT_LAST);
    if (!isMixed) hasChangedProtection = await changedProtection(session, earlier, now);
    if (hasChangedProtection) weakened.push(PROTECTION_CHANGED);
    const tables = without(now.tables, earlier.tables);
    const notices = session.connection.takeNotices();
    const rowCounts = outcomes.map(({ rowCount }) => rowCount);
    const all = [...tables, ...(await changedElsewhere(session, changes, rowCounts, tables))];
    const details = notices.filter((notice) => CASCADES.test(notice)).map((one) => oneLine(one));
    const { loss, changeId } = await settle(database, session, {
      ...writing,
      statements: changes.map(({ sql }) => sql),
      ...begun,
      places,
      tables: all,
      objects: [...objects, ...details],
      weakened,
    });
    return {
      committed: !writing.dryRun,
      outcomes,
      changeId,
      tables: tables.slice(0, MAX_TABLES),
      notices,
      loss,
    };
  });
}

/** Runs a statement that PostgreSQL refuses in a transaction: alone, and without a way to roll it back. */
async function writeAlone(
  database: Database,
  change: Change,
  { statements, signal, timeoutMs, maxBytes, dryRun, confirm }: Writing,
): Promise<Written> {
  const [statement, ...others] = statements;
  if (others.length > 0 || dryRun)
    throw new ToolError("invalid", "VACUUM and CONCURRENTLY can't run in a transaction.", {
      hint: `Pass the statement alone${dryRun ? ", without dry_run" : ""}.`,
    });
  const relation = change.alone?.relation;
  let earlier: readonly string[] = [];
  try {
    return await database.workInOne(
      { signal, timeoutMs, sql: change.sql, mode: "READ WRITE" },
      async (session) => {
        await session.openNone(database.limitOf(timeoutMs));
        earlier = await invalidIndexes(session, relation);
        const lost =
          change.loss === undefined ? undefined : await lookAt(session, change.loss, new Set());
        const loss = lossText({ objects: [lost ?? []].flat() });
        if (loss !== undefined) await confirm(loss);
        const outcome = await runOne(database, session, change, statement?.params ?? [], {
          maxBytes,
        });
        const notices = session.connection.takeNotices();
        return {
          committed: true,
          outcomes: [outcome],
          loss,
          changeId: undefined,
          tables: [],
          notices,
        };
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
async function invalidIndexes(session: Session, relation: string | undefined): Promise<string[]> {
  if (relation === undefined) return [];
  const rows = await session.rows<{ name: string }>(
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

/** Characters for where rows are: of about 250,000. */
const PLACES_CHARS = 16_000_000;

async function runOne(
  { types }: Database,
  session: Session,
  change: Change,
  params: readonly unknown[],
  {
    maxBytes,
    places,
  }: { readonly maxBytes: number; readonly places?: Map<string, string[]> | undefined },
) {
  const query = { text: change.sql, params: paramsOf(params) };
  const chars = places === undefined ? maxBytes : Math.max(maxBytes, PLACES_CHARS);
  const { fields, rows, tag } = await session.query(query, { chars, toEnd: true });
  // The last two columns of a located change are ours.
  const own = places === undefined ? 0 : 2;
  for (const row of own === 0 ? [] : rows) {
    const [table, place] = row.slice(-own);
    const known = places?.get(table ?? "");
    if (known === undefined) places?.set(table ?? "", [place ?? ""]);
    else known.push(place ?? "");
  }
  const shown = fields.slice(0, fields.length - own);
  const { columns, decoded } = await types.columnsOf(shown, (statement, values) =>
    session.rows(statement, values),
  );
  const count = /(\d+)$/.exec(tag ?? "")?.[1];
  return {
    command: (tag ?? change.command).replace(/[\s\d]+$/, ""),
    /** Rows that were inserted, updated, deleted or returned; undefined for commands without a count. */
    rowCount: count === undefined ? undefined : Number(count),
    columns,
    rows: columns.length === 0 ? [] : rows.map((row) => decoded(row.slice(0, shown.length))),
  };
}
