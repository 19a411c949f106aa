import type { Column, Format } from "./answer/formats.ts";
import type { ColumnValues } from "./answer/values.ts";
import type { Loss } from "./change/loss.ts";
import type { Recording, TableCounts } from "./change/record.ts";
import type { RecordedChange } from "./change/store.ts";

/** A statement with the values of its parameters. */
export interface Bound {
  readonly sql: string;
  readonly params: readonly unknown[];
}

export interface Work {
  readonly signal: AbortSignal;
  /** A shorter limit than that of the server, in milliseconds. */
  readonly timeoutMs?: number | undefined;
}

/**
 * A database, as the tools of every SQL server use it. All that differs from one kind of database to another is behind these
 * functions; none of them knows MCP. Each of them throws ToolErrors that say what to do next.
 */
export interface Database {
  /** Its name among the server's databases, to which cursors are bound. */
  readonly name: string;
  /** What its changes are recorded under, however it is named. */
  readonly identity: string;

  /** Reads a page of a statement's rows; nothing of the database is in use when it resolves. */
  read(question: Reading, page: Page): Promise<ResultWindow>;
  /** The plan of a reading statement. @param analyze run it and measure */
  explain(asked: Bound & Work & { analyze: boolean; budget: number }): Promise<Plan>;

  /** All tables and views, in any order; those of the system only if their schema is named. */
  relations(asked: Work & { readonly schema?: string | undefined }): Promise<Relation[]>;
  /** Columns and keys of some of them. */
  facts(relations: readonly Relation[], work: Work): Promise<TableFacts[]>;
  /** Everything about one of them. */
  describe(relation: Relation, work: Work): Promise<Description>;

  /** Runs changes in one transaction, all or none. */
  change(job: ChangeJob): Promise<Changed>;
  /** Restores the rows of a recorded change, if they are all as it left them. */
  undo(change: RecordedChange, job: Omit<Settling, "agree">): Promise<Undone>;
  /** The changes without those that the database is known not to have committed. */
  settled(changes: RecordedChange[], work: Work): Promise<RecordedChange[]>;

  /** The columns of a table that a file can be imported into. */
  columns(relation: Relation, work: Work): Promise<string[]>;
  /** Writes all rows of a reading statement. @returns how many */
  copyOut(job: CopyOut): Promise<number>;
  /** Adds the records of a CSV file in one transaction; the first record names the columns. */
  copyIn(job: CopyIn): Promise<{ readonly rows: number; readonly changeId?: string | undefined }>;

  /** @throws ToolError if it can't be used now */
  ready(signal: AbortSignal): Promise<void>;
}

export interface Reading extends Bound, Work {
  readonly format: Format;
  /** Longer values are truncated. */
  readonly cellBytes: number;
}

/** Which rows of a result to read. */
export interface Page {
  /** Rows before it; the last of them is returned as `before`. */
  readonly skip: number;
  readonly rows: number;
  /** Stop after about this many characters. */
  readonly chars: number;
}

/** Consecutive rows of a result in their final form. */
export interface ResultWindow {
  readonly columns: readonly Column[];
  /** The text of each row, from a `RowWriter`. */
  readonly pieces: readonly string[];
  /** Positions of rows with truncated values. */
  readonly cuts: ReadonlySet<number>;
  /** The row before the first one; undefined if there is none. */
  readonly before?: string | undefined;
  readonly more: boolean;
  readonly notices?: readonly string[];
}

/** The plan as an indented tree, and what each database knows about it. */
export interface Plan {
  readonly plan: string[];
  readonly [fact: string]: unknown;
}

/** A table or view. */
export interface Relation {
  /** How the database finds it. */
  readonly id: string;
  readonly schema: string;
  readonly name: string;
  /** As it must be written in SQL, with its schema if that is needed. */
  readonly written: string;
  /** `table`, `view`, `materialized_view`, … */
  readonly type: string;
  /** Whether its bare name means it, and not one of another schema. */
  readonly isVisible?: boolean | undefined;
}

export interface ColumnFacts extends ColumnValues {
  /** As it must be written in SQL. */
  readonly name: string;
  readonly type: string;
  readonly notNull?: boolean;
  readonly primaryKey?: boolean;
  /** What a foreign key with this column references: `users.id`. */
  readonly references?: string | undefined;
}

/** A table for a line for each column. */
export interface TableFacts {
  /** Estimated. */
  readonly rows?: number | undefined;
  readonly columns: readonly ColumnFacts[];
}

/** A table with everything that is known about it. */
export interface Description {
  table: string;
  type: string;
  columns: { name: string; type: string; [fact: string]: unknown }[];
  notices?: string[];
  [fact: string]: unknown;
}

/** What happens at the end of a transaction. */
export interface Settling extends Work {
  /** Run everything and roll it back. */
  readonly dryRun: boolean;
  /** Where to record what is changed; or why it can't be. */
  record(): Promise<Recording>;
  /** Asks the user about what can't be undone. @throws ToolError if the user declines or can't be asked */
  agree(loss: Loss): Promise<void>;
}

export interface ChangeJob extends Settling {
  readonly statements: readonly Bound[];
  /** Characters for the rows of RETURNING. */
  readonly rowChars: number;
}

export interface StatementResult {
  readonly command: string;
  readonly row_count?: number;
  readonly columns?: { name: string; type: string }[];
  readonly rows?: unknown[][];
}

export interface Changed {
  readonly committed: boolean;
  /** One for each statement. */
  readonly results: StatementResult[];
  readonly tables: readonly TableCounts[];
  readonly loss?: Loss | undefined;
  readonly changeId?: string | undefined;
  readonly lastRowId?: string | undefined;
  readonly truncatedBy?: "bytes" | "cell" | undefined;
  readonly notices?: readonly string[];
}

export interface Undone {
  readonly tables: readonly TableCounts[];
  readonly changeId?: string | undefined;
  /** What could not be undone. */
  readonly note?: string | undefined;
}

export interface CopyOut extends Bound, Work {
  /** The new file. */
  readonly path: string;
  write(piece: Uint8Array): Promise<void>;
}

export interface CopyIn extends Settling {
  readonly relation: Relation;
  /** Names of its columns, in the order of the file. */
  readonly columns: readonly string[];
  /** The file to name in errors, and its bytes from the header on. */
  readonly path: string;
  readonly size: number;
  readonly delimiter: string;
  bytes(): AsyncIterable<Uint8Array>;
  /** @param bytes how many were read */
  progress(bytes: number): void;
}
