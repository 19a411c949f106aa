import { digits } from "@refmcp/boundary/answer";
import type { Counts } from "./types.ts";

/** The names of the counts, and of what each counts. */
const NOUNS = [
  ["entities", "entity"],
  ["observations", "observation"],
  ["relations", "relation"],
] as const;

/** { entities: 1, relations: 2 } → "1 entity, 2 relations". */
export function counted(counts: Partial<Counts>): string {
  return NOUNS.flatMap(([many, single]) => {
    const count = counts[many];
    return count === undefined ? [] : [`${digits(count)} ${count === 1 ? single : many}`];
  }).join(", ");
}
