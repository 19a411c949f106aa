import type { ToolError, ToolErrorOptions } from "@refmcp/boundary/answer";
import { addObservations, createEntities, createRelations } from "../change/create.ts";
import { recentChanges, undoChange } from "../change/history.ts";
import { deleteEntities, deleteObservations, deleteRelations } from "../change/remove.ts";
import { updateEntities } from "../change/update.ts";
import {
  entityRecord,
  latestEntities,
  memoryStats,
  namesBeginning,
  openNodes,
  readGraph,
} from "../read/read.ts";
import { findRelated } from "../read/related.ts";
import { searchNodes } from "../search/search.ts";
import type { Store } from "../store/store.ts";
import { exportGraph, exportNotes } from "../transfer/export.ts";
import { importMemory } from "../transfer/import.ts";
import type { OpenedStore } from "./open.ts";
import { changesAfter } from "./watch.ts";

/** The jobs of the thread that owns the database. Each takes the store and values that can be sent to a thread. */
export const jobs = {
  addObservations,
  changesAfter,
  createEntities,
  createRelations,
  deleteEntities,
  deleteObservations,
  deleteRelations,
  entityRecord,
  exportGraph,
  exportNotes,
  findRelated,
  importMemory,
  latestEntities,
  memoryStats,
  namesBeginning,
  openNodes,
  readGraph,
  recentChanges,
  searchNodes,
  undoChange,
  updateEntities,
};

type Jobs = typeof jobs;
export type JobName = keyof Jobs;
/** The arguments of a job after the store. */
export type JobArguments<Name extends JobName> =
  Parameters<Jobs[Name]> extends [Store, ...infer Rest] ? Rest : never;
export type JobResult<Name extends JobName> = Awaited<ReturnType<Jobs[Name]>>;

/** A job for the thread. */
export interface Job {
  readonly id: number;
  readonly name: JobName;
  readonly args: readonly unknown[];
  readonly flag: Int32Array;
  /** Whether the result is wanted as JSON text. */
  readonly asText?: boolean;
}

/** To the thread: a job, with a flag that is set when it should stop, or a notification that the flag was set. */
export type Request = Job | { readonly id: number; readonly stopped: true };

/** What the main thread knows about an open store. */
export type Opened = Omit<OpenedStore, "store">;

/** From the thread. The first message has id 0: the store is open, or why it is not. */
export type Reply = { readonly id: number } & (
  | { readonly value: unknown }
  | { readonly failed: Failure }
  | { readonly progress: number }
);

/** An error as it passes between threads, which keep no classes. */
export interface Failure extends Pick<ToolErrorOptions, "hint" | "code" | "data"> {
  /** Omitted if it is not a ToolError: an internal error. */
  readonly kind?: ToolError["kind"];
  readonly message: string;
  /** The cause, or the stack of an internal error. */
  readonly detail: string | undefined;
}
