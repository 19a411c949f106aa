import type { Bound } from "@refmcp/sql";
import type { Sqlite } from "@refmcp/sql/native";
import type Database from "better-sqlite3";
import { type ChangeJob, change } from "../change/change.ts";
import { type UndoJob, undo } from "../change/undo.ts";
import { planned } from "../explain/plan.ts";
import { type RowsInJob, rowsIn } from "../files/rows-in.ts";
import { rowsOut } from "../files/rows-out.ts";
import { type SeenIn, seenValues } from "../schema/seen.ts";
import type { Failure } from "./errors.ts";
import { openReading, openWriting, type Place, type Progress } from "./handle.ts";
import { type ReadJob, read } from "./read.ts";
import { Reader } from "./reader.ts";

interface OnFile {
  readonly place: Place;
}

/** What a process replies to a job. */
export type Reply =
  /** SQLite could not be loaded; the cause is for the log. */
  | { readonly unavailable: { message: string; hint: string | undefined; cause: string } }
  | { readonly failed: Failure }
  // biome-ignore lint/suspicious/noExplicitAny: only the caller knows which job it is the answer to.
  | { readonly answer: any };

/**
 * The jobs of a process, by name. They block until SQLite is done. An export or import spans several jobs, and its process
 * ends with it.
 */
export function jobsOf(sqlite: Sqlite) {
  const reader = new Reader(sqlite);
  let exporting: ReturnType<typeof rowsOut> | undefined;
  let importing: ReturnType<typeof rowsIn> | undefined;
  const started = <Value>(value: Value | undefined): Value => {
    if (value === undefined) throw new Error("no transfer was started");
    return value;
  };
  const writing = <Value>(place: Place, work: (database: Database.Database) => Value): Value => {
    const database = openWriting(sqlite, place);
    try {
      return work(database);
    } finally {
      database.close();
    }
  };
  return {
    rest(_: object): void {
      reader.close();
    },

    read: ({ place, ...job }: OnFile & ReadJob) =>
      reader.prepared(place, job.sql, (prepared) => read(prepared, job)),

    /** Runs our own statements. If it is tolerant, a statement that fails has no rows. */
    look({
      place,
      statements,
      isTolerant,
    }: OnFile & { readonly statements: readonly Bound[]; readonly isTolerant: boolean }) {
      const database = reader.open(place);
      return statements.map(({ sql, params }) => {
        try {
          return database.prepare<unknown[], Readonly<Record<string, unknown>>>(sql).all(...params);
        } catch (error) {
          if (isTolerant) return [];
          throw error;
        }
      });
    },

    seen: ({ place, tables }: OnFile & { readonly tables: readonly SeenIn[] }) =>
      seenValues(reader.open(place), tables),

    plan: ({ place, ...bound }: OnFile & Bound) => planned(sqlite, reader.open(place), bound),

    change: ({ place, ...job }: OnFile & ChangeJob, progress: Progress) =>
      writing(place, (database) => change(database, job, progress)),

    undo: ({ place, ...job }: OnFile & UndoJob) =>
      writing(place, (database) => {
        database.pragma("foreign_keys=OFF");
        return undo(database, job);
      }),

    openRows({ place, ...job }: OnFile & Bound): void {
      exporting = rowsOut(openReading(sqlite, place), job);
    },
    nextRows: (_: object) => started(started(exporting).next().value),

    openTable({ place, ...job }: OnFile & RowsInJob): void {
      importing = rowsIn(openWriting(sqlite, place), job);
    },
    addRows: ({ bytes, isLast }: { bytes: Uint8Array; isLast: boolean }, progress: Progress) =>
      started(importing).add(bytes, isLast, progress),
    settleTable: (_: object) => started(importing).settle(),
    closeTable: ({ commit }: { commit: boolean }) => started(importing).close(commit),
  };
}

type Jobs = ReturnType<typeof jobsOf>;
export type Op = keyof Jobs;
export type Job<Name extends Op> = Parameters<Jobs[Name]>[0];
export type Answer<Name extends Op> = ReturnType<Jobs[Name]>;

export interface Run {
  readonly signal: AbortSignal;
  /** How long a job may run, in milliseconds; waiting does not count. */
  readonly timeoutMs: number;
}
