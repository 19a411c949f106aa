import { grouped } from "@refmcp/core/answer";

/** `1 row`, `2,000 rows`. */
export const counted = (rows: number) => `${grouped(rows)} ${rows === 1 ? "row" : "rows"}`;

/** Changing more rows than this needs confirmation, whatever the WHERE. */
const MANY_ROWS = 1_000;
/** Changing every row of a table needs confirmation from this many rows. */
export const EVERY_ROW = 2;

/** What a statement did to the rows of a table. */
export interface RowLoss {
  readonly verb: string;
  readonly target: string;
  /** Rows of the target that it updated, deleted or replaced. */
  readonly changed: number;
  /** Further rows that cascades and triggers updated, deleted or replaced. */
  readonly others?: number;
  /** Whether no row of the target was left unchanged. */
  readonly isEveryRow: boolean;
}

/**
 * Adds up what the statements of a transaction lose, by what they did and not by their text: every row of a table, more
 * than 1,000 rows at once or together, or a schema object with its contents.
 */
export class LossTally {
  readonly #losses: string[] = [];
  #rest = 0;

  /** A schema object was removed: `DROP TABLE users`. @param rows its rows; undefined if it can't have any */
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

  /** The whole loss in a sentence for the user; undefined if nothing is lost. @param details further losses */
  loss(details: readonly string[] = []): string | undefined {
    if (this.#rest > MANY_ROWS) this.#losses.push(`changes of ${counted(this.#rest)} together`);
    this.#rest = 0;
    if (this.#losses.length === 0) return undefined;
    return `This cannot be undone: ${[...this.#losses, ...details].join("; ")}.`;
  }
}

const byOthers = (rows: number) => (rows > 0 ? `; ${counted(rows)} by cascades and triggers` : "");
