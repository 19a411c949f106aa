import { addObservations, createEntities, createRelations } from "../change/create.ts";
import { recentChanges } from "../change/recent.ts";
import { deleteEntities, deleteObservations, deleteRelations } from "../change/remove.ts";
import { undoChange } from "../change/undo.ts";
import { updateEntities } from "../change/update.ts";
import { entityRecord, latestEntities, namesBeginning, openNodes, readGraph } from "../read/read.ts";
import { findRelated } from "../read/related.ts";
import { memoryStats } from "../read/stats.ts";
import { searchNodes } from "../search/search.ts";
import type { Store } from "../store/store.ts";
import { exportGraph } from "../transfer/export.ts";
import { importMemory } from "../transfer/import.ts";
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
