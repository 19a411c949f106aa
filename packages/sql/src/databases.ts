import type { PathGuard } from "@refmcp/boundary";
import type { ChangeStore } from "./change/store.ts";
import type { Database } from "./database.ts";

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

/** What the tools of one SQL server are called, and what their descriptions say about its SQL. */
export interface Kind {
  readonly names: ToolNames;
  /** `PostgreSQL`. */
  readonly title: string;
  /** Other names of its tools, such as those of official servers. */
  readonly aliases: Readonly<Partial<Record<keyof ToolNames, readonly string[]>>>;
  /** What its parameters look like: `Values for $1, $2, …`. */
  readonly params: string;
  /** A statement with a parameter, as an example. */
  readonly example: string;
  /** Which statements read. */
  readonly reads: string;
  /** Which changes ask the user, and which need an option. */
  readonly asks: string;
  /** What the database argument takes. */
  readonly database: string;
  /** Whether tables have schemas, plans can be measured, and exports take parameters. */
  readonly hasSchemas: boolean;
  readonly analyzes: boolean;
  readonly exportsParams: boolean;
}

export interface ToolNames {
  readonly query: string;
  readonly describe: string;
  readonly execute: string;
  readonly explain: string;
  readonly export: string;
  readonly importCsv: string;
  readonly listChanges: string;
  readonly undoChange: string;
}
