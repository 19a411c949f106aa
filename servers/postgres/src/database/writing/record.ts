import { once } from "node:events";
import { startDeadline } from "@refmcp/boundary";
import { grouped, oneLine } from "@refmcp/boundary/answer";
import { type ChangeWriter, type RecordedRow, RecordTooLarge } from "@refmcp/sql";
import { RECORD_BYTES, RECORD_ROWS } from "@refmcp/sql/change-record";
import type { Database, Session } from "../connection/database.ts";
import type { Row } from "../driver/values.ts";
import type { TouchedTable } from "./losses.ts";
import {
  addedBy,
  columnsOf,
  factsOf,
  keyOf,
  readRows,
  rowText,
  type TableFacts,
  visibleAt,
  XID,
} from "./tables.ts";

// How the rows of a change are found without triggers: by PostgreSQL's own versions. Until the change is committed, every
// other session sees the row versions that it replaced or deleted, so a second connection (the observer) reads them.

/** Where RETURNING found rows, by the object id of their table (or partition). */
export interface Places {
  /** Inserted and updated rows. */
  readonly created: ReadonlyMap<string, readonly string[]>;
  readonly deleted: ReadonlyMap<string, readonly string[]>;
}

/** A larger table is not searched for changed rows. */
const MAX_SCAN_BYTES = 512 * 1_048_576;
/** How long the observer may wait for its connection. */
const CONNECT_MS = 5_000;

const TOO_LARGE = `a record has at most ${grouped(RECORD_ROWS)} rows and ${RECORD_BYTES / 1_048_576} MB`;

/** Why rows can't be recorded. */
export class Unrecordable extends Error {
  override name = "Unrecordable";
}

/** Adds a row to a record, or completes it. @throws Unrecordable if the record is too large or the disk is full */
export function written(write: () => void): void {
  try {
    write();
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    if (error instanceof RecordTooLarge) throw new Unrecordable(TOO_LARGE);
    throw new Unrecordable(`the record of changes can't be written: ${oneLine(why)}`);
  }
}

export interface Recorded {
  /** The tables in the record. */
  readonly facts: readonly TableFacts[];
  /** Tables whose inserted rows are not in it. */
  readonly skipped: readonly string[];
  /** The id of the transaction; empty if it changed nothing. */
  readonly xid: string;
}

/** When this server started, which identifies it; in a form that does not depend on settings. */
export const STARTED = "pg_catalog.date_part('epoch', pg_catalog.pg_postmaster_start_time())::text";

/** The id of a session's transaction; empty if it changed nothing. */
export async function transactionOf(session: Session): Promise<string> {
  const [found] = await session.rows<{ xid: string | null }>(`SELECT ${XID} AS xid`);
  return found?.xid ?? "";
}

/** What must be known before the first statement of a change. */
export interface Start {
  /** How many multixacts there have been, see `MULTIXACTS`. */
  readonly multixacts: number;
  readonly started: string;
  /** Whether the server counts what is changed. */
  readonly counts: boolean;
}

interface Recording extends Start {
  readonly tables: readonly TouchedTable[];
  readonly places: Places;
}

interface Observer {
  readonly session: Session;
  /** The object ids of the tables that it sees; the others are new. */
  readonly tables: readonly string[];
  /** How many transaction ids there have been since that of the change. */
  readonly age: number;
  /** Condition for versions that the change, or one that began later, may have replaced. */
  readonly candidates: string;
}

/**
 * Adds the rows that the transaction of a session changed to a record, before and after the change.
 *
 * @throws Unrecordable with the reason why they can't be recorded, or an error of PostgreSQL in the session
 */
export async function record(
  database: Database,
  session: Session,
  writer: ChangeWriter,
  { tables, places, ...start }: Recording,
): Promise<Recorded> {
  const all = await factsOf(
    session,
    tables.map(({ id }) => id),
  );
  if (!start.counts)
    throw new Unrecordable("the server doesn't count changed rows: track_counts is off");
  const skipped: string[] = [];
  const xid = all[0]?.xid ?? (await transactionOf(session));
  const changed: (readonly [TableFacts, TouchedTable])[] = [];
  for (const table of tables) {
    const known = all.find(({ id }) => id === table.id);
    const reason = known === undefined ? "it was dropped" : known.reason;
    if (known !== undefined && reason === null) changed.push([known, table]);
    else if (table.updated + table.deleted > 0) throw new Unrecordable(`${table.table}: ${reason}`);
    else skipped.push(table.table);
  }
  const write = (row: RecordedRow) => written(() => writer.add(row));
  /** Many rows that were only inserted are one line: an undo removes them, and a digest shows whether one has changed. */
  const addRecorded = async (known: TableFacts, { inserted, updated, deleted }: TouchedTable) => {
    if (inserted <= MANY_ROWS || updated + deleted > 0) return false;
    requireSearchable(known);
    const { rows, digest } = await addedBy(session, known, xid);
    // Rows of subtransactions have other versions.
    if (rows !== inserted) return false;
    write({ table: known.name, key: xid, after: digest, range: { to: xid, rows } });
    return true;
  };
  const run = async (observer?: Observer) => {
    for (const [known, table] of changed) {
      if (await addRecorded(known, table)) continue;
      const news = await newRows(
        session,
        known,
        table,
        places.created.get(known.id),
        xid,
        observer,
      );
      const add = (before: Row) => {
        const key = keyOf(known, before);
        const after = known.key.length === 0 ? undefined : news.get(key);
        if (after !== undefined) news.delete(key);
        write({ table: known.name, key, before, ...(after === undefined ? {} : { after }) });
      };
      if (observer?.tables.includes(known.id) === true && table.updated + table.deleted > 0) {
        const found = await knownRows(observer, known, table, places, [...news.values()]);
        if (found === undefined) await searchOld(observer, session, known, add);
        else found.forEach(add);
      }
      for (const after of news.values())
        write({ table: known.name, key: keyOf(known, after), after });
    }
  };
  const needsObserver = changed.some(
    ([{ id }, { inserted, updated, deleted }]) =>
      updated + deleted > 0 || places.created.get(id)?.length !== inserted,
  );
  const facts = changed.map(([known]) => known);
  if (xid !== "" && needsObserver) await observe(database, session, { xid, facts, ...start }, run);
  else await run();
  return { facts, skipped, xid };
}

/** More inserted rows than this are recorded by their digest. */
const MANY_ROWS = 2_000;

/** The rows that the transaction created and that still exist. */
async function newRows(
  session: Session,
  facts: TableFacts,
  { inserted, updated }: TouchedTable,
  places: readonly string[] = [],
  xid: string,
  observer?: Observer,
): Promise<Map<string, Row>> {
  const found = new Map<string, Row>();
  if (inserted + updated === 0) return found;
  let chars = 0;
  const take = (at: readonly string[], rows: readonly Row[]) => {
    for (const [index, row] of rows.entries()) {
      for (const cell of row) chars += (cell?.length ?? 0) + 4;
      found.set(facts.key.length === 0 ? `${at[index]}` : keyOf(facts, row), row);
    }
    if (chars > RECORD_BYTES) throw new Unrecordable(TOO_LARGE);
  };
  const select = `SELECT t.ctid, ${columnsOf(facts)} FROM ONLY ${facts.name} t WHERE`;
  if (places.length === inserted + updated) {
    await readRows(session, `${select} t.ctid = ANY ($1::tid[])`, places, take);
    return found;
  }
  requireSearchable(facts);
  // A visible version of a transaction in progress is our own. Subtransactions have later ids than their transaction.
  const text = `${select} CASE WHEN pg_catalog.age(t.xmin) BETWEEN ${1 - (observer?.age ?? 0)} AND 0
    THEN pg_catalog.pg_xact_status((${xid}::int8 - pg_catalog.age(t.xmin))::text::xid8) = 'in progress' ELSE false END`;
  await readRows(session, text, undefined, take);
  return found;
}

function requireSearchable({ name, size }: TableFacts): void {
  if (size > MAX_SCAN_BYTES)
    throw new Unrecordable(
      `${name} has ${Math.round(size / 1_048_576)} MB, too much to search for changed rows`,
    );
}

/**
 * The old versions of rows whose places are known from RETURNING, or whose keys from the new versions. The counts prove that
 * they are all: a version with the key of a new row must have been replaced, and each change replaced one version.
 *
 * @returns undefined if the counts differ: triggers, functions or other parts of the statement changed rows too
 */
async function knownRows(
  { session }: Observer,
  facts: TableFacts,
  { id, inserted, updated, deleted }: TouchedTable,
  places: Places,
  created: readonly Row[],
): Promise<Row[] | undefined> {
  const gone = places.deleted.get(id) ?? [];
  const made = places.created.get(id) ?? [];
  const isKeyed = updated === 0 || facts.key.length > 0;
  if (gone.length !== deleted || made.length !== inserted + updated || !isKeyed) return undefined;
  // By place, since a row that was deleted and inserted again is found by both.
  const found = new Map<string, Row>();
  const take = (at: readonly string[], rows: readonly Row[]) => {
    for (const [index, row] of rows.entries()) found.set(at[index] ?? "", row);
  };
  const from = `SELECT t.ctid, ${columnsOf(facts)} FROM`;
  if (gone.length > 0)
    await readRows(
      session,
      `${from} ONLY ${facts.name} t WHERE t.ctid = ANY ($1::tid[])`,
      gone,
      take,
    );
  if (updated > 0) {
    const text = `${from} (SELECT pg_catalog.unnest($1::${facts.name}[]) AS r) k JOIN ONLY ${facts.name} t ON ${matching(facts)}`;
    const given = created.map((row) => rowText(facts, row));
    await readRows(session, text, given, take);
  }
  const replacedOwn = made.length - created.length;
  return found.size === updated + deleted - replacedOwn ? [...found.values()] : undefined;
}

/** The condition that a row `k.r` and a row of the table `t` have the same key. */
export const matching = ({ key }: TableFacts) =>
  key.map((column) => `t.${column} = (k.r).${column}`).join(" AND ");

/**
 * Finds the old versions in the whole table: those that others still see and the session no longer does. Rows that it only
 * locked it still sees; rows that another session changed in between are no longer visible to the observer either.
 */
async function searchOld(
  { session: observer, candidates }: Observer,
  session: Session,
  facts: TableFacts,
  take: (row: Row) => void,
): Promise<void> {
  requireSearchable(facts);
  const text = `SELECT t.ctid, ${columnsOf(facts)} FROM ONLY ${facts.name} t WHERE ${candidates}`;
  await readRows(observer, text, undefined, async (places, rows) => {
    if (places.length === 0) return;
    const kept = await visibleAt(session, facts, places);
    const gone = places.filter((place) => !kept.has(place));
    if (gone.length === 0) return;
    const still = await visibleAt(observer, facts, gone);
    for (const [index, row] of rows.entries()) {
      const place = places[index] ?? "";
      if (!kept.has(place) && still.has(place)) take(row);
    }
  });
}

/** How many multixacts there have been; a lock that another session shares makes one. */
export const MULTIXACTS = "pg_catalog.mxid_age('1'::xid)";

/**
 * Runs work with a second connection to the same server, which sees what was committed.
 *
 * @throws Unrecordable if there is none, or its work fails
 */
async function observe(
  database: Database,
  session: Session,
  { xid, facts, multixacts, started }: Pick<Recorded, "xid" | "facts"> & Omit<Start, "counts">,
  run: (observer: Observer) => Promise<void>,
): Promise<void> {
  if (database.limits.maxConnections < 2)
    throw new Unrecordable("--max-connections 1 leaves no second connection");
  const late = () => new Unrecordable("no second connection to the server is available");
  const waiting = startDeadline(CONNECT_MS, session.signal, late);
  const isLate = once(waiting.signal, "abort").then(() => waiting.signal.throwIfAborted());
  let failure: unknown;
  const work = database.workInOne({ signal: session.signal }, async (observer) => {
    if (waiting.signal.aborted) return;
    waiting.end();
    const opening = observer.takeOpening();
    const [seen] = await observer.rows<{
      isSame: boolean;
      age: number;
      multixacts: number;
      tables: string[];
    }>(
      `SELECT ${STARTED} = $2 AND NOT pg_catalog.pg_is_in_recovery() AND pg_catalog.pg_xact_status($1::text::xid8) = 'in progress' AS "isSame",
         pg_catalog.age(($1::text::int8 % 4294967296)::text::xid) AS age, ${MULTIXACTS} AS multixacts,
         ARRAY(SELECT oid::text FROM pg_catalog.pg_class WHERE oid = ANY ($3::oid[])) AS tables`,
      [xid, started, facts.map(({ id }) => id)],
      // The change itself may have locked the table.
      [...(opening?.statements ?? []), "SET LOCAL lock_timeout = 500"],
    );
    opening?.opened?.();
    if (seen?.isSame !== true) throw new Unrecordable("another connection leads to another server");
    const since = seen.multixacts - multixacts;
    const shared = since === 0 ? "" : ` OR pg_catalog.mxid_age(t.xmax) BETWEEN 0 AND ${since + 1}`;
    const candidates = `(pg_catalog.age(t.xmax) BETWEEN 1 AND ${seen.age}${shared})`;
    try {
      await run({ session: observer, tables: seen.tables, candidates, age: seen.age });
    } catch (error) {
      failure = error;
      throw error;
    }
  });
  try {
    await Promise.race([work, isLate]);
  } catch (error) {
    session.signal.throwIfAborted();
    if (session.connection.isInvalid) throw error;
    const cause = failure ?? error;
    if (cause instanceof Unrecordable) throw cause;
    const why = cause instanceof Error ? cause.message : String(cause);
    throw new Unrecordable(`a second connection can't read them: ${oneLine(why)}`);
  } finally {
    waiting.end();
    work.catch(() => undefined);
  }
}
