import { grouped } from "@refmcp/boundary/answer";

/** `1 row`, `2,000 rows`. */
export const counted = (rows: number) => `${grouped(rows)} ${rows === 1 ? "row" : "rows"}`;

/** Losing more rows than this in a session needs confirmation. */
const MANY_ROWS = 1_000;
/** Losing at least half of a table in a session needs confirmation from this many rows. */
const HALF_FROM = 20;

export interface RowCounts {
  readonly inserted: number;
  /** Rows that were overwritten by an UPDATE, a REPLACE or an upsert. */
  readonly updated: number;
  readonly deleted: number;
}

/** What happened to the rows of one table. */
export interface TableChange extends RowCounts {
  /** What the session knows the table by. */
  readonly id: string;
  readonly table: string;
  /** What to call the change, if its counts don't say it. */
  readonly verb?: string | undefined;
}

/** What a session did to each table, by its id, since the user last agreed to a loss there. */
export type SessionChanges = ReadonlyMap<string, RowCounts>;

/** The tables whose counts start again because the user agreed to the loss. */
export type Agreed = readonly string[] | "all";

const NONE: RowCounts = { inserted: 0, updated: 0, deleted: 0 };

/** Rows lost by a change. A lone UPDATE of one row is everyday work and does not add up. */
const lostBy = ({ updated, deleted }: RowCounts) => deleted + (updated > 1 ? updated : 0);

/** The sum of a session's changes to a table. */
export const plus = (earlier: RowCounts | undefined, change: RowCounts): RowCounts => {
  const { inserted, updated, deleted } = earlier ?? NONE;
  return {
    inserted: inserted + change.inserted,
    updated: updated + lostBy(change) - change.deleted,
    deleted: deleted + change.deleted,
  };
};

/**
 * Adds up what the statements of a transaction lose, by what they did and not by their text, together with what the session
 * lost earlier: the last rows of a table, at least half of it, more than 1,000 rows, or a schema object with its contents.
 */
export class LossTally {
  readonly #earlier: SessionChanges;
  readonly #losses: string[] = [];
  readonly #weakened: string[] = [];
  readonly #agreed: string[] = [];
  readonly #others: TableChange[] = [];
  readonly #changes: TableChange[] = [];
  #isTogether = false;

  constructor(earlier: SessionChanges = new Map()) {
    this.#earlier = earlier;
  }

  /** A schema object was removed: `DROP TABLE users`. @param rows its rows; undefined if it can't have any */
  structure(what: string, rows?: number, others = 0): void {
    const byOthers = others > 0 ? `; ${counted(others)} by cascades and triggers` : "";
    this.#losses.push(rows === undefined ? what : `${what} (${counted(rows)}${byOthers})`);
  }

  /** A protection was weakened: `GRANT ALL on "users" to PUBLIC`. */
  weaken(what: string): void {
    this.#weakened.push(what);
  }

  /** Up to how many rows of the changed table must be counted for `rows`. */
  rowsNeeded(change: TableChange): number {
    if (lostBy(change) === 0) return 0;
    const { inserted, updated, deleted } = plus(this.#earlier.get(change.id), change);
    return Math.max(1, 2 * (updated + deleted) + inserted - deleted + 1);
  }

  /** @param left how many rows the table has now, counted up to `rowsNeeded` */
  rows(change: TableChange, left: number): void {
    const lost = lostBy(change);
    // Losing rows that were inserted in the same transaction loses nothing.
    const isLoss = lost > 0 && left + change.deleted > change.inserted;
    this.#changes.push(isLoss || lost === 0 ? change : { ...change, ...NONE, inserted: left });
    if (!isLoss) return;
    const loss = this.#lossOf(change, lost, left);
    if (loss === undefined) {
      this.#others.push(change);
      return;
    }
    this.#losses.push(loss);
    this.#agreed.push(change.id);
  }

  #lossOf(change: TableChange, now: number, left: number): string | undefined {
    const { id, table, updated, deleted } = change;
    const sum = plus(this.#earlier.get(id), change);
    const lost = sum.updated + sum.deleted;
    // Rows that the session itself inserted don't hide the loss of the others.
    const others = left + sum.deleted - sum.inserted;
    const total = others > 0 ? others : left + sum.deleted;
    const isEmptied = left === 0 && deleted > 0;
    const isEvery = isEmptied || (lost >= total && lost > 1);
    const isHalf = total >= HALF_FROM && 2 * lost >= total;
    if (!isEvery && !isHalf && lost <= MANY_ROWS) return undefined;
    const verb = change.verb ?? (updated === 0 ? "DELETE" : deleted === 0 ? "UPDATE" : "change");
    if (lost === now) {
      if (isEvery) return `${verb} of every row of ${table} (${counted(now)})`;
      return `${verb} of ${isHalf ? `${grouped(now)} of the ${counted(total)}` : counted(now)} of ${table}`;
    }
    const share = isHalf || isEvery ? ` of its ${counted(Math.max(total, lost))}` : "";
    const rows = isEmptied ? `the last ${now === 1 ? "row" : counted(now)}` : counted(now);
    return `${verb} of ${rows} of ${table}, which makes ${grouped(lost)}${share} in this session`;
  }

  /** The whole loss in a sentence for the user; undefined if nothing is lost. @param details further losses */
  loss(details: readonly string[] = []): string | undefined {
    const now = this.#others.reduce((sum, change) => sum + lostBy(change), 0);
    let together = now;
    for (const [id, { updated, deleted }] of this.#earlier)
      if (!this.#agreed.includes(id)) together += updated + deleted;
    this.#isTogether = now > 0 && together > MANY_ROWS;
    const session = together > now ? `, which makes ${grouped(together)} in this session` : "";
    const losses = this.#isTogether
      ? [...this.#losses, `changes of ${counted(now)} together${session}`]
      : this.#losses;
    const weakened =
      this.#weakened.length === 0 ? [] : [`This weakens protection: ${this.#weakened.join("; ")}.`];
    if (losses.length === 0) return weakened[0];
    const others = this.#others.map(
      ({ table, updated, deleted }) => `${table}: ${counted(deleted)} deleted, ${grouped(updated)} updated`,
    );
    return [`This cannot be undone: ${[...losses, ...others, ...details].join("; ")}.`, ...weakened].join(
      " ",
    );
  }

  /** What the session must remember once the transaction is committed. */
  get outcome(): { readonly changes: readonly TableChange[]; readonly agreed: Agreed } {
    return { changes: this.#changes, agreed: this.#isTogether ? "all" : this.#agreed };
  }
}
