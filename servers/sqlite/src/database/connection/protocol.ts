import type { Column } from "@refmcp/sql/cells";
import type { Format } from "@refmcp/sql/formats";
import type { Place } from "./handle.ts";

export interface Bound {
  readonly sql: string;
  readonly params: readonly unknown[];
}

/** What a runner is asked for: plain data. */
export type Job =
  | ({
      readonly op: "read";
      readonly place: Place;
      readonly cellBytes: number;
      readonly format: Format;
      /** Rows before the first one that is wanted. */
      readonly skip: number;
      /** Stop after this many characters. */
      readonly chars: number;
      /** With this many rows, stop after this many milliseconds, too. */
      readonly rows: number;
      readonly ms: number;
      /** Where large blobs can be read: `blob://` and the database, or undefined. */
      readonly blobs: string | undefined;
    } & Bound)
  | {
      readonly op: "look";
      readonly place: Place;
      readonly statements: readonly Bound[];
      /** A statement that fails has no rows. */
      readonly isTolerant: boolean;
    }
  | ({ readonly op: "explain"; readonly place: Place } & Bound)
  | {
      readonly op: "advise";
      readonly place: Place;
      readonly statements: readonly Bound[];
      readonly limit: number;
    }
  | { readonly op: "version"; readonly place: Place }
  | {
      readonly op: "write";
      readonly place: Place;
      readonly statements: readonly WriteStatement[];
      readonly dryRun: boolean;
      /** Characters of what RETURNING gives, in all. */
      readonly returnedBytes: number;
      readonly agreedLoss: string | undefined;
    }
  | ({ readonly op: "open_rows"; readonly place: Place; readonly format: ExportFormat } & Bound)
  | { readonly op: "next_rows"; readonly bytes: number }
  | { readonly op: "open_table"; readonly place: Place; readonly insert: string }
  | { readonly op: "add_rows"; readonly records: readonly CsvRecord[] }
  | { readonly op: "close_table"; readonly commit: boolean };

export type TransferJob = Exclude<Job, { op: "read" | "look" | "explain" | "advise" | "version" | "write" }>;

/** How rows are written to a file. */
export const EXPORT_FORMATS = ["csv", "jsonl"] as const;
export type ExportFormat = (typeof EXPORT_FORMATS)[number];

/** A record of a CSV file and the line on which it ends. */
export interface CsvRecord {
  readonly fields: readonly (string | null)[];
  readonly line: number;
}

/** A piece of an export: whole rows in the file's format. */
export interface RowsText {
  readonly text: string;
  readonly rows: number;
  readonly done: boolean;
}

/** Rows written for an answer. */
export interface ReadAnswer {
  readonly columns: readonly Column[];
  /** A line for each row. */
  readonly text: string;
  readonly rows: number;
  /** Positions of rows in which a value was cut. */
  readonly cuts: readonly number[];
  /** The last row that was skipped. */
  readonly before: string | undefined;
  /** Whether there are rows after these. */
  readonly more: boolean;
}

/** A plan, and indexes that would be used, as SQL. */
export interface Explained {
  readonly plan: readonly { readonly id: number; readonly parent: number; readonly detail: string }[];
  readonly indexes: readonly string[];
}

/** An index that was tried, and estimates of the rows that all statements together read without and with it. */
export interface TriedIndex {
  readonly table: string;
  readonly create: string;
  readonly before: number;
  readonly after: number;
  /** Positions of the statements that read fewer rows. */
  readonly statements: readonly number[];
}

/** A changing statement and what its text says of it. */
export interface WriteStatement extends Bound {
  readonly verb: string;
  /** The structure that it removes, and of which table. */
  readonly structure?: string;
  readonly table?: string;
  /** The table that is inserted into, updated or deleted from, as it was written. */
  readonly target?: string;
  /** Whether it may replace rows: REPLACE, ON CONFLICT DO UPDATE. */
  readonly overwrites: boolean;
}

/** What RETURNING of one statement gave. */
export interface Returned {
  /** Which statement, from 1. */
  readonly statement: number;
  readonly columns: readonly Column[];
  readonly rows: readonly (readonly unknown[])[];
  /** Rows that did not fit. */
  readonly more: number;
}

export interface WriteAnswer {
  readonly committed: boolean;
  readonly loss: string | undefined;
  /** Statements that restore what was dropped. */
  readonly undo: readonly string[];
  readonly changes: readonly number[];
  readonly lastRowId: string;
  readonly returned: readonly Returned[];
}

export interface Failure {
  readonly message: string;
  readonly code: string | undefined;
  /** Of the statement that failed, from 0. */
  readonly at: number;
  /** Of the CSV file, where a record failed. */
  readonly line: number | undefined;
}

/** Why a runner cannot work at all: SQLite itself could not be loaded. */
export interface Unavailable {
  readonly message: string;
  readonly hint: string | undefined;
  /** For the log. */
  readonly cause: string;
}

export type Reply<Answer> =
  | { readonly ready: true }
  | { readonly unavailable: Unavailable }
  | { readonly failed: Failure }
  | { readonly answer: Answer };

/** Where a runner is in its job, for the failure. */
export type Progress = { at: number; line: number | undefined };
