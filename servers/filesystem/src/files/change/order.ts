import type { Stats } from "node:fs";
import { dirname, join } from "node:path";
import { temporaryName } from "@refmcp/boundary";
import { named } from "../errors.ts";
import type { Pair } from "./pattern.ts";

/** A pair that can be made if the others allow it. */
export interface Checked extends Pair {
  readonly stat: Stats;
  /** What is at the destination. */
  readonly target: Stats | undefined;
  readonly fromKey: string;
  readonly toKey: string;
}

/** Finds out which pairs of a plan exclude each other. */
export function conflictsAmong(checked: readonly Checked[], action: "move" | "copy") {
  const sources = new Map(action === "move" ? checked.map((item) => [item.fromKey, item]) : []);
  const allSources = new Set(checked.map(({ fromKey }) => fromKey));
  const targets = new Map(checked.map((pair) => [pair.toKey, pair]));
  const bySource = new Map<string, Checked>();
  const byTarget = new Map<string, Checked>();
  return (pair: Checked): string | undefined => {
    const { fromKey, toKey } = pair;
    const [twice, same] = [bySource.get(fromKey), byTarget.get(toKey)];
    bySource.set(fromKey, pair);
    byTarget.set(toKey, pair);
    if (action === "move" && twice !== undefined) return "It has two destinations";
    if (same !== undefined) return `${named(same.from)} has the same destination`;
    const around = outerOf(fromKey, sources);
    if (around !== undefined) return `${named(around.from)}, which contains it, is also moved`;
    const into = outerOf(toKey, sources);
    if (into !== undefined) return `The destination is inside ${named(into.from)}, which is moved`;
    const inner = outerOf(toKey, targets);
    if (inner !== undefined) return `The destination is inside the one of ${named(inner.from)}`;
    if (action === "copy" && allSources.has(toKey)) return "The destination is also a source";
    return undefined;
  };
}

/** The pair whose path contains `key`. */
function outerOf(key: string, pairs: ReadonlyMap<string, Checked>): Checked | undefined {
  for (let at = dirname(key); at !== dirname(at); at = dirname(at)) {
    const pair = pairs.get(at);
    if (pair !== undefined) return pair;
  }
  return undefined;
}

/** Orders moves so that each finds its destination free: what is in the way is first moved to a temporary name. */
export function inOrder(pairs: readonly Checked[]): Pair[] {
  const targets = new Set(pairs.map(({ toKey }) => toKey));
  const aside: Pair[] = [];
  const moves = pairs.map(({ from, to, fromKey, toKey }) => {
    if (fromKey === toKey || !targets.has(fromKey)) return { from, to };
    // If this process is killed, it may be the only copy, so its name is not that of a temporary file.
    const spare = join(dirname(from), temporaryName("moved"));
    aside.push({ from, to: spare });
    return { from: spare, to };
  });
  return [...aside, ...moves];
}
