import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { oneLine } from "@refmcp/boundary/answer";
import * as z from "zod";
import {
  conflictedPaths,
  conflictFields,
  conflictReport,
  refuseConflicts,
} from "../change/conflicts.ts";
import { decideHooks, HOOKS, hookFailure, signing } from "../change/hooks.ts";
import { keepBefore, refuseAdded, untrackedAt } from "../change/recovery.ts";
import type { Caller, Repository } from "../open/repository.ts";
import { commitOf } from "../open/revisions.ts";
import { changedFiles, changesOf, differing, fileNames } from "../read/changes.ts";
import { refuseFilters } from "../read/filters.ts";
import { operationOf } from "../read/status.ts";
import { failure, failureOf } from "../run/errors.ts";
import type { GitResult } from "../run/run-git.ts";
import { countOf, firstNames, notesFrom, records } from "../run/text.ts";

/** What happens on conflicts: undo everything, or leave them in the files to resolve. */
export type OnConflict = "abort" | "keep";

/** What a merge, cherry-pick or revert did. */
export const integrated = z.object({
  before: z.string(),
  after: z.string(),
  files: changedFiles,
  count: z.number(),
  up_to_date: z.boolean().optional(),
  fast_forward: z.boolean().optional(),
  ...conflictFields,
  undo: z.string().optional(),
  notes: z.array(z.string()).optional(),
});
export type Integrated = z.infer<typeof integrated>;

type Operation = "merge" | "rebase" | "cherry-pick" | "revert";
/** What a tool does with the operation that it has begun. */
export type Action = "start" | "abort" | "continue" | "skip";

/**
 * Ends the operation in progress: aborts it, continues after its conflicts were resolved, or skips the
 * commit that conflicts. The files of an aborted or skipped one are kept for recovery.
 *
 * @throws ToolError `no_operation`, `conflict`, `unsafe_operation`
 */
export async function endOperation(
  repository: Repository,
  operation: Operation,
  { action, skip_hooks }: { action: Action; skip_hooks: boolean },
  caller: Caller,
): Promise<Integrated> {
  await repository.worktree();
  refuseOther(repository, operation);
  if (action === "skip" && operation === "merge")
    throw failure("no_operation", "A merge has no single commit to skip.");
  // HEAD is detached during a rebase, whose branch is still where it was.
  const start = join(repository.location.gitDir, "rebase-merge", "orig-head");
  const origin = (await readFile(start, "utf8").catch(() => "HEAD")).trim();
  const before = await commitOf(repository, origin);
  const recoveries: (string | undefined)[] = [];
  if (action === "continue") await refuseConflicts(repository);
  else {
    await refuseFilters(repository, () => differing(repository, "HEAD"));
    recoveries.push(await keepBefore(repository, `${operation} --${action}`));
    const untracked = await untrackedAt(repository, action === "abort" ? before : "HEAD");
    if (untracked.length > 0)
      recoveries.push(await keepBefore(repository, `${operation} --${action}`, untracked));
  }
  const recoveryNotes = recoveries
    .filter((commit) => commit !== undefined)
    .map((commit) => `The files' content is kept: git_restore with source ${commit}.`);
  if (action === "abort") {
    const head = await commitOf(repository, "HEAD");
    await repository.output([operation, "--abort"], `abandon the ${operation}`);
    const ended = await finish(repository, operation, undefined, "keep", head, caller.budget);
    return { ...ended, up_to_date: undefined, undo: undefined, notes: notesFrom(recoveryNotes) };
  }
  const todo = await refusePrograms(repository, operation);
  const commits = todo.flatMap((line) => /^\w+ ([0-9a-f]{7,64})\b/.exec(line)?.[1] ?? []);
  if (commits.length > 0) await refuseAdded(repository, ["--no-walk", ...commits]);
  const names = operation === "rebase" ? HOOKS.replay : HOOKS.commit;
  const hooks = await decideHooks(repository, names, caller, skip_hooks);
  const { options } = await signing(repository, hooks);
  const result = await repository.run([operation, `--${action}`], { ...options, silent: true });
  if (result.code !== 0 && (await conflictedPaths(repository)).length === 0)
    throw hookFailure(hooks, result) ?? failureOf(result, `${action} the ${operation}`);
  const ended = await finish(repository, operation, result, "keep", before, caller.budget);
  return { ...ended, notes: notesFrom(recoveryNotes, hooks.notes) };
}

/** Each tool ends only what it has begun. */
function refuseOther(repository: Repository, operation: Operation): void {
  const current = operationOf(repository);
  if (current === operation) return;
  if (current === undefined) throw failure("no_operation", `No ${operation} is in progress.`);
  throw failure("no_operation", `A ${current} is in progress, not a ${operation}.`, {
    hint: "Call its tool with this action, or finish it in a terminal.",
  });
}

/** What a rebase todo list may contain (git-rebase(1)): everything except `exec`. */
const STEPS =
  /^(pick|p|reword|r|edit|e|squash|s|fixup|f|drop|d|revert|label|l|reset|t|merge|m|update-ref|u|noop|break|b|#.*)?$/;
/** git's own merge strategies; any other is a program called git-merge-NAME. */
const STRATEGY = /^options\.strategy\n(ort|recursive|resolve|octopus|ours|subtree)?\s*$/;
/** The user's own key. */
const SIGNATURE = /^options\.gpg-sign\n$/;

/**
 * An operation that came with the repository, or was started with `--exec` or `--gpg-sign`, can specify
 * programs.
 *
 * @returns its remaining steps
 * @throws ToolError `unsafe_operation`
 */
async function refusePrograms(repository: Repository, operation: string): Promise<string[]> {
  const { gitDir } = repository.location;
  const read = (name: string) => readFile(join(gitDir, name), "utf8").catch(() => "");
  const list = (await read("rebase-merge/git-rebase-todo")).split("\n");
  const file = ["--no-includes", "--file", join(gitDir, "sequencer", "opts"), "-z"];
  const keyQuery = ["--get-regexp", "^options\\.(strategy|gpg-sign)$"];
  const { stdout } = await repository.run(["config", ...file, ...keyQuery]);
  const options = [
    `options.strategy\n${await read("rebase-merge/strategy")}`,
    ...records(stdout).map((record) => record.toString("utf8")),
  ];
  const signs = (await signing(repository)).option === "--gpg-sign";
  const keys = [await read("rebase-merge/gpg_sign_opt"), await read("rebase-apply/gpg_sign_opt")];
  const program =
    list.find((line) => !STEPS.test(line.trim().split(/\s/, 1)[0] ?? "")) ??
    options.find((option) => !STRATEGY.test(option) && !(signs && SIGNATURE.test(option))) ??
    keys.find((key) => key !== "" && !(signs && key.trim() === "-S"));
  if (program === undefined) return [...list, ...(await read("sequencer/todo")).split("\n")];
  const message = `The ${operation} in progress would run a program or sign: ${oneLine(program.slice(0, 200))}`;
  throw failure("unsafe_operation", message, {
    hint: `Finish it in a terminal (git ${operation} --continue), or abort it with action: abort.`,
  });
}

/** After the command: abort it on conflicts or report them, and report what changed. */
export async function finish(
  repository: Repository,
  operation: string,
  result: GitResult | undefined,
  onConflict: OnConflict,
  before: string,
  budget: number,
): Promise<Integrated> {
  const conflicted = (result?.code ?? 0) === 0 ? [] : await conflictedPaths(repository);
  if (conflicted.length > 0 && onConflict === "abort") {
    await repository.output([operation, "--abort"], `abandon the ${operation}`);
    const message = `The ${operation} has conflicts in ${countOf(conflicted.length, "file")}: ${firstNames(conflicted, 20)}. Nothing was changed.`;
    const hint =
      'Call again with on_conflict: "keep" to leave the conflicts in the files, resolve them, then git_add and git_commit.';
    throw failure("conflict", message, { hint });
  }
  const after = await commitOf(repository, "HEAD");
  const files = await changesOf(repository, [before, after]);
  const ended = { before, after, ...fileNames(files, Math.floor(budget / 2)) };
  if (conflicted.length > 0) {
    const report = await conflictReport(repository, Math.floor(budget / 2) - 1_000);
    return { ...ended, ...report, undo: `git_${operation.replace("-", "_")} with action abort` };
  }
  if (before === after) return { ...ended, up_to_date: true };
  return { ...ended, undo: `git_reset_hard with revision ${before}` };
}
