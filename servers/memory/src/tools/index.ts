// Written by `pnpm generate`.
import addObservations from "./add-observations.ts";
import createEntities from "./create-entities.ts";
import createRelations from "./create-relations.ts";
import deleteEntities from "./delete-entities.ts";
import deleteObservations from "./delete-observations.ts";
import deleteRelations from "./delete-relations.ts";
import exportGraph from "./export-graph.ts";
import importGraph from "./import-graph.ts";
import memoryStats from "./memory-stats.ts";
import openNodes from "./open-nodes.ts";
import readGraph from "./read-graph.ts";
import recentChanges from "./recent-changes.ts";
import searchNodes from "./search-nodes.ts";
import undoMemoryChange from "./undo-memory-change.ts";
import updateEntities from "./update-entities.ts";

export const tools = [
  addObservations,
  createEntities,
  createRelations,
  deleteEntities,
  deleteObservations,
  deleteRelations,
  exportGraph,
  importGraph,
  memoryStats,
  openNodes,
  readGraph,
  recentChanges,
  searchNodes,
  undoMemoryChange,
  updateEntities,
];
