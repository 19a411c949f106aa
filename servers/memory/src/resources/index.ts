// Written by `pnpm generate`.
import entity from "./entity.ts";
import knowledgeGraph from "./knowledge-graph.ts";
import recent from "./recent.ts";
import stats from "./stats.ts";

export const resources = [entity, knowledgeGraph, recent, stats];
