import type { PathGuard } from "@refmcp/boundary";
import { ResultStore } from "./answer/results.ts";
import type { ChangeStore } from "./change/store.ts";
import type { Database } from "./database.ts";
import type { Kind } from "./kind.ts";
import type { LimitValues } from "./options.ts";

export interface DatabasesOptions<One extends Database> {
  readonly kind: Kind;
  readonly limits: LimitValues;
  readonly guard: PathGuard;
  /** The record of changes. */
  readonly changes: ChangeStore;
  /** Names of the databases that the user configured. */
  readonly names: readonly string[];
  /** The database with a name or, without one, the first. @throws ToolError if there is none */
  open(name: string | undefined): Promise<One>;
  close(): Promise<void> | void;
}

/** The databases of a server, with the rows that were read ahead and the record of changes: the context of its tools. */
export class Databases<One extends Database = Database> {
  readonly kind: Kind;
  readonly limits: LimitValues;
  readonly guard: PathGuard;
  readonly changes: ChangeStore;
  readonly names: readonly string[];
  readonly results: ResultStore;
  readonly at: (name?: string) => Promise<One>;
  readonly #close: () => Promise<void> | void;

  constructor({ kind, limits, guard, changes, names, open, close }: DatabasesOptions<One>) {
    this.kind = kind;
    this.limits = limits;
    this.guard = guard;
    this.changes = changes;
    this.names = names;
    this.results = new ResultStore(limits.readAheadMb * 1_048_576);
    this.at = open;
    this.#close = close;
  }

  /** Where to record the next change of a database. */
  recorder({ identity }: Database) {
    return () => this.changes.slot(identity);
  }

  async close(): Promise<void> {
    this.results.clear();
    await this.#close();
  }
}
