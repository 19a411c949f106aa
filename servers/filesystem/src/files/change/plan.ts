import type { Stats } from "node:fs";
import { basename, dirname, join } from "node:path";
import type { GuardedPlace, PathGuard } from "@refmcp/boundary";
import { digits, ToolError } from "@refmcp/boundary/answer";
import { counted, failure, named } from "../errors.ts";
import type { Files } from "../files.ts";
import { missingDirectories, notThere, placeOf, withDirectory } from "../open-path.ts";
import type { Subject } from "../store/record.ts";
import { type Content, contentOf, entriesOf } from "../store/state.ts";
import { type Checked, conflictsAmong, inOrder } from "./order.ts";
import { MAX_PLANNED, matchedPairs, matches, type Pair } from "./pattern.ts";
import { requireOrdinary } from "./put.ts";
import { directoryStep, type Step } from "./step.ts";

const MAX_PROBLEMS = 10;

/** What a call is going to do. Everything was checked, and nothing is changed yet. */
export interface Plan {
  readonly subject: Subject;
  /** In the order in which they are made. */
  readonly steps: readonly Step[];
  /** The files with their new paths; some of `steps` move a file twice, through a temporary name. */
  readonly files: readonly (Pair & { readonly stat: Stats })[];
  /** Directories that are created, outermost first. */
  readonly parents: readonly string[];
  /** How many files already have the wanted path. */
  readonly unchanged: number;
  /** How many files are replaced, their bytes, and the first of them. */
  readonly replaced: { readonly count: number; readonly bytes: number; readonly path: string };
}

interface MoveRequest {
  readonly action: "move" | "copy";
  /** A path or a glob whose captures the destination contains; or else `moves`, which are several of both. */
  readonly source?: string | undefined;
  readonly destination?: string | undefined;
  readonly moves?: readonly { readonly source: string; readonly destination: string }[] | undefined;
  readonly overwrite: boolean;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Plans moves or copies, and checks all of them: sources exist, destinations are free or may be replaced, no two are
 * the same, and none is inside another one. Chains and swaps are put in order.
 *
 * @throws ToolError `conflict` with the pairs that cannot be made, `not_found` if a pattern matches nothing,
 *   `too_large` if it matches more than 5,000 files, and what the guard throws
 */
export async function planMoves(files: Files, request: MoveRequest): Promise<Plan> {
  const { action, overwrite, signal } = request;
  const pairs = await pairsOf(files, request);
  const changing = pairs.filter(({ from, to }) => from !== to);
  const [first] = pairs;
  if (first !== undefined && changing.length === 0)
    throw failure("onto_itself", `${named(first.from)} is already there.`);
  const problems: Problem[] = [];
  const checked: Checked[] = [];
  const missing = missingDirectories(files.guard);
  const parents = new Set<string>();
  for (const pair of changing) {
    signal?.throwIfAborted();
    await collect(problems, pair, async () => {
      const [old, directory] = [dirname(pair.from), dirname(pair.to)];
      const absent = directory === old ? [] : await missing(directory);
      checked.push(await checkPair(files, pair, action, absent.length > 0));
      for (const directory of absent) parents.add(directory);
    });
  }
  const replaced = { count: 0, bytes: 0, path: "" };
  const displaced: Step[] = [];
  const conflictOf = conflictsAmong(checked, action);
  const movedAway = new Set(action === "move" ? checked.map(({ fromKey }) => fromKey) : []);
  for (const pair of checked) {
    await collect(problems, pair, async () => {
      const conflict = conflictOf(pair);
      if (conflict !== undefined) throw failure("plan_refused", `${conflict}.`);
      const { target, to } = pair;
      if (target === undefined || movedAway.has(pair.toKey)) return;
      if (target.isDirectory())
        throw failure("directory_exists", `${named(to)} already exists and is a directory.`);
      if (!overwrite || !pair.stat.isFile())
        throw failure("exists", `${named(to)} already exists.`);
      if (target.isSymbolicLink() && action === "copy")
        throw failure("link_exists", `${named(to)} already exists and is a symlink.`);
      displaced.push({ kind: "put", path: to, content: { kind: "nothing" } });
      if (replaced.count++ === 0) replaced.path = to;
      replaced.bytes += target.size;
    });
  }
  if (problems.length > 0) throw refused(action, problems, pairs.length);
  const directories = [...parents].sort((a, b) => a.length - b.length);
  return {
    subject: { action, path: first?.from ?? "", destination: first?.to },
    steps: [...directories.map(directoryStep), ...displaced, ...stepsOf(checked, action)],
    files: checked,
    parents: directories,
    unchanged: pairs.length - changing.length,
    replaced,
  };
}

function stepsOf(checked: readonly Checked[], action: "move" | "copy"): Step[] {
  if (action === "move")
    return inOrder(checked).map(({ from, to }) => ({ kind: "rename", path: from, to }));
  return checked.map(({ from, to }) => {
    return { kind: "put", path: to, content: { kind: "copy", from } };
  });
}

interface Problem {
  readonly pair: Pair;
  readonly error: ToolError;
}

async function collect(problems: Problem[], pair: Pair, work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (error) {
    if (!(error instanceof ToolError)) throw error;
    problems.push({ pair, error });
  }
}

async function pairsOf(files: Files, request: MoveRequest): Promise<Pair[]> {
  const { source, destination, moves, signal } = request;
  if (moves !== undefined && (source !== undefined || destination !== undefined))
    throw failure("no_pairs", "source and destination cannot be combined with moves.");
  if (moves === undefined && (source === undefined || destination === undefined))
    throw failure("no_pairs", "source and destination, or moves, are required.");
  const pairs: Pair[] = [];
  for (const move of moves ?? [{ source: source ?? "", destination: destination ?? "" }]) {
    const patternPairs = await matchedPairs(files, { ...move, signal }, MAX_PLANNED - pairs.length);
    for (const pair of patternPairs ?? [await pairOf(files.guard, move)]) pairs.push(pair);
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

async function checkPair(
  { guard }: Files,
  pair: Pair,
  action: "move" | "copy",
  isNew: boolean,
): Promise<Checked> {
  const source = await placeOf(guard, pair.from, { write: action === "move" });
  const stat = source.stat ?? (await notThere(guard, pair.from));
  requireOrdinary(stat, pair.from);
  const target = isNew ? undefined : await placeOf(guard, pair.to, { write: true });
  // If its parent is also missing, its text has to do.
  const toKey = target === undefined ? keyOf(pair.to) : realKey(target);
  return { ...pair, stat, target: target?.stat, fromKey: realKey(source), toKey };
}

/** File names on these systems ignore letter case, and on macOS also the Unicode form. */
const FOLDS_CASE = process.platform === "darwin" || process.platform === "win32";

function keyOf(path: string): string {
  const text = process.platform === "darwin" ? path.normalize("NFC") : path;
  return FOLDS_CASE ? text.toLowerCase() : text;
}

function realKey({ parent, name }: GuardedPlace): string {
  return keyOf(join(parent.realPath, name));
}

function refused(action: "move" | "copy", problems: readonly Problem[], total: number): ToolError {
  const [only] = problems;
  // The sentence and the hint of a single file need no summary.
  if (total === 1 && only !== undefined) return only.error;
  const lines = problems
    .slice(0, MAX_PROBLEMS)
    .map(({ pair, error }) => `${named(pair.from)} → ${named(pair.to)}: ${error.message}`);
  const more = problems.length - lines.length;
  const rest = more > 0 ? ` And ${counted(more, "other")}.` : "";
  const of = counted(total, action, action === "move" ? "moves" : "copies");
  const what = `${digits(problems.length)} of ${of} cannot be made; nothing was changed.`;
  return failure("plan_refused", `${what} ${lines.join(" ")}${rest}`);
}

/** Plans a new directory with its missing parents; no steps if it exists. */
export async function planDirectory({ guard }: Files, pathText: string) {
  const path = await guard.resolve(pathText);
  // Refused here if it is outside, read-only, or a file is in the way.
  const steps = (await missingDirectories(guard)(path)).map(directoryStep);
  const subject: Subject = { action: "create_directory", path };
  return { subject, steps };
}

/** An entry that is going to be deleted; `content` of a directory. */
export interface Deletion {
  readonly path: string;
  readonly type: "file" | "link" | "directory";
  readonly content: Content | undefined;
  readonly bytes: number;
}

/**
 * Plans the deletion of an entry, or of those that a pattern matches.
 *
 * @throws ToolError `conflict` for a directory that is not empty without `recursive`
 */
export async function planDeletion(
  files: Files,
  path: string,
  { recursive, signal }: { recursive: boolean; signal?: AbortSignal | undefined },
) {
  const matched = await matches(files, path, { max: MAX_PLANNED, signal });
  const deletions: Deletion[] = [];
  for (const target of matched?.map(({ path }) => path) ?? [path])
    deletions.push(await deletionOf(files, target, recursive, signal));
  const [first] = deletions;
  const subject: Subject = { action: "delete", path: first?.path ?? path };
  const steps = deletions.map(
    ({ path }): Step => ({ kind: "put", path, content: { kind: "nothing" } }),
  );
  return { subject, steps, deletions };
}

async function deletionOf(
  { guard }: Files,
  pathText: string,
  recursive: boolean,
  signal: AbortSignal | undefined,
): Promise<Deletion> {
  const place = await placeOf(guard, pathText, { write: true });
  const { path } = place;
  const stat = place.stat ?? (await notThere(guard, path));
  requireOrdinary(stat, path);
  if (stat.isSymbolicLink()) return { path, type: "link", content: undefined, bytes: 0 };
  if (stat.isFile()) return { path, type: "file", content: undefined, bytes: stat.size };
  const content = await withDirectory(guard, path, async (directory) =>
    contentOf(await guard.walk(directory), signal),
  );
  const entries = entriesOf(content);
  if (entries > 0 && !recursive)
    throw failure(
      "not_empty",
      `${named(path)} is a directory with ${counted(entries, "entry", "entries")}.`,
    );
  return { path, type: "directory", content, bytes: content.bytes };
}
