import type { Stats } from "node:fs";
import { basename, dirname, join } from "node:path";
import type { GuardedPlace, PathGuard } from "@refmcp/boundary";
import { grouped, ToolError } from "@refmcp/boundary/answer";
import { counted, failure, named } from "../messages.ts";
import { orNothing, placeOf } from "../open-path.ts";
import { type ChangeContext, keyOf } from "./change-context.ts";
import { hiddenName, ordinaryType } from "./delete.ts";
import { matchedPairs } from "./pattern-pairs.ts";

/** Maximum files that the patterns of a call may match. */
export const MAX_PLANNED = 5_000;
const MAX_PROBLEMS = 10;

export interface PlanRequest {
  readonly action: "move" | "copy";
  /** A path or a glob whose captures the destination contains; or else `moves`, which are several of both. */
  readonly source?: string | undefined;
  readonly destination?: string | undefined;
  readonly moves?: readonly { readonly source: string; readonly destination: string }[] | undefined;
  readonly overwrite: boolean;
  readonly signal?: AbortSignal | undefined;
}

export interface Pair {
  readonly from: string;
  readonly to: string;
}

export interface Plan {
  readonly action: "move" | "copy";
  readonly overwrite: boolean;
  /** In the order in which they are made. */
  readonly pairs: readonly Pair[];
  /** The files with their new paths; `pairs` has some twice, which are moved through a temporary name. */
  readonly files: readonly (Pair & { readonly stat: Stats | undefined })[];
  /** Directories to create, outermost first. */
  readonly parents: readonly string[];
  /** How many files already have the wanted name. */
  readonly unchanged: number;
  /** How many files are replaced, their bytes, and the first of them. */
  readonly replaced: { readonly count: number; readonly bytes: number; readonly path: string };
}

interface Checked extends Pair {
  readonly stat: Stats | undefined;
  readonly fromKey: string;
  readonly toKey: string;
}

/**
 * Plans moves or copies, and checks all of them without changing anything: sources exist, destinations are free or may
 * be replaced, no two are the same, and none is inside another one. Chains and swaps are put in order.
 *
 * @throws ToolError `conflict` with the pairs that cannot be made, `not_found` if a pattern matches nothing,
 * `too_large` if it matches more than 5,000 files, and what the guard throws.
 */
export async function plan(context: ChangeContext, request: PlanRequest): Promise<Plan> {
  const { action, overwrite, signal } = request;
  const asked = await pairsOf(context, request);
  const problems: Problem[] = [];
  const checked: Checked[] = [];
  const missing = missingParents(context);
  let unchanged = 0;
  const check = async (pair: Pair, work: () => Promise<void>) => {
    await work().catch((error: unknown) => {
      if (!(error instanceof ToolError)) throw error;
      problems.push({ pair, error });
    });
  };
  for (const pair of asked) {
    signal?.throwIfAborted();
    if (pair.from === pair.to) unchanged += 1;
    else
      await check(
        pair,
        async () => void checked.push(await checkSource(context, pair, action, missing)),
      );
  }
  const [first] = asked;
  if (first !== undefined && unchanged === asked.length)
    throw failure(
      "onto_itself",
      `${named(first.from)} cannot be ${PARTICIPLES[action]} onto itself.`,
    );
  const sources =
    action === "move"
      ? new Map(checked.map((one) => [one.fromKey, one]))
      : new Map<string, Checked>();
  const targets = new Map<string, Checked>();
  const seen = new Map<string, Checked>();
  const parents = new Set<string>();
  const replaced = { count: 0, bytes: 0, path: "" };
  for (const one of checked) {
    await check(one, async () => {
      const [twice, same] = [seen.get(one.fromKey), targets.get(one.toKey)];
      if (action === "move" && twice !== undefined) throw together("It has two destinations");
      if (same !== undefined) throw together(`${named(same.from)} has the same destination`);
      seen.set(one.fromKey, one);
      targets.set(one.toKey, one);
      const around = outerOf(one.fromKey, sources);
      if (around !== undefined)
        throw together(`${named(around.from)}, which contains it, is also moved`);
      const into = outerOf(one.toKey, sources);
      if (into !== undefined)
        throw together(`The destination is inside ${named(into.from)}, which is moved`);
      const absent = await missing(dirname(one.to));
      for (const directory of absent) parents.add(directory);
      if (absent.length > 0 || one.fromKey === one.toKey || sources.has(one.toKey)) return;
      const { stat } =
        (await placeOf(context.guard, one.to, { write: true }).catch(orNothing)) ?? {};
      if (stat === undefined) return;
      if (stat.isDirectory())
        throw failure("directory_exists", `${named(one.to)} already exists and is a directory.`);
      if (!overwrite) throw failure("exists", `${named(one.to)} already exists.`);
      if (replaced.count++ === 0) replaced.path = one.to;
      replaced.bytes += stat.size;
    });
  }
  for (const one of checked) {
    const into = outerOf(one.toKey, targets);
    await check(one, async () => {
      if (into !== undefined)
        throw together(`The destination is inside the one of ${named(into.from)}`);
      if (action === "copy" && seen.has(one.toKey))
        throw together("The destination is also a source");
    });
  }
  if (problems.length > 0) throw refused(action, problems, asked.length);
  return {
    action,
    overwrite,
    files: checked,
    pairs: action === "move" ? inOrder(checked) : checked,
    parents: [...parents].sort((a, b) => a.length - b.length || (a < b ? -1 : 1)),
    unchanged,
    replaced,
  };
}

interface Problem {
  readonly pair: Pair;
  readonly error: ToolError;
}

const PARTICIPLES = { move: "moved", copy: "copied" };

/** Two pairs of a plan that exclude each other. */
function together(reason: string): ToolError {
  return failure("plan_refused", `${reason}.`);
}

async function pairsOf(context: ChangeContext, request: PlanRequest): Promise<Pair[]> {
  const { source, destination, moves } = request;
  const { guard } = context;
  if (moves === undefined) {
    if (source === undefined || destination === undefined)
      throw failure("no_pairs", "source and destination, or moves, are required.");
    const matched = await matchedPairs(
      context,
      { source, destination, signal: request.signal },
      MAX_PLANNED,
    );
    return matched ?? [await pairOf(guard, { source, destination })];
  }
  if (source !== undefined || destination !== undefined)
    throw failure("no_pairs", "source and destination cannot be combined with moves.");
  const pairs: Pair[] = [];
  for (const one of moves) {
    const search = { ...one, signal: request.signal };
    const matched = await matchedPairs(context, search, MAX_PLANNED - pairs.length);
    for (const pair of matched ?? [await pairOf(guard, one)]) pairs.push(pair);
  }
  return pairs;
}

/** A destination that ends with a slash is the directory to move into. */
async function pairOf(
  guard: PathGuard,
  { source, destination }: { source: string; destination: string },
): Promise<Pair> {
  const from = await guard.resolve(source);
  const to = await guard.resolve(destination);
  return { from, to: /[/\\]$/.test(destination) ? join(to, basename(from)) : to };
}

async function checkSource(
  { guard }: ChangeContext,
  pair: Pair,
  action: string,
  missing: ReturnType<typeof missingParents>,
): Promise<Checked> {
  const source = await placeOf(guard, pair.from, { write: action === "move" });
  await ordinaryType(guard, source);
  const absent = await missing(dirname(pair.to));
  const target = absent.length > 0 ? undefined : await placeOf(guard, pair.to).catch(orNothing);
  return {
    ...pair,
    stat: source.stat,
    fromKey: realKey(source),
    // If its parent is also missing, its text has to do.
    toKey: target === undefined ? keyOf(pair.to) : realKey(target),
  };
}

function realKey({ parent, name }: GuardedPlace): string {
  return keyOf(join(parent.realPath, name));
}

/** The pair whose path contains `key`. */
function outerOf(key: string, pairs: ReadonlyMap<string, Checked>): Checked | undefined {
  for (let at = dirname(key); at !== dirname(at); at = dirname(at)) {
    const found = pairs.get(at);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** Finds the missing directories of a path, outermost first; each is looked up once. */
function missingParents({ guard }: ChangeContext) {
  const known = new Map<string, readonly string[]>();
  return async function find(path: string): Promise<readonly string[]> {
    const before = known.get(path);
    if (before !== undefined) return before;
    const isThere = guard.contains(path) && (await guard.exists(path));
    const directory = isThere ? await guard.openDirectory(path).catch(orNothing) : undefined;
    await directory?.close();
    const missing = directory === undefined ? [...(await find(dirname(path))), path] : [];
    known.set(path, missing);
    return missing;
  };
}

/** Orders moves so that each finds its destination free; a circle goes through a temporary name. */
function inOrder(pairs: readonly Checked[]): Pair[] {
  const bySource = new Map(pairs.map((one) => [one.fromKey, one]));
  const done = new Set<Checked>();
  const ordered: Pair[] = [];
  for (const first of pairs) {
    // The moves that have to be made before `first`, nearest first.
    const chain: Checked[] = [];
    for (let next: Checked | undefined = first; next !== undefined && !done.has(next); ) {
      chain.push(next);
      done.add(next);
      next = next.fromKey === next.toKey ? undefined : bySource.get(next.toKey);
    }
    const last = chain.at(-1);
    const closes = last !== undefined && chain.length > 1 && last.toKey === first.fromKey;
    const spare = join(dirname(first.from), hiddenName());
    if (closes) ordered.push({ from: first.from, to: spare });
    for (const pair of chain.reverse()) {
      const isFirst = closes && pair === first;
      ordered.push({ from: isFirst ? spare : pair.from, to: pair.to });
    }
  }
  return ordered;
}

function refused(action: "move" | "copy", problems: readonly Problem[], total: number): ToolError {
  const [only] = problems;
  // The sentence and the hint of a single file need no summary.
  if (total === 1 && only !== undefined) return only.error;
  const shown = problems
    .slice(0, MAX_PROBLEMS)
    .map(({ pair, error }) => `${named(pair.from)} → ${named(pair.to)}: ${error.message}`);
  const more = problems.length - shown.length;
  const rest = more > 0 ? ` And ${counted(more, "other")}.` : "";
  const of = counted(total, action, action === "move" ? "moves" : "copies");
  const what = `${grouped(problems.length)} of ${of} cannot be made; nothing was changed.`;
  return failure("plan_refused", `${what} ${shown.join(" ")}${rest}`);
}
