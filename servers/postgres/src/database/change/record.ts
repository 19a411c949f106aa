import { errorCode } from "@refmcp/boundary";
import { oneLine } from "@refmcp/boundary/answer";
import { ChangeWriter, type Recording, RecordTooLarge, TOO_LARGE } from "@refmcp/sql";
import type { Session, Sessions } from "../driver/sessions.ts";
import type { TouchedTable } from "./losses.ts";
import {
  FORM,
  factsOf,
  givenRows,
  keyText,
  matching,
  rowsOf,
  type TableFacts,
  transactionOf,
} from "./tables.ts";

// A change is recorded if RETURNING found every row that PostgreSQL's counters say it changed: what triggers, cascades, rules
// and functions do is not. New rows are read where RETURNING found them. Until the change is committed, every other session
// sees the rows that it replaced or deleted, so a second connection (the observer) reads those.

/** Where RETURNING found rows, by the object id of their table (or partition). */
export interface Places {
  /** Inserted and updated rows. */
  readonly created: ReadonlyMap<string, readonly string[]>;
  readonly deleted: ReadonlyMap<string, readonly string[]>;
}

/** Why rows can't be recorded. */
export class Unrecordable extends Error {
  override name = "Unrecordable";
}

/** Adds a row to a record, or completes it. @throws Unrecordable if the record is too large or the disk is full */
export function written(write: () => void): void {
  try {
    write();
  } catch (error) {
    if (error instanceof RecordTooLarge) throw new Unrecordable(TOO_LARGE);
    const why = error instanceof Error ? error.message : String(error);
    throw new Unrecordable(`the record of changes can't be written: ${oneLine(why)}`);
  }
}

/** Begins a record. @throws Unrecordable with the reason why it can't be recorded */
export function writerFor(recording: Recording): ChangeWriter {
  if ("reason" in recording) throw new Unrecordable(recording.reason);
  try {
    return new ChangeWriter(recording);
  } catch (error) {
    throw new Unrecordable(`the record of changes can't be written (${errorCode(error)})`);
  }
}

/** What a record has in addition to its rows. */
interface RecordedFacts {
  readonly facts: readonly Pick<TableFacts, "id" | "name" | "columns" | "key">[];
  /** Tables whose inserted rows are not in it. */
  readonly skipped: readonly string[];
  /** The id of the transaction; empty if it changed nothing. */
  readonly xid: string;
}

/** When this server started, which identifies it; in a form that does not depend on settings. */
export const STARTED = "pg_catalog.date_part('epoch', pg_catalog.pg_postmaster_start_time())::text";

interface Changes {
  readonly tables: readonly TouchedTable[];
  readonly places: Places;
  readonly started: string;
}

/**
 * Adds the rows that the transaction of a session changed to a record, before and after the change.
 *
 * @throws Unrecordable with the reason why they can't be recorded, or an error of PostgreSQL in the session
 */
export async function recordRows(
  sessions: Sessions,
  session: Session,
  writer: ChangeWriter,
  { tables, places, started }: Changes,
): Promise<RecordedFacts> {
  const known = await factsOf(
    session,
    tables.map(({ id }) => id),
  );
  const xid = await transactionOf(session);
  const skipped: string[] = [];
  const changed: { facts: TableFacts; table: TouchedTable }[] = [];
  for (const table of tables) {
    const facts = known.find(({ id }) => id === table.id);
    const why = whyNot(facts, table, places);
    if (facts !== undefined && why === undefined) changed.push({ facts, table });
    else if (table.updated + table.deleted === 0) skipped.push(table.table);
    else throw new Unrecordable(why ?? "");
  }
  await session.rows(FORM);
  const news = new Map<string, Map<string, NewRow>>();
  for (const { facts } of changed)
    news.set(facts.id, await newRows(session, facts, places.created.get(facts.id) ?? []));
  const isReplacing = changed.some(({ table }) => table.updated + table.deleted > 0);
  const olds = isReplacing
    ? await observed(sessions, session, { xid, started, changed, places, news })
    : new Map<string, Map<string, string>>();
  for (const { facts } of changed) {
    const after = news.get(facts.id) ?? new Map<string, NewRow>();
    for (const [key, before] of olds.get(facts.id) ?? []) {
      const row = after.get(key);
      after.delete(key);
      const now = row === undefined ? {} : { after: row.row };
      const id = row === undefined ? [key] : [key, row.place];
      written(() => writer.add({ table: facts.name, key: id, before, ...now }));
    }
    for (const [key, { row, place }] of after)
      written(() => writer.add({ table: facts.name, key: [key, place], after: row }));
  }
  const facts = changed.map(({ facts: { id, name, columns, key } }) => ({
    id,
    name,
    columns,
    key,
  }));
  return { facts, skipped, xid };
}

/** Why the rows of a table can't be recorded; undefined if they can. */
function whyNot(
  facts: TableFacts | undefined,
  { id, table, inserted, updated, deleted }: TouchedTable,
  { created, deleted: gone }: Places,
): string | undefined {
  if (facts === undefined) return `${table}: it was dropped`;
  if (facts.reason !== null) return `${table}: ${facts.reason}`;
  const isLocated =
    (created.get(id)?.length ?? 0) === inserted + updated &&
    (gone.get(id)?.length ?? 0) === deleted;
  if (!isLocated) return `triggers, cascades, rules or functions changed rows of ${table}`;
  return updated > 0 && facts.key.length === 0 ? `${table} has no key` : undefined;
}

interface NewRow {
  readonly row: string;
  readonly place: string;
}

/** The rows at these places that still exist, by their keys. */
async function newRows(
  session: Session,
  facts: TableFacts,
  places: readonly string[],
): Promise<Map<string, NewRow>> {
  if (places.length === 0) return new Map();
  const text = `SELECT t.ctid, ${keyText(facts)}, (t.*)::text FROM ONLY ${facts.name} t
    WHERE t.ctid = ANY ($1::tid[])`;
  const rows = await rowsOf(session, text, places);
  return new Map(rows.map(([place, key, row]) => [`${key}`, { row: `${row}`, place: `${place}` }]));
}

interface Observing extends Pick<Changes, "places" | "started"> {
  readonly xid: string;
  readonly changed: readonly { facts: TableFacts; table: TouchedTable }[];
  readonly news: ReadonlyMap<string, ReadonlyMap<string, NewRow>>;
}

/**
 * The rows that a change replaced or deleted, by table and key, from a second connection to the same server.
 *
 * @throws Unrecordable if there is none, or if they are not all
 */
async function observed(
  sessions: Sessions,
  session: Session,
  { xid, started, changed, places, news }: Observing,
): Promise<Map<string, Map<string, string>>> {
  if (sessions.limits.maxConnections < 2)
    throw new Unrecordable("--max-connections 1 leaves no second connection");
  const work = sessions.work({ signal: session.signal }, async (observer) => {
    const [seen] = await observer.rows<{ isSame: boolean; tables: string[] }>(
      `SELECT ${STARTED} = $2 AND NOT pg_catalog.pg_is_in_recovery()
           AND pg_catalog.pg_xact_status($1::text::xid8) = 'in progress' AS "isSame",
         ARRAY(SELECT oid::text FROM pg_catalog.pg_class WHERE oid = ANY ($3::oid[])) AS tables`,
      [xid, started, changed.map(({ facts }) => facts.id)],
      // The change itself may have locked the table.
      ["SET LOCAL lock_timeout = 500"],
    );
    if (seen?.isSame !== true) throw new Unrecordable("another connection leads to another server");
    await observer.rows(FORM);
    const olds = new Map<string, Map<string, string>>();
    for (const { facts, table } of changed) {
      const created = news.get(facts.id) ?? new Map();
      const isNew = !seen.tables.includes(facts.id);
      const rows = isNew ? new Map() : await oldRows(observer, facts, table, places, created);
      // Each change replaced a row that was there before, or one that the same transaction had made.
      const own = (places.created.get(facts.id)?.length ?? 0) - created.size;
      if (rows.size !== table.updated + table.deleted - own)
        throw new Unrecordable(`keys of ${table.table} were changed`);
      olds.set(facts.id, rows);
    }
    return olds;
  });
  try {
    return await work;
  } catch (error) {
    session.signal.throwIfAborted();
    if (session.connection.isInvalid || error instanceof Unrecordable) throw error;
    const why = error instanceof Error ? error.message : String(error);
    throw new Unrecordable(`a second connection can't read them: ${oneLine(why)}`);
  }
}

/** The rows at the places of deleted ones, and those with the keys of new ones, by their keys. */
async function oldRows(
  observer: Session,
  facts: TableFacts,
  { updated }: TouchedTable,
  { deleted }: Places,
  created: ReadonlyMap<string, NewRow>,
): Promise<Map<string, string>> {
  const gone = deleted.get(facts.id) ?? [];
  const select = `SELECT ${keyText(facts)}, (t.*)::text FROM`;
  const rows =
    gone.length === 0
      ? []
      : await rowsOf(
          observer,
          `${select} ONLY ${facts.name} t WHERE t.ctid = ANY ($1::tid[])`,
          gone,
        );
  const news = updated === 0 ? [] : [...created.values()];
  const replaced =
    news.length === 0
      ? []
      : await rowsOf(
          observer,
          `${select} ${givenRows(facts)} JOIN ONLY ${facts.name} t ON ${matching(facts)}`,
          news.map(({ row }) => row),
          news.map(({ place }) => place),
        );
  return new Map([...rows, ...replaced].map(([key, row]) => [`${key}`, `${row}`]));
}
