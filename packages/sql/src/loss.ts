import { grouped } from "@refmcp/core/answer";

/** `1 row`, `2,000 rows`. */
export const counted = (rows: number) => `${grouped(rows)} ${rows === 1 ? "row" : "rows"}`;

/** A change of more rows than this asks the user, whatever its WHERE says. */
const MANY_ROWS = 1_000;
/** A change of every row of a table is asked about from this many rows on. */
export const EVERY_ROW = 2;

/** What a statement did to the rows of a table. */
export interface RowLoss {
  readonly verb: string;
  readonly target: string;
  /** Rows of the target that it updated, deleted or replaced. */
  readonly changed: number;
  /** Rows that cascades and triggers updated, deleted or replaced in addition. */
  readonly others?: number;
  /** Whether the target has no row that it left alone. */
  readonly isEveryRow: boolean;
}

/**
 * Adds up what the statements of a transaction lose. It is judged by what they did, not by their text: every row of a
 * table, more than 1,000 rows at once or together, or a structure with what is in it.
 */
export class LossTally {
  readonly #losses: string[] = [];
  #rest = 0;

  /** A structure was removed: `DROP TABLE users`. @param rows that were in it; undefined where it has none. */
  structure(what: string, rows?: number, others = 0): void {
    if (rows === undefined) this.#losses.push(what);
    else this.#losses.push(`${what} (${counted(rows)}${byOthers(others)})`);
  }

  rows({ verb, target, changed, others = 0, isEveryRow }: RowLoss): void {
    if (isEveryRow && changed >= EVERY_ROW)
      this.#losses.push(`${verb} of every row of ${target} (${counted(changed)}${byOthers(others)})`);
    else if (changed + others > MANY_ROWS)
      this.#losses.push(`${verb} of ${counted(changed)} of ${target}${others > 0 ? byOthers(others) : ""}`);
    else this.#rest += changed + others;
  }

  /** The whole loss in a sentence for the user, or undefined where nothing is lost. @param details to add to it */
  loss(details: readonly string[] = []): string | undefined {
    if (this.#rest > MANY_ROWS) this.#losses.push(`changes of ${counted(this.#rest)} together`);
    this.#rest = 0;
    if (this.#losses.length === 0) return undefined;
    return `This cannot be undone: ${[...this.#losses, ...details].join("; ")}.`;
  }
}

const byOthers = (rows: number) => (rows > 0 ? `; ${counted(rows)} by cascades and triggers` : "");
