// Written by `pnpm generate`.
import entity from "./entity.ts";
import knowledgeGraph from "./knowledge-graph.ts";

export const resources = [entity, knowledgeGraph];
