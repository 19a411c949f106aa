import {
  type ChangeSummary,
  ChangeWriter,
  type Recording,
  RecordTooLarge,
  type TableCounts,
  TOO_LARGE,
} from "@refmcp/sql/change-record";
import { type Loss, lossText } from "@refmcp/sql/loss";
import type Database from "better-sqlite3";
import { Capture } from "./capture.ts";
import { Definitions } from "./definitions.ts";

/** A changing statement, as classified by its text. */
export interface WatchedStatement {
  readonly sql: string;
  readonly verb: string;
  /** The table that it inserts into, updates or deletes from, in lower case. */
  readonly target?: string;
  /** Whether it may replace rows: REPLACE, ON CONFLICT DO UPDATE. */
  readonly overwrites: boolean;
}

/** What a record says in addition to its rows. */
export interface Recorded extends Pick<ChangeSummary, "statements" | "undoes"> {
  /** What the record knows the database by. */
  readonly identity: string;
  /** The counters of the file before the change: see `FileVersion`. */
  readonly version: unknown;
}

/** The record of a change could not be written, so the rows are only counted. */
class NotRecorded extends Error {}

/** Why a change was not recorded, if it failed for that reason. */
export function whyNotRecorded(error: unknown): string | undefined {
  if (error instanceof NotRecorded) return error.message;
  const isFull = error instanceof Error && "code" in error && error.code === "SQLITE_FULL";
  return isFull ? TOO_LARGE : undefined;
}

/**
 * Runs work that records what it changes; if it can't be recorded, it is rolled back, and runs again without a record.
 *
 * @param work gets why it is not recorded
 */
export function recordedOrNot<Value>(
  recording: Recording,
  work: (unrecorded: string | undefined) => Value,
): Value {
  if ("reason" in recording) return work(recording.reason);
  try {
    return work(undefined);
  } catch (error) {
    const reason = whyNotRecorded(error);
    if (reason === undefined) throw error;
    return work(reason);
  }
}

const definesSchema = (verb: string) => ["CREATE", "ALTER", "DROP"].includes(verb);

/** Finds out what the statements of a transaction change, by their effects and not by their text. */
export class ChangeWatch {
  readonly #capture: Capture;
  readonly #definitions: Definitions | undefined;
  readonly #isCounting: boolean;
  /** What was changed without being watched, in virtual tables. */
  readonly #unseen: TableCounts[] = [];
  readonly #possible = new Set<string>();
  /** Why the change can't be recorded; undefined if it can. */
  unrecorded: string | undefined;

  /** @param unrecorded why it is not recorded; its rows are only counted then */
  constructor(
    database: Database.Database,
    statements: readonly Pick<WatchedStatement, "sql" | "verb">[],
    unrecorded: string | undefined,
  ) {
    this.unrecorded = unrecorded;
    this.#isCounting = unrecorded !== undefined;
    const isSchema = statements.some(({ verb }) => definesSchema(verb));
    this.#definitions = isSchema ? new Definitions(database) : undefined;
    const texts = statements.map(({ sql }) => sql);
    this.#capture = new Capture(database, texts, this.#isCounting);
  }

  /** Runs a statement. */
  follow<Value>({ sql, verb }: Pick<WatchedStatement, "sql" | "verb">, work: () => Value): Value {
    const definitions = this.#definitions;
    if (!definesSchema(verb) || definitions === undefined) return work();
    return this.#capture.around(verb, () => definitions.follow(sql, work));
  }

  /** Adds what a statement did. @param effect the rows it changed itself, and all that were changed by it */
  add(
    { verb, target = "", overwrites }: Omit<WatchedStatement, "sql">,
    { changed, touched }: { changed: number; touched: number },
  ): void {
    const direct = this.#capture.blind.get(target);
    if (direct !== undefined && changed > 0) {
      this.unrecorded ??= direct.reason;
      const deleted = verb === "DELETE" ? changed : 0;
      const updated = verb === "UPDATE" || overwrites ? changed : 0;
      this.#unseen.push({ table: target, inserted: 0, updated, deleted });
    }
    if (touched === 0) return;
    for (const [name, { reason, kinds }] of this.#capture.blind) {
      if (name === target) continue;
      this.unrecorded ??= reason;
      if (kinds.has("update") || kinds.has("delete")) this.#possible.add(name);
    }
  }

  /** The loss if the change is not recorded; undefined if there is none. Call it once, at the end. */
  loss(): Loss | undefined {
    const objects = this.#definitions?.losses ?? [];
    if (objects.length > 0) this.unrecorded ??= "the same transaction removes other data";
    if (!this.#isCounting) this.unrecorded ??= this.#capture.obstacle;
    if (this.unrecorded === undefined) return undefined;
    const possible = [...this.#possible].map(
      (name) => `possible changes of rows of ${name} by triggers`,
    );
    const tables = [...this.#capture.counts(), ...this.#unseen];
    const loss = { tables, objects: [...objects, ...possible], reason: this.unrecorded };
    return lossText(loss) === undefined ? undefined : loss;
  }

  /** How many rows of each table were changed. */
  get counts(): TableCounts[] {
    return this.#capture.counts();
  }

  /**
   * Writes the record, up to the commit; undefined if nothing was changed, or if it is not recorded.
   *
   * @throws an error for `whyNotRecorded`
   */
  record(
    recording: Recording,
    { identity, version, ...details }: Recorded,
  ): ChangeWriter | undefined {
    if (this.unrecorded !== undefined || "reason" in recording) return undefined;
    const writer = recorded(() => new ChangeWriter(recording));
    try {
      for (const row of this.#capture.rows()) recorded(() => writer.add(row));
      if (writer.tables.length > 0) {
        const { columns, indexes } = this.#capture;
        const facts = { columns, indexes: [...indexes], version };
        recorded(() => writer.finish({ database: identity, ...details, facts }));
        return writer;
      }
    } catch (error) {
      writer.discard();
      throw error;
    }
    writer.discard();
    return undefined;
  }
}

/** Runs a part of writing a record. @throws NotRecorded for any failure */
function recorded<Value>(work: () => Value): Value {
  try {
    return work();
  } catch (error) {
    if (error instanceof RecordTooLarge) throw new NotRecorded(TOO_LARGE);
    const code = error instanceof Error && "code" in error ? String(error.code) : String(error);
    throw new NotRecorded(`the change could not be recorded: ${code}`);
  }
}
