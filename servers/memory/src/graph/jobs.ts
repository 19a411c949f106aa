import { addObservations, createEntities, createRelations } from "./create.ts";
import { exportGraph } from "./export.ts";
import { importMemory } from "./import.ts";
import { entityRecord, latestEntities, namesBeginning, openNodes, readGraph } from "./read.ts";
import { recentChanges } from "./recent.ts";
import { findRelated } from "./related.ts";
import { deleteEntities, deleteObservations, deleteRelations } from "./remove.ts";
import { searchNodes } from "./search.ts";
import { memoryStats } from "./stats.ts";
import type { Store } from "./store.ts";
import { undoChange } from "./undo.ts";
import { updateEntities } from "./update.ts";
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
