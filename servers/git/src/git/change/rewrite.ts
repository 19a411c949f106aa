import { createHash } from "node:crypto";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { clip, fitting, oneLine } from "@refmcp/boundary/answer";
import * as z from "zod";
import { differing, refuseFilters } from "../open/filters.ts";
import type { Machine } from "../open/machine.ts";
import { remember } from "../open/refs-listing.ts";
import type { Caller, Repository } from "../open/repository.ts";
import { refOf } from "../open/revisions.ts";
import { changesOf, fileLine, inTemporaryFolder } from "../read/changed-files.ts";
import { compareRanges } from "../read/range-diff.ts";
import { currentBranch, isCheckedOut } from "../read/refs.ts";
import { emptyTree } from "../read/show.ts";
import { failure, failureOf } from "../run/errors.ts";
import { counted, fittingLines, notesFrom } from "../run/text.ts";
import { applyingText, conflictFields, describeConflicts } from "./conflicts.ts";
import { decideHooks, HOOKS, hookFailure, presentHooks } from "./hooks.ts";
import { refuseOperation } from "./integrate.ts";
import { commitWriter, type RawCommit, subjectOf } from "./raw-commits.ts";
import { keeping } from "./recovery.ts";
import { type Group, rangeOf, replaySteps, type StepsQuery } from "./rewrite-steps.ts";

interface RewriteQuery extends StepsQuery {
  readonly branch_name?: string | undefined;
  readonly apply?: string | undefined;
  readonly skip_hooks: boolean;
}

export const rewritten = z.object({
  branch: z.string(),
  before: z.string(),
  /** The new last commit; omitted if there are conflicts. */
  after: z.string().optional(),
  /** Whether the branch has been moved there. */
  applied: z.boolean(),
  /** Pass it as apply to move the branch. */
  plan: z.string().optional(),
  /** Oldest first: the commits that each was made from, the new one, its subject. */
  commits: z.array(z.string()).optional(),
  left_out: z.number().optional(),
  dropped: z.array(z.string()).optional(),
  /** Whether the files of the last commit are the same as before. */
  identical: z.boolean().optional(),
  /** If not: what differs, as `+added -deleted path`. */
  difference: z.array(z.string()).optional(),
  range_diff: z.string().optional(),
  ...conflictFields,
  recovery: z.string().optional(),
  undo: z.string().optional(),
  notes: z.array(z.string()).optional(),
});
type Rewritten = z.infer<typeof rewritten>;

/** What a preview found, and exactly what applying it does. */
interface Plan {
  readonly repository: string;
  readonly branch: string;
  readonly before: string;
  readonly after: string;
}

const MAX_PLANS = 100;
/** The comparison of two ranges takes quadratic time. */
const MAX_COMPARED = 200;
const plans = new WeakMap<Machine, Map<string, Plan>>();

/**
 * Rewrites the commits of a branch: reorders, rewords, combines, drops or moves them. A first call only creates the new
 * commits, which nothing refers to, and describes them; a second one with its plan moves the branch.
 *
 * @throws ToolError `bad_steps`, `bad_resolution`, `merge_in_range`, `stale_plan`, `local_changes`, `hook_needed` …
 */
export async function rewrite(
  repository: Repository,
  query: RewriteQuery,
  caller: Caller,
): Promise<Rewritten> {
  if (query.apply !== undefined) return applyPlan(repository, query.apply);
  const branch = query.branch_name ?? (await currentBranch(repository));
  if (branch === undefined)
    throw failure("detached_head", "HEAD is detached, so there is no branch to rewrite.");
  const { oid: before } = await refOf(repository, "heads", branch);
  const range = await rangeOf(repository, before, query);
  const { commits, oids } = range;
  const { groups: planned, stopped } = await replaySteps(repository, range, query, caller);
  const answer = { branch, before, applied: false };
  if (stopped !== undefined) {
    const { commit, step, unmerged } = stopped;
    const hint = `Nothing was changed. Call again with resolutions for ${commit.oid.slice(0, 10)}: for each path a side, or texts, one for each hunk (the whole file if there are none).`;
    const conflicts = await describeConflicts(
      repository,
      unmerged,
      Math.floor(caller.budget * 0.8),
    );
    const applying = applyingText(commit, step, range.todo.length);
    return { ...answer, conflicts, applying, notes: [hint] };
  }
  const { groups, notes: hooked } = await checkMessages(repository, planned, range, query, caller);
  const { signs, write } = await commitWriter(repository);
  let parent = range.base;
  let tree = commits.get(parent ?? "")?.tree ?? emptyTree(before);
  const made: { from: readonly string[]; to: string | undefined; subject: string }[] = [];
  for (const group of groups) {
    const [first = ""] = group.from;
    const old = commits.get(first);
    const isSame =
      old?.parent === parent && old?.tree === group.tree && old.message === group.message;
    const isEmpty = group.tree === tree && !group.wasEmpty;
    const isKept = isSame && group.from.length === 1;
    const to = isKept ? first : isEmpty ? undefined : await write({ ...group, parent });
    made.push({ from: group.from, to, subject: subjectOf(group) });
    parent = to ?? parent;
    tree = group.tree;
  }
  if (parent === undefined) throw failure("bad_steps", "No commit would be left on the branch.");
  const after = parent;
  const start = oids.findIndex(
    (oid, index) => made[index]?.to !== oid || made[index]?.from.length !== 1,
  );
  const changed = start === -1 ? [] : oids.slice(start);
  const old = commits.get(changed[0] ?? "")?.parent;
  const bases = [old, start === 0 ? range.base : old] as const;
  const { files } = await changesOf(repository, [before, after]);
  const used = new Set(groups.flatMap(({ from }) => from));
  const dropped = oids.filter((oid) => !used.has(oid));
  const shown = made.map(
    ({ from, to, subject }) =>
      `${from.map(short).join(" + ")} → ${to === undefined ? "empty, left out:" : short(to)} ${subject}`,
  );
  const fit = fitting(shown, Math.floor(caller.budget * 0.3));
  const plan = { repository: repository.location.commonDir, branch, before, after };
  const lines = files.map((file) => clip(fileLine(file), 300));
  const signed = changed.filter((oid) => commits.get(oid)?.isSigned).length;
  const resigned =
    signed > 0 && `${counted(signed, "signature")} ${signs ? "replaced by yours" : "dropped"}.`;
  const published = await publishedNote(repository, before, old, changed);
  return {
    ...answer,
    after,
    plan: after === before ? undefined : keepPlan(repository, plan),
    commits: shown.slice(0, fit),
    left_out: shown.length > fit ? shown.length - fit : undefined,
    dropped: dropped.length === 0 ? undefined : dropped.map(short),
    identical: lines.length === 0,
    difference:
      lines.length === 0 ? undefined : fittingLines(lines, Math.floor(caller.budget * 0.15)),
    range_diff:
      changed.length === 0 || changed.length > MAX_COMPARED
        ? undefined
        : await compared(repository, bases, [before, after], caller),
    notes: notesFrom(published, resigned, hooked),
  };
}

const short = (oid: string): string => oid.slice(0, 10);

/** Lets the commit-msg hook check and change new messages, if hooks run. */
async function checkMessages(
  repository: Repository,
  groups: readonly Group[],
  { commits }: { commits: ReadonlyMap<string, RawCommit> },
  { skip_hooks }: RewriteQuery,
  caller: Caller,
): Promise<{ groups: readonly Group[]; notes: string[] | undefined }> {
  const others = (await presentHooks(repository, HOOKS.rewrite))?.names.join(", ");
  const other = others && `Did not run the hooks ${others}: a rewrite only runs commit-msg.`;
  const isNew = ({ message, from }: Group) => message !== commits.get(from[0] ?? "")?.message;
  if (!groups.some(isNew)) return { groups, notes: notesFrom(other) };
  const hooks = await decideHooks(repository, ["commit-msg"], caller, skip_hooks);
  const notes = notesFrom(other, hooks.notes);
  if (hooks.config.length === 0) return { groups, notes };
  return inTemporaryFolder(async (folder) => {
    const file = join(folder, "COMMIT_EDITMSG");
    const { config, env } = hooks;
    const checked: Group[] = [];
    for (const group of groups) {
      await writeFile(file, group.message, "latin1");
      const result =
        isNew(group) &&
        (await repository.run(["hook", "run", "commit-msg", "--", file], { config, env }));
      if (result && result.code !== 0)
        throw hookFailure(hooks, result, true) ?? failureOf(result, "run the hook");
      checked.push({ ...group, message: await readFile(file, "latin1") });
    }
    return { groups: checked, notes };
  });
}

/** A warning if commits are on a remote branch. */
async function publishedNote(
  repository: Repository,
  tip: string,
  base: string | undefined,
  oids: readonly string[],
) {
  const range = base === undefined ? [tip] : [tip, `^${base}`];
  const args = ["rev-list", ...range, "--not", "--remotes", "--"];
  const count = oids.length - (await repository.lines(args, "look for published commits")).length;
  if (count <= 0) return undefined;
  return `Already published on a remote branch: ${count} of ${counted(oids.length, "commit")}. Pushing the new ones needs force, and others who have the old ones must rebase.`;
}

/** The range-diff; undefined if nothing is left, or for the first commit of a history, which no range can begin with. */
async function compared(
  repository: Repository,
  [oldBase, newBase]: readonly [string | undefined, string | undefined],
  [before, after]: readonly [string, string],
  { budget }: Caller,
): Promise<string | undefined> {
  if (oldBase === undefined || newBase === undefined || newBase === after) return undefined;
  const ranges = [
    [oldBase, before],
    [newBase, after],
  ] as const;
  const how = { skip: 0, budget: Math.floor(budget * 0.45), patch: true };
  const { lines, more } = await compareRanges(repository, ...ranges, how);
  const [target, against] = ranges.map((range) => range.map(short).join(".."));
  return `${lines.join("\n")}${more ? `\n… (git_diff with target ${target} and against ${against} shows all of it)` : ""}`;
}

/** Keeps a plan for this server's lifetime, so that only what was previewed can be applied. */
function keepPlan(repository: Repository, plan: Plan): string {
  const known = plans.get(repository.machine) ?? new Map<string, Plan>();
  plans.set(repository.machine, known);
  const id = createHash("sha256").update(JSON.stringify(plan)).digest("hex").slice(0, 16);
  remember(known, id, plan, MAX_PLANS);
  return id;
}

/** Moves the branch exactly as a preview described, if it has not moved since. */
async function applyPlan(repository: Repository, id: string): Promise<Rewritten> {
  const plan = plans.get(repository.machine)?.get(id);
  if (plan?.repository !== repository.location.commonDir)
    throw failure("stale_plan", `The plan "${oneLine(clip(id, 60))}" is unknown.`);
  const { branch, before, after } = plan;
  const ref = `refs/heads/${branch}`;
  await refuseOperation(repository);
  const refuseMoved = async () => {
    const [found] = await repository.lookUp([ref]);
    if (found?.oid !== before)
      throw failure("stale_plan", `The branch ${oneLine(branch)} has moved since the preview.`);
  };
  await refuseMoved();
  const isCurrent = (await currentBranch(repository)) === branch;
  if (!isCurrent && (await isCheckedOut(repository, branch)))
    throw failure(
      "branch_in_use",
      `The branch "${oneLine(branch)}" is checked out in another worktree.`,
    );
  const { files } = await changesOf(repository, [before, after]);
  const { worktree } = await repository.prepared();
  const touchesFiles = files.length > 0 && isCurrent && worktree !== undefined;
  if (touchesFiles)
    await refuseFilters(repository, () => differing(repository, before, after), after);
  // One process does everything, so that it is complete even if this server is killed. It keeps local changes to other files.
  const plain = [
    "--quiet",
    "--no-guess",
    "--no-track",
    "--no-overwrite-ignore",
    "--no-recurse-submodules",
  ];
  const command = touchesFiles
    ? ["switch", ...plain, `--force-create=${branch}`, after]
    : ["update-ref", "-m", "git_rewrite", ref, after, before];
  const { recovery } = await keeping(repository, "rewrite", before, async () => {
    const result = await repository.run(command);
    if (result.code !== 0) await refuseMoved();
    if (result.code !== 0) throw failureOf(result, "move the branch");
  });
  const undo = keepPlan(repository, { ...plan, before: after, after: before });
  return {
    branch,
    before,
    after,
    applied: true,
    identical: files.length === 0,
    recovery,
    undo: `git_rewrite with apply ${undo}, or after a restart git_reset_hard with revision ${before}`,
  };
}
