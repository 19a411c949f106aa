import { errorCode } from "@refmcp/boundary";
import { oneLine, reasonOf } from "@refmcp/boundary/answer";
import {
  ChangeWriter,
  type RecordedRow,
  type Recording,
  RecordTooLarge,
  TOO_LARGE,
} from "@refmcp/sql";
import { STARTED } from "../driver/role.ts";
import type { Session, Sessions } from "../driver/sessions.ts";
import type { Row } from "../driver/values.ts";
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
    throw new Unrecordable(`the record of changes can't be written: ${oneLine(reasonOf(error))}`);
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

interface Changes {
  readonly tables: readonly TouchedTable[];
  readonly places: Places;
  readonly started: string;
}

/** Rows that are read and added to a record at once. */
const BATCH = 1_000;

interface ChangedTable {
  readonly facts: TableFacts;
  readonly table: TouchedTable;
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
  const ids = tables.map(({ id }) => id);
  const tableFacts = await factsOf(session, ids);
  const xid = await transactionOf(session);
  const skipped: string[] = [];
  const changed: ChangedTable[] = [];
  for (const table of tables) {
    const facts = tableFacts.find(({ id }) => id === table.id);
    const why = whyNot(facts, table, places);
    if (facts !== undefined && why === undefined) changed.push({ facts, table });
    else if (table.updated + table.deleted === 0) skipped.push(table.table);
    else throw new Unrecordable(why ?? "");
  }
  await session.rows(FORM);
  const recorder = new Recorder(session, writer, places);
  const isReplacing = changed.some(({ table }) => table.updated + table.deleted > 0);
  if (isReplacing) await recorder.observed(sessions, { xid, started }, changed);
  else for (const each of changed) await recorder.table(each, undefined);
  const facts = changed.map(({ facts: { id, name, columns, key } }) => {
    return { id, name, columns, key };
  });
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

/** Adds rows to a record in batches, so that a large change needs little memory. */
class Recorder {
  readonly #session: Session;
  readonly #writer: ChangeWriter;
  readonly #places: Places;
  /** The session's own error. */
  #failure: unknown;

  constructor(session: Session, writer: ChangeWriter, places: Places) {
    this.#session = session;
    this.#writer = writer;
    this.#places = places;
  }

  /**
   * Adds the rows of tables, with those that the change replaced or deleted from a second connection to the same server.
   *
   * @throws Unrecordable if there is none, or if they are not all
   */
  async observed(
    sessions: Sessions,
    { xid, started }: { readonly xid: string; readonly started: string },
    changed: readonly ChangedTable[],
  ): Promise<void> {
    const session = this.#session;
    if (sessions.limits.maxConnections < 2)
      throw new Unrecordable("--max-connections 1 leaves no second connection");
    const work = sessions.work({ signal: session.signal, times: 2 }, async (observer) => {
      const [seen] = await observer.rows<{ isSame: boolean; tables: string[] }>(
        `SELECT ${STARTED} = $2 AND NOT pg_catalog.pg_is_in_recovery()
             AND pg_catalog.pg_xact_status($1::text::xid8) = 'in progress' AS "isSame",
           ARRAY(SELECT oid::text FROM pg_catalog.pg_class WHERE oid = ANY ($3::oid[])) AS tables`,
        [xid, started, changed.map(({ facts }) => facts.id)],
        // The change itself may have locked the table.
        ["SET LOCAL lock_timeout = 500"],
      );
      if (seen?.isSame !== true)
        throw new Unrecordable("another connection leads to another server");
      await observer.rows(FORM);
      for (const each of changed)
        await this.table(each, seen.tables.includes(each.facts.id) ? observer : undefined);
    });
    try {
      await work;
    } catch (error) {
      session.signal.throwIfAborted();
      if (this.#failure !== undefined) throw this.#failure;
      if (session.connection.isInvalid || error instanceof Unrecordable) throw error;
      const why = error instanceof Error ? error.message : String(error);
      throw new Unrecordable(`a second connection can't read them: ${oneLine(why)}`);
    }
  }

  /** Adds the rows of a table. @param observer undefined if no other session sees the table */
  async table({ facts, table }: ChangedTable, observer: Session | undefined): Promise<void> {
    const created = this.#places.created.get(facts.id) ?? [];
    const deleted = this.#places.deleted.get(facts.id) ?? [];
    const select = `SELECT ${keyText(facts)}, (t.*)::text`;
    const isReplacing = table.updated + table.deleted > 0 && facts.key.length > 0;
    /** Keys of replaced rows, if some may be among the deleted ones. */
    const replaced = new Set<string>();
    let before = 0;
    let after = 0;
    for (const places of batches(created)) {
      const news = await this.#newRows(facts, places);
      const olds = isReplacing
        ? await rowsSeenBy(
            observer,
            `${select}, k.n FROM ${givenRows(facts)} JOIN ONLY ${facts.name} t ON ${matching(facts)}`,
            news.map(([, row]) => `${row}`),
            news.map(([, , place]) => `${place}`),
          )
        : [];
      before += olds.length;
      after += news.length;
      // Not by the texts of their keys: 1.0 and 1.00 are one key.
      const byNumber = new Map(olds.map((old) => [Number(old[2]), old]));
      for (const [at, [key, row, place]] of news.entries()) {
        const [oldKey, old] = byNumber.get(at + 1) ?? [];
        if (old !== undefined && deleted.length > 0) replaced.add(`${oldKey}`);
        this.#add(facts, [key, place], { before: old, after: row });
      }
    }
    const text = `${select} FROM ONLY ${facts.name} t WHERE t.ctid = ANY ($1::tid[])`;
    for (const places of batches(deleted))
      for (const [key, row] of await rowsSeenBy(observer, text, places)) {
        if (replaced.has(`${key}`)) continue;
        before += 1;
        this.#add(facts, [key], { before: row });
      }
    // Each change replaced a row that was there before, or one that the same transaction had made.
    if (before !== table.updated + table.deleted - (created.length - after))
      throw new Unrecordable(`keys of ${table.table} were changed`);
  }

  #add({ name }: TableFacts, key: unknown, row: Omit<RecordedRow, "table" | "key">): void {
    written(() => this.#writer.add({ table: name, key, ...row }));
  }

  /** The rows at these places that still exist: key, row and place. */
  async #newRows(facts: TableFacts, places: readonly string[]): Promise<readonly Row[]> {
    const text = `SELECT ${keyText(facts)}, (t.*)::text, t.ctid FROM ONLY ${facts.name} t
      WHERE t.ctid = ANY ($1::tid[])`;
    return await rowsOf(this.#session, text, places).catch((error: unknown) => {
      this.#failure = error;
      throw error;
    });
  }
}

function* batches(places: readonly string[]): Generator<readonly string[]> {
  for (let at = 0; at < places.length; at += BATCH) yield places.slice(at, at + BATCH);
}

/** The rows that a second connection reads; none if no other session sees the table. */
const rowsSeenBy = async (
  observer: Session | undefined,
  ...asked: readonly [text: string, ...lists: (readonly string[])[]]
) => (observer === undefined ? [] : await rowsOf(observer, ...asked));
