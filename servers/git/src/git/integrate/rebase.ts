import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { clip, oneLine } from "@refmcp/boundary/answer";
import * as z from "zod";
import { conflictedPaths, conflictReport } from "../change/conflicts.ts";
import { decideHooks, HOOKS, type HookDecision, hookFailure, signing } from "../change/hooks.ts";
import { keepCommit, refuseAdded, refuseUntracked, untrackedAt } from "../change/recovery.ts";
import { type Caller, Repository } from "../open/repository.ts";
import { commitOf, lookUp, refOf } from "../open/revisions.ts";
import { changesOf, differing, fileNames } from "../read/changes.ts";
import { refuseFilters } from "../read/filters.ts";
import { currentBranch, isCheckedOut } from "../read/refs.ts";
import { refuseOperation } from "../read/status.ts";
import { inTemporaryFolder } from "../read/temporary-index.ts";
import { failure, failureOf } from "../run/errors.ts";
import type { GitResult } from "../run/run-git.ts";
import { notesFrom, textOf } from "../run/text.ts";
import { type Action, endOperation, integrated, type OnConflict } from "./end-operation.ts";
import { runWhole } from "./integrate.ts";
import { type Range, rangeOf, type StepsQuery } from "./rebase-steps.ts";

interface RebaseQuery extends StepsQuery {
  readonly branch_name?: string | undefined;
  readonly apply?: string | undefined;
  readonly on_conflict: OnConflict;
  readonly action: Action;
  readonly skip_hooks: boolean;
}

export const rebased = z.object({
  ...integrated.partial().shape,
  before: z.string(),
  branch: z.string().optional(),
  /** Whether the branch has been moved. */
  applied: z.boolean().optional(),
  /** Pass it as apply to move the branch. */
  plan: z.string().optional(),
  /** What became of each commit: = the same, ! changed, < dropped or joined, > new. */
  range_diff: z.string().optional(),
  /** Whether the files of the last commit are the same as before; else files lists what differs. */
  identical: z.boolean().optional(),
  /** The last of the previous commits. */
  recovery: z.string().optional(),
});
type Rebased = z.infer<typeof rebased>;

/** The comparison of two ranges takes quadratic time. */
const MAX_COMPARED = 200;

/**
 * Rebases the commits of a branch: reorders, rewords, combines, drops or moves them. A first call only
 * makes the new commits, to which nothing refers, and describes them; a second one with its plan moves
 * the branch. With `on_conflict: "keep"` it happens in the working tree instead, at once, and stays
 * open where it stops.
 *
 * @throws ToolError `bad_steps`, `merge_in_range`, `stale_plan`, `local_changes`, `hook_needed` …
 */
export async function rebase(
  repository: Repository,
  query: RebaseQuery,
  caller: Caller,
): Promise<Rebased> {
  if (query.action !== "start") return endOperation(repository, "rebase", query, caller);
  if (query.apply !== undefined) return applyPlan(repository, query.apply);
  const current = await currentBranch(repository);
  const branch = query.branch_name ?? current;
  if (branch === undefined) throw failure("detached_head", "HEAD is detached.");
  const { oid: before } = await refOf(repository, "heads", branch);
  const range = await rangeOf(repository, before, query);
  const hooks = await decideHooks(repository, HOOKS.rebase, caller, query.skip_hooks);
  if (query.on_conflict === "keep") {
    if (branch !== current)
      throw failure("detached_head", `"${oneLine(branch)}" is not the current branch.`);
    const ended = await rebaseHere(repository, before, range, hooks, caller);
    return { branch, before, ...ended };
  }
  return inTemporaryFolder(async (folder) => {
    const apart = await unregisteredWorktree(repository, folder, before);
    const result = await runRebase(apart, range, folder, hooks);
    const answer = { branch, before, applied: false };
    if (result.code !== 0) {
      const report = await conflictReport(apart, Math.floor(caller.budget * 0.8));
      if (report.conflicted.length === 0)
        throw hookFailure(hooks, result) ?? failureOf(result, "rebase");
      const hint =
        "Nothing was changed. With on_conflict: keep the rebase stops here in the working tree, where you can resolve this.";
      return { ...answer, ...report, notes: notesFrom(hint, hooks.notes) };
    }
    const after = await commitOf(apart, "HEAD");
    const files = await changesOf(repository, [before, after]);
    return {
      ...answer,
      after,
      plan: after === before ? undefined : `${branch} ${before}..${after}`,
      identical: files.length === 0,
      ...fileNames(files, Math.floor(caller.budget * 0.15)),
      range_diff: await rangeDiff(repository, range, before, after, caller.budget * 0.7),
      notes: hooks.notes,
    };
  });
}

/** A working tree that only this call knows, with no files: what is not in conflict stays in the index. */
async function unregisteredWorktree(
  repository: Repository,
  folder: string,
  head: string,
): Promise<Repository> {
  const [gitDir, worktree] = [join(folder, "git"), join(folder, "tree")];
  for (const directory of [gitDir, join(gitDir, "info"), worktree]) await mkdir(directory);
  await writeFile(join(gitDir, "HEAD"), `${head}\n`);
  await writeFile(join(gitDir, "info", "sparse-checkout"), "");
  const location = { ...repository.location, gitDir, worktree };
  const apart = new Repository(repository.machine, location, repository.signal, { worktree });
  const read = ["read-tree", "-m", "-u", "HEAD"];
  await apart.output(read, "prepare the rebase", { config: SPARSE });
  return apart;
}

const SPARSE = [
  ["core.sparseCheckout", "true"],
  ["core.sparseCheckoutCone", "false"],
  ["index.sparse", "false"],
] as const;

/** Runs `git rebase --interactive` with a prepared todo list. */
async function runRebase(
  where: Repository,
  { upstream, base, todo }: Range,
  folder: string,
  hooks: HookDecision,
): Promise<GitResult> {
  const file = join(folder, "todo");
  await writeFile(file, todo);
  const { option, options } = await signing(where, hooks);
  const sparse = where.location.worktree?.startsWith(folder) ? SPARSE : [];
  const env = { ...options.env, GIT_SEQUENCE_EDITOR: 'cp "$REFMCP_TODO"', REFMCP_TODO: file };
  const config = [...(options.config ?? []), ...sparse, ["sequence.editor", ""] as const];
  const args = [
    ...["rebase", "--quiet", "--no-autosquash", "--no-autostash", "--no-stat", "--empty=drop"],
    ...["--interactive", "--strategy=ort", "--reapply-cherry-picks", "--no-fork-point", option],
    base !== undefined && base !== upstream && `--onto=${base}`,
    upstream ?? "--root",
  ];
  return runWhole(where, args, { ...options, env, config });
}

/** Rebases the current branch in the working tree; conflicts stay open to be resolved. */
async function rebaseHere(
  repository: Repository,
  before: string,
  range: Range,
  hooks: HookDecision,
  { budget }: Caller,
): Promise<Partial<Rebased>> {
  await repository.worktree();
  refuseOperation(repository);
  const { base: target, upstream } = range;
  if (target !== undefined) {
    await refuseFilters(repository, () => differing(repository, target, before), target);
    refuseUntracked(await untrackedAt(repository, target));
  }
  await refuseAdded(repository, upstream === undefined ? [before] : [before, `^${upstream}`]);
  const recovery = await keepCommit(repository, "rebase", before);
  const result = await inTemporaryFolder((folder) => runRebase(repository, range, folder, hooks));
  if (result.code === 0) {
    const after = await commitOf(repository, "HEAD");
    const names = fileNames(await changesOf(repository, [before, after]), Math.floor(budget / 2));
    const undo = `git_reset_hard with revision ${before}`;
    return { recovery, after, applied: true, ...names, undo, notes: hooks.notes };
  }
  if ((await conflictedPaths(repository)).length === 0) {
    await repository.run(["rebase", "--abort"]);
    throw hookFailure(hooks, result) ?? failureOf(result, "rebase");
  }
  const report = await conflictReport(repository, Math.floor(budget / 2));
  const hint =
    "The rebase stopped. Resolve the conflicts, git_add the files, then call git_rebase with action: continue.";
  const undo = "git_rebase with action abort";
  return { recovery, ...report, applied: false, undo, notes: notesFrom(hint, hooks.notes) };
}

/**
 * What became of each commit (`git range-diff`); undefined for the first commit of a history, which no
 * range can begin with.
 */
async function rangeDiff(
  repository: Repository,
  { count, upstream, base }: Range,
  before: string,
  after: string,
  budget: number,
): Promise<string | undefined> {
  if (upstream === undefined || base === undefined || base === after || count > MAX_COMPARED)
    return undefined;
  const { overrides } = await repository.prepared();
  // It starts a git log without --no-textconv, which fails for an empty program; this one shows the
  // file unchanged.
  const drivers = overrides.filter(([key]) => /^diff\..*\.textconv$/s.test(key));
  const plain = ["--no-color", "--no-notes", "--no-ext-diff", "--no-textconv", "--patch"];
  const args = ["range-diff", ...plain, `${upstream}..${before}`, `${base}..${after}`];
  const output = await repository.output(args, "compare the ranges", {
    config: [["diff.submodule", "short"], ...drivers.map(([key]) => [key, "cat"] as const)],
    maxBytes: budget * 4,
  });
  return clip(textOf(output), Math.floor(budget));
}

/** Moves the branch exactly as a preview described, if it has not moved since. */
async function applyPlan(repository: Repository, plan: string): Promise<Rebased> {
  const [, branch = "", before, after = ""] =
    /^(\S+) ([0-9a-f]{40,64})\.\.([0-9a-f]{40,64})$/.exec(plan) ?? [];
  const [target] = before === undefined ? [] : await lookUp(repository, [`${after}^{commit}`]);
  if (before === undefined || target === undefined)
    throw failure("stale_plan", `The plan "${oneLine(clip(plan, 100))}" is unknown.`);
  refuseOperation(repository);
  const moved = () =>
    failure("stale_plan", `The branch ${oneLine(branch)} has moved since the preview.`);
  if ((await refOf(repository, "heads", branch)).oid !== before) throw moved();
  const isCurrent = (await currentBranch(repository)) === branch;
  if (!isCurrent && (await isCheckedOut(repository, branch))) {
    const message = `The branch "${oneLine(branch)}" is checked out in another worktree.`;
    throw failure("branch_in_use", message);
  }
  const files = await changesOf(repository, [before, target.oid]);
  const { worktree } = await repository.prepared();
  const touchesFiles = files.length > 0 && isCurrent && worktree !== undefined;
  if (touchesFiles)
    await refuseFilters(repository, () => differing(repository, before, target.oid), target.oid);
  // One process does everything, so that it is complete even if this server is killed. It keeps
  // local changes to other files.
  const plain = ["--quiet", "--no-guess", "--no-track", "--no-overwrite-ignore"];
  const switching = ["switch", ...plain, "--no-recurse-submodules", `--force-create=${branch}`];
  const updating = ["update-ref", "-m", "git_rebase", `refs/heads/${branch}`, target.oid, before];
  const recovery = await keepCommit(repository, "rebase", before);
  const result = await repository.run(touchesFiles ? [...switching, target.oid] : updating);
  if (result.code !== 0) {
    if ((await refOf(repository, "heads", branch)).oid !== before) throw moved();
    throw failureOf(result, "move the branch");
  }
  const facts = { branch, before, after: target.oid, applied: true, recovery };
  const undo = `git_rebase with apply ${branch} ${target.oid}..${before}`;
  return { ...facts, identical: files.length === 0, undo };
}
