import { oneLine } from "@refmcp/boundary/answer";
import { conflictedPaths } from "../change/conflicts.ts";
import { decideHooks, HOOKS, hookFailure, signing } from "../change/hooks.ts";
import { refuseUntracked, untrackedAt } from "../change/recovery.ts";
import type { Arguments, RunOptions } from "../open/machine.ts";
import type { Caller, Repository } from "../open/repository.ts";
import { commitOf, commitsOf, emptyTree, headOf, lookUp } from "../open/revisions.ts";
import { differing } from "../read/changes.ts";
import { refuseFilters } from "../read/filters.ts";
import { operationOf, refuseOperation } from "../read/status.ts";
import { failure, failureOf } from "../run/errors.ts";
import type { GitResult } from "../run/run-git.ts";
import {
  type Action,
  endOperation,
  finish,
  type Integrated,
  type OnConflict,
} from "./end-operation.ts";

interface MergeQuery {
  readonly revision?: string | undefined;
  readonly message?: string | undefined;
  readonly fast_forward: "allow" | "only" | "never";
  readonly on_conflict: OnConflict;
  readonly action: Action;
  readonly skip_hooks: boolean;
}

const FAST_FORWARD = { allow: "--ff", only: "--ff-only", never: "--no-ff" };

/** Merges a commit into the current branch, with git's own strategy only. */
export async function merge(
  repository: Repository,
  query: MergeQuery,
  caller: Caller,
): Promise<Integrated> {
  if (query.action !== "start") return endOperation(repository, "merge", query, caller);
  await repository.worktree();
  refuseOperation(repository);
  const { revision, fast_forward } = query;
  if (revision === undefined) throw nothingTo("merge", "revision");
  const [before = "", theirs = ""] = await commitsOf(repository, ["HEAD", revision]);
  await refuseFilters(repository, () => differing(repository, before, theirs), theirs);
  const common = await repository.run(["merge-base", before, theirs]);
  const base = common.stdout.toString("utf8").trim();
  refuseUntracked(await untrackedAt(repository, theirs, base));
  const isFast = fast_forward === "only" || (fast_forward === "allow" && base === before);
  const names = isFast ? HOOKS.fastForward : HOOKS.merge;
  const hooks = await decideHooks(repository, names, caller, query.skip_hooks);
  const { option, options } = await signing(repository, hooks);
  const args = [
    ...["merge", "--quiet", "--no-edit", "--no-stat", "--no-verify-signatures", option],
    ...["--no-autostash", "--no-overwrite-ignore", "--no-log", "--strategy=ort"],
    ...["--commit", "--no-squash", FAST_FORWARD[fast_forward]],
    ...[`--message=${query.message ?? `Merge ${oneLine(revision)}`}`, theirs],
  ];
  const result = await runWhole(repository, args, options);
  if (result.code !== 0 && (await conflictedPaths(repository)).length === 0) {
    if (operationOf(repository) === "merge")
      await repository.output(["merge", "--abort"], "abandon the merge");
    throw hookFailure(hooks, result) ?? failureOf(result, "merge");
  }
  const how = query.on_conflict;
  const ended = await finish(repository, "merge", result, how, before, caller.budget);
  const isMoved = ended.after === theirs && ended.after !== before;
  return { ...ended, fast_forward: isMoved || undefined, notes: hooks.notes };
}

const nothingTo = (operation: string, argument: string) =>
  failure("bad_argument", `${argument} is missing: what to ${operation}.`);

const IS_EMPTY = /^The previous cherry-pick is now empty/m;

/** Copies commits onto the current branch, in the given order, or creates a commit that undoes one. */
export async function replay(
  repository: Repository,
  operation: "cherry-pick" | "revert",
  revisions: readonly string[],
  query: Pick<MergeQuery, "on_conflict" | "action" | "skip_hooks"> & {
    mainline?: number | undefined;
  },
  caller: Caller,
): Promise<Integrated> {
  if (query.action !== "start") return endOperation(repository, operation, query, caller);
  await repository.worktree();
  refuseOperation(repository);
  if (revisions.length === 0)
    throw nothingTo(operation, operation === "revert" ? "commit" : "commits");
  const oids = await commitsOf(repository, revisions);
  const before = await commitOf(repository, "HEAD");
  for (const oid of oids) {
    const [parent] = await lookUp(repository, [`${oid}^${query.mainline ?? 1}`]);
    const [from, to] = [parent?.oid ?? emptyTree(oid), oid];
    await refuseFilters(repository, () => differing(repository, from, to));
    const sides = operation === "revert" ? ([from, to] as const) : ([to, from] as const);
    refuseUntracked(await untrackedAt(repository, ...sides));
  }
  const hooks = await decideHooks(repository, HOOKS.replay, caller, query.skip_hooks);
  const mainline = query.mainline !== undefined && `--mainline=${query.mainline}`;
  const { option, options } = await signing(repository, hooks);
  const args = [operation, option, "--no-edit", "--strategy=ort", mainline, ...oids];
  const result = await runWhole(repository, args, options);
  if (result.code !== 0 && (await conflictedPaths(repository)).length === 0) {
    const isStopped = operationOf(repository) !== undefined;
    const rejected = IS_EMPTY.test(result.stderr) ? undefined : hookFailure(hooks, result);
    // git leaves the change of a rejected revert in the index.
    const undo = isStopped ? [operation, "--abort"] : ["reset", "--merge", "--quiet", before];
    if (isStopped || rejected !== undefined) await repository.output(undo, "abandon it");
    const message = `The ${operation} would change nothing: its changes are already here.`;
    if (isStopped && rejected === undefined) throw failure("nothing_to_commit", message);
    throw rejected ?? failureOf(result, operation);
  }
  const how = query.on_conflict;
  const ended = await finish(repository, operation, result, how, before, caller.budget);
  return { ...ended, notes: hooks.notes };
}

/**
 * Runs a command that can take many steps. If it is cancelled between them, those that it made are
 * undone.
 */
export async function runWhole(
  repository: Repository,
  args: Arguments,
  options: RunOptions,
): Promise<GitResult> {
  const before = await headOf(repository);
  try {
    return await repository.run(args, { ...options, silent: true });
  } catch (error) {
    const operation = operationOf(repository);
    const undo = (how: Arguments) => repository.undo(how).catch(() => undefined);
    if (operation !== undefined) await undo([operation, "--abort"]);
    // git does not rewind HEAD if it was ended between a commit and its abort-safety file.
    if (operation !== undefined && operation !== "rebase" && before !== undefined)
      await undo(["reset", "--merge", "--quiet", before]);
    throw error;
  }
}
