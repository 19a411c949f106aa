import { createHash } from "node:crypto";
import { ToolError } from "@refmcp/core/answer";
import type { FieldDef } from "pg";
import type { Database, Session, Work } from "../connection/database.ts";
import type { Link } from "../connection/link.ts";
import { passReading } from "../gate/gate.ts";
import { paramsOf } from "./params.ts";
import { type Batch, type Caps, PortalQuery, type Row } from "./portal.ts";

export interface Question extends Pick<Work, "signal" | "timeoutMs"> {
  readonly sql: string;
  readonly params: readonly unknown[];
  readonly caps: Caps;
  /** Turns decoded values into what is shown. */
  show(row: readonly unknown[]): unknown[];
  /** How many of the shown rows fit into the answer, at least one of any. */
  fitting(rows: readonly (readonly unknown[])[], columns: Page["columns"]): number;
  /** Where the page before ended. */
  readonly from?: Place | undefined;
}

/** A place in a result: after so many rows, the last of which had this mark. */
export interface Place {
  readonly offset: number;
  readonly mark: string;
}

export interface Page {
  readonly columns: readonly { readonly name: string; readonly type: string }[];
  readonly rows: readonly (readonly unknown[])[];
  readonly stopped: "rows" | "bytes" | undefined;
  /** Where the next page begins; undefined on the last, and where a result has no pages. */
  readonly next: Place | undefined;
  readonly notices: readonly string[];
}

/** A result that was read in part: its portal, in a transaction that is kept open for a while. */
interface Kept {
  /** Undefined where the portal had no more rows than the leftover ones. */
  readonly link: Link | undefined;
  readonly from: Pick<Batch, "fields" | "leftover">;
  readonly timer: NodeJS.Timeout;
}

const PORTAL = "refmcp_result";
const KEPT_MS = 60_000;
const MOST_KEPT = 2;

/**
 * Reads results in pages. The portal of a result that was cut is kept for a minute, so that its next page is the rest of
 * the very same snapshot, without a repeat or a gap. Where it is gone (time, another call needed its connection, a
 * restart), the statement is run again up to the same place and the row there is compared: what changed is a `conflict`.
 */
export class Reader {
  readonly #database: Database;
  readonly #kept = new Map<string, Kept>();

  constructor(database: Database) {
    this.#database = database;
    database.onBusy = () => this.yield();
  }

  /** @throws ToolError what the gate, PostgreSQL or the limits say. */
  async read(question: Question): Promise<Page> {
    const { pageable } = await passReading(question.sql);
    const { from, signal, timeoutMs, sql } = question;
    if (from !== undefined && !pageable) throw movedOn("This statement has no pages.");
    const kept = from === undefined ? undefined : this.#take(keyOf(question, from));
    if (kept !== undefined) return await this.#resume(kept, question);
    return await this.#database.work({ signal, timeoutMs, sql }, (session) =>
      from === undefined ? this.#first(session, question, pageable) : this.#again(session, question, from),
    );
  }

  async #first(session: Session, question: Question, pageable: boolean): Promise<Page> {
    const { link } = session;
    const statement = { text: question.sql, params: paramsOf(question.params) };
    const query = new PortalQuery(
      pageable ? { ...statement, portal: PORTAL } : statement,
      question.caps,
      () => link.cancel(),
    );
    const batch = await link.client.query(query).done;
    return await this.#page(session, question, batch, 0, pageable);
  }

  /** Runs the statement again, skips what was given before on the server, and checks the row before the page. */
  async #again(session: Session, question: Question, from: Place): Promise<Page> {
    const { link } = session;
    const statement = { text: question.sql, params: paramsOf(question.params), portal: PORTAL };
    const { fields } = await link.client.query(PortalQuery.open(statement)).done;
    if (from.offset > 1) await link.run(`MOVE FORWARD ${from.offset - 1} IN ${PORTAL}`);
    const go = (leftover: readonly Row[], caps: Caps) =>
      link.client.query(PortalQuery.resume(PORTAL, { fields, leftover }, caps, () => link.cancel())).done;
    const seen = await go([], { rows: 1, bytes: question.caps.bytes });
    const [before] = seen.rows;
    if (before === undefined || markOf(before) !== from.mark)
      throw movedOn("The rows before this cursor are no longer the same, so the next page cannot be told.");
    const batch = seen.finished
      ? PortalQuery.local(seen, question.caps)
      : await go(seen.leftover, question.caps);
    return await this.#page(session, question, batch, from.offset, true);
  }

  async #resume(kept: Kept, question: Question): Promise<Page> {
    const { link } = kept;
    const offset = question.from?.offset ?? 0;
    const { signal, timeoutMs, sql } = question;
    const work = { signal, timeoutMs, sql };
    if (link === undefined) {
      const batch = PortalQuery.local(kept.from, question.caps);
      return this.#pageOf(batch, question, { offset, pageable: true });
    }
    return await this.#database.onLink(link, work, async (session) => {
      const query = PortalQuery.resume(PORTAL, kept.from, question.caps, () => link.cancel());
      const batch = await link.client.query(query).done;
      return await this.#page(session, question, batch, offset, true);
    });
  }

  async #page(
    session: Session,
    question: Question,
    batch: Batch,
    offset: number,
    pageable: boolean,
  ): Promise<Page> {
    const { link } = session;
    await this.#learn(link, batch.fields);
    const page = this.#pageOf(batch, question, { offset, pageable, ...(link.isSpoiled ? {} : { session }) });
    return { ...page, notices: link.takeNotices() };
  }

  /** The page of a batch; what is left of the result is kept under the place where the page ends. */
  #pageOf(
    batch: Batch,
    question: Question,
    at: { readonly offset: number; readonly pageable: boolean; readonly session?: Session },
  ): Page {
    const { types } = this.#database;
    const { fields } = batch;
    const columns = fields.map(({ name, dataTypeID }) => ({ name, type: types.of(dataTypeID).name }));
    const shown = batch.rows.map((row) =>
      question.show(row.map((cell, index) => types.decode(cell, fields[index]?.dataTypeID ?? 0))),
    );
    const fits = question.fitting(shown, columns);
    const stopped = fits < shown.length ? ("bytes" as const) : batch.stopped;
    const rows = batch.rows.slice(0, fits);
    const rest = { fields, leftover: [...batch.rows.slice(fits), ...batch.leftover] };
    const last = rows.at(-1);
    const next =
      at.pageable && stopped !== undefined && last !== undefined
        ? { offset: at.offset + rows.length, mark: markOf(last) }
        : undefined;
    if (next !== undefined) {
      if (batch.finished) this.#keep(keyOf(question, next), undefined, rest);
      else if (at.session !== undefined) {
        this.#keep(keyOf(question, next), at.session.link, rest);
        at.session.keep();
      }
    }
    return {
      columns,
      rows: shown.slice(0, fits),
      stopped,
      next,
      notices: [],
    };
  }

  async #learn(link: Link, fields: readonly FieldDef[]): Promise<void> {
    await this.#database.types.learn(
      fields.map(({ dataTypeID }) => dataTypeID),
      async (statement) => {
        const { rows } = await link.client.query<string[]>({ text: statement, rowMode: "array" });
        return rows.map((row) => row.map(String));
      },
    );
  }

  #keep(key: string, link: Link | undefined, from: Kept["from"]): void {
    this.#drop(this.#take(key));
    while (this.#kept.size >= MOST_KEPT) this.yield();
    const timer = setTimeout(() => this.#drop(this.#take(key)), KEPT_MS);
    timer.unref();
    this.#kept.set(key, { link, from, timer });
  }

  #take(key: string): Kept | undefined {
    const kept = this.#kept.get(key);
    this.#kept.delete(key);
    clearTimeout(kept?.timer);
    if (kept?.link?.isSpoiled !== true) return kept;
    this.#drop(kept);
    return undefined;
  }

  #drop(kept: Kept | undefined): void {
    if (kept?.link !== undefined) void this.#database.pool.release(kept.link);
  }

  /** Gives up the oldest kept result; whether there was one. */
  yield(): boolean {
    const [oldest] = this.#kept.keys();
    if (oldest === undefined) return false;
    this.#drop(this.#take(oldest));
    return true;
  }
}

function keyOf({ sql, params }: Question, { offset, mark }: Place): string {
  return JSON.stringify([sql, params, offset, mark]);
}

function markOf(row: Row): string {
  return createHash("sha256").update(JSON.stringify(row)).digest("base64url").slice(0, 16);
}

function movedOn(message: string): ToolError {
  return new ToolError("conflict", message, {
    hint: "Leave cursor out to start again; an ORDER BY over a unique key keeps the order of a result.",
  });
}
