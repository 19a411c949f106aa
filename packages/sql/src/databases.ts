import type { PathGuard } from "@refmcp/boundary";
import type { ChangeStore } from "./change/store.ts";
import type { Database } from "./database.ts";
import type { Kind } from "./kind.ts";

/** The databases of a server, with the record of changes: the context of its tools. */
export interface Databases<One extends Database = Database> {
  readonly kind: Kind;
  readonly guard: PathGuard;
  /** The record of changes. */
  readonly changes: ChangeStore;
  /** Names of the databases that the user configured. */
  readonly names: readonly string[];
  /** The database with a name or, without one, the first. @throws ToolError if there is none */
  at(name?: string): Promise<One>;
  close(): Promise<void> | void;
}
