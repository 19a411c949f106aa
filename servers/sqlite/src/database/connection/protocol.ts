import type { Ahead } from "@refmcp/sql";
import type { Column } from "@refmcp/sql/cells";
import type { Format } from "@refmcp/sql/formats";
import type { Agreed, SessionChanges, TableChange } from "@refmcp/sql/loss";
import type { Place } from "./handle.ts";

export interface Bound {
  readonly sql: string;
  readonly params: readonly unknown[];
}

/** A request to a runner for a database, as plain data. */
export type DatabaseJob = { readonly place: Place } & (
  | ({
      readonly op: "read";
      readonly cellBytes: number;
      readonly format: Format;
      /** The base of the URIs of large blobs: `blob://` and the database; undefined for none. */
      readonly blobs: string | undefined;
    } & Ahead &
      Bound)
  | {
      readonly op: "look";
      readonly statements: readonly Bound[];
      /** A statement that fails has no rows. */
      readonly isTolerant: boolean;
    }
  | ({ readonly op: "explain" } & Bound)
  | {
      readonly op: "advise";
      readonly statements: readonly Bound[];
      readonly limit: number;
    }
  | { readonly op: "version" }
  | {
      readonly op: "write";
      readonly statements: readonly WriteStatement[];
      readonly dryRun: boolean;
      /** Maximum characters of all RETURNING rows. */
      readonly returnedBytes: number;
      readonly agreedLoss: string | undefined;
      /** What was changed before. */
      readonly session: SessionChanges;
    }
  | ({ readonly op: "open_rows"; readonly format: ExportFormat } & Bound)
  | OpenTable
);

export interface OpenTable {
  readonly op: "open_table";
  readonly insert: string;
  readonly table: string;
  readonly session: SessionChanges;
}

/** What a transaction lost, and what the session remembers if it is committed. */
export interface Measured {
  readonly loss: string | undefined;
  readonly changes: readonly TableChange[];
  readonly agreed: Agreed;
}

/** Any request; the last ones continue a transfer. */
export type Job =
  | DatabaseJob
  | { readonly op: "next_rows"; readonly bytes: number }
  | { readonly op: "add_rows"; readonly records: readonly CsvRecord[] }
  | { readonly op: "measure_table" }
  | { readonly op: "close_table"; readonly commit: boolean };

/** The formats of exported files. */
export const EXPORT_FORMATS = ["csv", "jsonl"] as const;
export type ExportFormat = (typeof EXPORT_FORMATS)[number];

/** A record of a CSV file, and the line on which it ends. */
export interface CsvRecord {
  readonly fields: readonly (string | null)[];
  readonly line: number;
}

/** A part of an export: complete rows in the file's format. */
export interface RowsText {
  readonly text: string;
  readonly rows: number;
  readonly done: boolean;
}

/** Rows encoded for an answer. */
export interface ReadAnswer {
  readonly columns: readonly Column[];
  /** One line for each row. */
  readonly text: string;
  readonly rows: number;
  /** Positions of rows with truncated values. */
  readonly cuts: readonly number[];
  /** The last skipped row. */
  readonly before: string | undefined;
  /** Whether more rows follow. */
  readonly more: boolean;
}

/** A query plan, and CREATE INDEX statements that would improve it. */
export interface Explained {
  readonly plan: readonly { readonly id: number; readonly parent: number; readonly detail: string }[];
  readonly indexes: readonly string[];
}

/** An index that was tried, and the estimated row reads of all statements without and with it. */
export interface TriedIndex {
  readonly table: string;
  readonly create: string;
  readonly before: number;
  readonly after: number;
  /** Positions of the statements that read fewer rows. */
  readonly statements: readonly number[];
}

/** A changing statement, as classified by its text. */
export interface WriteStatement extends Bound {
  readonly verb: string;
  /** The schema object that it removes, and its table. */
  readonly structure?: string;
  readonly table?: string;
  /** The table that it inserts into, updates or deletes from, as written. */
  readonly target?: string;
  /** Whether it may replace rows: REPLACE, ON CONFLICT DO UPDATE. */
  readonly overwrites: boolean;
}

/** The RETURNING rows of one statement. */
export interface Returned {
  /** The number of the statement, from 1. */
  readonly statement: number;
  readonly columns: readonly Column[];
  readonly rows: readonly (readonly unknown[])[];
  /** How many rows did not fit. */
  readonly more: number;
}

export interface WriteAnswer {
  readonly committed: boolean;
  readonly loss: string | undefined;
  /** What to remember if it was committed. */
  readonly session: Omit<Measured, "loss">;
  /** Statements that restore dropped objects. */
  readonly undo: readonly string[];
  readonly changes: readonly number[];
  readonly lastRowId: string;
  readonly returned: readonly Returned[];
}

export interface Failure {
  readonly message: string;
  readonly code: string | undefined;
  /** The number of the failed statement, from 0. */
  readonly at: number;
  /** The line of the CSV file, if a record failed. */
  readonly line: number | undefined;
}

export type Reply<Answer> =
  | { readonly ready: true }
  /** SQLite could not be loaded; the cause is for the log. */
  | { readonly unavailable: { message: string; hint: string | undefined; cause: string } }
  | { readonly failed: Failure }
  | { readonly answer: Answer };

/** How far a runner is in its job, for errors. */
export type Progress = { at: number; line: number | undefined };
