import { WaitingLine } from "@refmcp/boundary";
import { type Agreed, plus, type RowCounts, type SessionChanges, type TableChange } from "./loss.ts";

// Not in loss.ts: the runner of SQLite imports that one, and needs nothing of the boundary.

/** What this process changed in one database, so that many small losses count like a large one. */
export class SessionLosses {
  readonly #changes = new Map<string, RowCounts>();
  readonly #waiting = new WaitingLine();
  #isBusy = false;

  get changes(): SessionChanges {
    return this.#changes;
  }

  /**
   * Runs work that measures a loss and commits it, one at a time: otherwise each of two transactions would find the rows that
   * the other one is about to delete.
   */
  async inTurn<Value>(signal: AbortSignal, work: () => Promise<Value>): Promise<Value> {
    if (this.#isBusy) await this.#waiting.wait(signal);
    this.#isBusy = true;
    try {
      return await work();
    } finally {
      this.#isBusy = this.#waiting.hand();
    }
  }

  /** Remembers a committed transaction; the counts of tables whose loss the user agreed to start again. */
  add({ changes, agreed }: { readonly changes: readonly TableChange[]; readonly agreed: Agreed }): void {
    for (const change of changes) {
      const sum = plus(this.#changes.get(change.id), change);
      if (sum.inserted + sum.updated + sum.deleted > 0) this.#changes.set(change.id, sum);
    }
    for (const id of agreed === "all" ? [...this.#changes.keys()] : agreed) this.#changes.delete(id);
  }
}
