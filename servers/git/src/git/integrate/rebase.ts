import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { clip, oneLine } from "@refmcp/boundary/answer";
import * as z from "zod";
import { conflictedPaths, conflictReport } from "../change/conflicts.ts";
import { decideHooks, HOOKS, type HookDecision, hookFailure, signing } from "../change/hooks.ts";
import { keepCommit } from "../change/recovery.ts";
import { refuseUntracked, untrackedAmong, untrackedAt } from "../change/untracked.ts";
import { currentBranch, isCheckedOut } from "../history/branch-names.ts";
import { type Caller, Repository } from "../open/repository.ts";
import { commitOf, lookUp, refOf } from "../open/revisions.ts";
import { changesOf, differing, fileLine, fileNames } from "../read/changes.ts";
import { refuseFilters } from "../read/filters.ts";
import { LinePager } from "../read/line-pager.ts";
import { refuseOperation } from "../read/operation.ts";
import { inTemporaryFolder } from "../read/temporary-index.ts";
import { failure, failureOf } from "../run/errors.ts";
import type { GitResult } from "../run/run-git.ts";
import { counted, fittingLines, notesFrom, textOf } from "../run/text.ts";
import { integrated, type OnConflict, runWhole } from "./integrate.ts";
import {
  type Group,
  groupsOf,
  type Range,
  rangeOf,
  type StepsQuery,
  todoText,
} from "./rebase-range.ts";

interface RebaseQuery extends StepsQuery {
  readonly branch_name?: string | undefined;
  readonly apply?: string | undefined;
  readonly on_conflict: OnConflict;
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
  /** Whether the files of the last commit are the same as before. */
  identical: z.boolean().optional(),
  /** If not: what differs, as `+added -deleted path`. */
  difference: z.array(z.string()).optional(),
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
  if (query.apply !== undefined) return applyPlan(repository, query.apply);
  const current = await currentBranch(repository);
  const branch = query.branch_name ?? current;
  if (branch === undefined)
    throw failure("detached_head", "HEAD is detached, so there is no branch to rebase.");
  const { oid: before } = await refOf(repository, "heads", branch);
  const range = await rangeOf(repository, before, query);
  const planned = groupsOf(range);
  if (planned.length === 0 && range.base === undefined)
    throw failure("bad_steps", "No commit would be left on the branch.");
  const hooks = await decideHooks(repository, HOOKS.rebase, caller, query.skip_hooks);
  const groups = await checkMessages(repository, planned, hooks);
  const todo = await todoText(repository, groups);
  if (query.on_conflict === "keep") {
    if (branch !== current)
      throw failure("detached_head", `"${oneLine(branch)}" is not the current branch.`);
    return rebaseHere(repository, { branch, before, range, todo, hooks }, caller);
  }
  return inTemporaryFolder(async (folder) => {
    const apart = await unregisteredWorktree(repository, folder, before);
    const result = await runRebase(apart, range, todo, folder, hooks);
    const answer = { branch, before, applied: false, notes: hooks.notes };
    if (result.code !== 0) {
      const budget = Math.floor(caller.budget * 0.8);
      const { conflicted, ...report } = await conflictReport(apart, budget);
      if (conflicted.length === 0) throw hookFailure(hooks, result) ?? failureOf(result, "rebase");
      const hint =
        "Nothing was changed. With on_conflict: keep the rebase stops here in the working tree, where you can resolve this.";
      return { ...answer, ...report, notes: notesFrom(hint, hooks.notes) };
    }
    const after = await commitOf(apart, "HEAD");
    const details = await describe(repository, branch, range, after, caller);
    return { ...answer, ...details, notes: notesFrom(details.notes ?? [], hooks.notes ?? []) };
  });
}

/** Lets the commit-msg hook check and change new messages, if hooks run. */
async function checkMessages(
  repository: Repository,
  groups: readonly Group[],
  hooks: HookDecision,
): Promise<readonly Group[]> {
  const { config, env } = hooks;
  if (config.length === 0) return groups;
  return inTemporaryFolder(async (folder) => {
    const file = join(folder, "COMMIT_EDITMSG");
    const checked: Group[] = [];
    for (const group of groups) {
      const isNew = group.message !== group.from[0]?.message;
      if (isNew) await writeFile(file, group.message);
      const run = ["hook", "run", "--ignore-missing", "commit-msg", "--", file];
      const result = isNew ? await repository.run(run, { config, env }) : undefined;
      if (result !== undefined && result.code !== 0)
        throw hookFailure(hooks, result, true) ?? failureOf(result, "run the hook");
      checked.push(isNew ? { ...group, message: await readFile(file, "utf8") } : group);
    }
    return checked;
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
  { upstream, base }: Range,
  todo: string,
  folder: string,
  hooks: HookDecision,
): Promise<GitResult> {
  const file = join(folder, "todo");
  await writeFile(file, todo);
  const { option, options } = await signing(where, undefined, hooks);
  const sparse = where.location.worktree?.startsWith(folder) ? SPARSE : [];
  const env = { ...options.env, GIT_SEQUENCE_EDITOR: 'cp "$REFMCP_TODO"', REFMCP_TODO: file };
  const config = [...(options.config ?? []), ...sparse, ["sequence.editor", ""] as const];
  const plain = ["--no-autosquash", "--no-autostash", "--no-stat", "--empty=drop"];
  const how = ["--interactive", "--strategy=ort", "--reapply-cherry-picks", "--no-fork-point"];
  const range = upstream === undefined ? ["--root"] : [upstream];
  const target = base === undefined || base === upstream ? [] : [`--onto=${base}`];
  const args = ["rebase", "--quiet", ...plain, ...how, option, ...target, ...range];
  return runWhole(where, args, { ...options, env, config });
}

interface Here {
  readonly branch: string;
  readonly before: string;
  readonly range: Range;
  readonly todo: string;
  readonly hooks: HookDecision;
}

/** Rebases the current branch in the working tree; conflicts stay open to be resolved. */
async function rebaseHere(
  repository: Repository,
  { branch, before, range, todo, hooks }: Here,
  caller: Caller,
): Promise<Rebased> {
  await repository.worktree();
  refuseOperation(repository);
  const target = range.base;
  if (target !== undefined) {
    await refuseFilters(repository, () => differing(repository, target, before), target);
    refuseUntracked(await untrackedAt(repository, target));
  }
  const own = ["log", "--no-show-signature", "-z", "--format=", "--name-only", "--diff-filter=A"];
  const commits = [before, ...(range.upstream === undefined ? [] : [`^${range.upstream}`])];
  const added = await repository.paths(
    [...own, "--no-renames", ...commits, "--"],
    "list the files",
  );
  refuseUntracked(await untrackedAmong(repository, added));
  const recovery = await keepCommit(repository, "rebase", before);
  return inTemporaryFolder(async (folder) => {
    const result = await runRebase(repository, range, todo, folder, hooks);
    const facts = { branch, before, recovery, notes: hooks.notes };
    if (result.code === 0) {
      const after = await commitOf(repository, "HEAD");
      const files = await changesOf(repository, [before, after]);
      const names = fileNames(files, Math.floor(caller.budget / 2));
      const undo = `git_reset_hard with revision ${before}`;
      return { ...facts, after, applied: true, ...names, undo };
    }
    if ((await conflictedPaths(repository)).length === 0) {
      await repository.run(["rebase", "--abort"]);
      throw hookFailure(hooks, result) ?? failureOf(result, "rebase");
    }
    const report = await conflictReport(repository, Math.floor(caller.budget / 2));
    const hint =
      "The rebase stopped. Resolve the conflicts, git_add the files, then call git_rebase with action: continue.";
    const undo = "git_rebase with action abort";
    return { ...facts, ...report, applied: false, undo, notes: notesFrom(hint, hooks.notes) };
  });
}

/** What a preview found; the range-diff names what became of each commit. */
async function describe(
  repository: Repository,
  branch: string,
  range: Range,
  after: string,
  { budget }: Caller,
): Promise<Partial<Rebased>> {
  const before = range.commits.at(-1)?.oid ?? "";
  const files = await changesOf(repository, [before, after], [], "lines");
  const lines = files.map((file) => clip(fileLine(file), 300));
  return {
    after,
    plan: after === before ? undefined : `${branch} ${before}..${after}`,
    identical: lines.length === 0,
    difference: lines.length === 0 ? undefined : fittingLines(lines, Math.floor(budget * 0.15)),
    range_diff: await comparison(repository, range, before, after, Math.floor(budget * 0.7)),
    notes: notesFrom(await publishedNote(repository, range)),
  };
}

/** A warning if commits are on a remote branch. */
async function publishedNote(repository: Repository, { commits, upstream }: Range) {
  const tip = commits.at(-1)?.oid ?? "";
  const range = upstream === undefined ? [tip] : [tip, `^${upstream}`];
  const args = ["rev-list", ...range, "--not", "--remotes", "--"];
  const local = await repository.lines(args, "look for published commits");
  const count = commits.length - local.length;
  if (count <= 0) return undefined;
  return `Already published on a remote branch: ${count} of ${counted(commits.length, "commit")}. Pushing the new ones needs force, and others who have the old ones must rebase.`;
}

/** The range-diff; undefined for the first commit of a history, which no range can begin with. */
async function comparison(
  repository: Repository,
  { commits, upstream, base }: Range,
  before: string,
  after: string,
  budget: number,
): Promise<string | undefined> {
  const isEmpty = upstream === undefined || base === undefined || base === after;
  if (isEmpty || commits.length > MAX_COMPARED) return undefined;
  const ranges = [`${upstream}..${before}`, `${base}..${after}`] as const;
  const { lines, more } = await compareRanges(repository, ...ranges, budget);
  return [...lines, ...(more ? ["…"] : [])].join("\n");
}

/** The first lines of `git range-diff` of two ranges of ids: which commits are the same or changed. */
async function compareRanges(
  repository: Repository,
  before: string,
  after: string,
  budget: number,
): Promise<{ lines: string[]; more: boolean }> {
  const limits = { maxLines: 100_000, maxBytes: budget, maxLineBytes: 2_000 };
  const pager = new LinePager({ skip: 0, ...limits });
  const { overrides } = await repository.prepared();
  // It starts a git log without --no-textconv, which fails for an empty program; this one shows the
  // file unchanged.
  const drivers = overrides.filter(([key]) => /^diff\..*\.textconv$/s.test(key));
  const plain = ["--no-color", "--no-notes", "--no-ext-diff", "--no-textconv", "--patch"];
  const result = await repository.run(["range-diff", ...plain, before, after], {
    config: [["diff.submodule", "short"], ...drivers.map(([key]) => [key, "cat"] as const)],
    onStdout: (chunk) => pager.take(chunk),
    maxBytes: Number.MAX_SAFE_INTEGER,
  });
  if (result.code !== 0 && !result.cut) throw failureOf(result, "compare the ranges");
  const { lines, more } = pager.page();
  return { lines: lines.map(textOf), more };
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
  const { oid: tip } = await refOf(repository, "heads", branch);
  if (tip !== before) throw moved();
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
