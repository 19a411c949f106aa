import { oneLine, ToolError } from "@refmcp/boundary/answer";
import * as z from "zod";
import { differing, refuseFilters } from "../open/filters.ts";
import type { Caller, Git } from "../open/git.ts";
import type { Named, Repository } from "../open/repository.ts";
import { checked, commitOf, headOf } from "../open/revisions.ts";
import { badName, checkRefName, checkRefText, currentBranch } from "../read/branches.ts";
import { badRevision, failureOf } from "../run/failures.ts";
import { decideHooks, deciding, HOOKS } from "./hooks.ts";
import { keepAbandoned } from "./recovery.ts";

/** Creates a branch at a commit without moving HEAD. */
export async function createBranch(
  repository: Repository,
  name: string,
  base: string | undefined,
): Promise<{ branch: string; commit: string; base: string }> {
  checkRefText("heads", name);
  const revision = base ?? "HEAD";
  const [existing, found] = await repository.lookUp([`refs/heads/${name}`, `${checked(revision)}^{commit}`]);
  refuseExisting(existing, "branch", name);
  const commit = found?.oid ?? (await commitOf(repository, revision));
  const from = base ?? (await currentBranch(repository)) ?? commit;
  const result = await repository.run(["branch", "--no-track", name, commit]);
  if (/is not a valid branch name/.test(result.stderr)) throw badName("heads", name);
  if (result.code !== 0) throw failureOf(result, "create the branch");
  return { branch: name, commit, base: from };
}

function refuseExisting(existing: Named | undefined, kind: string, name: string): void {
  if (existing === undefined) return;
  throw new ToolError("conflict", `The ${kind} "${oneLine(name)}" already exists, at ${existing.oid}.`, {
    code: `${kind}_exists`,
    hint: `Choose another name; git_${kind === "tag" ? "list_refs" : "branch"} lists those that exist.`,
  });
}

/** Renames a local branch, with its configuration and reflog. */
export async function renameBranch(
  repository: Repository,
  query: { branch_name: string; new_name: string },
): Promise<{ branch: string; before: string; commit: string }> {
  const { branch_name: branch, new_name: name } = query;
  checkRefText("heads", name);
  if (branch.startsWith("-") || /[\0\n\r]|@\{/.test(branch)) throw badRevision(branch);
  const [existing, taken] = await repository.lookUp([`refs/heads/${branch}`, `refs/heads/${name}`]);
  if (existing === undefined) throw badRevision(branch);
  refuseExisting(taken, "branch", name);
  const result = await repository.run(["branch", "--move", "--", branch, name]);
  if (/is not a valid branch name/.test(result.stderr)) throw badName("heads", name);
  if (result.code !== 0) throw failureOf(result, "rename the branch");
  return { branch: name, before: branch, commit: existing.oid };
}

export const switched = z.object({
  /** Omitted if HEAD is now detached. */
  branch: z.string().optional(),
  commit: z.string().optional(),
  before: z.object({ branch: z.string().optional(), commit: z.string().optional() }).optional(),
  /** The remote branch that a new local one was created from. */
  tracks: z.string().optional(),
  /** The ref that keeps commits that were left on no branch. */
  recovery: z.string().optional(),
  notes: z.array(z.string()).optional(),
});

/** Switches to a branch, to a remote's branch (making a local one that tracks it), or to a commit (detached). */
export async function checkout(
  git: Git,
  repository: Repository,
  target: string,
  caller: Caller,
): Promise<z.infer<typeof switched>> {
  await repository.worktree();
  const beforeBranch = await currentBranch(repository);
  const { before: beforeCommit, ...plan } = await planOf(repository, target);
  if (beforeCommit !== undefined)
    await refuseFilters(repository, () => differing(repository, beforeCommit, plan.commit), plan.commit);
  const hooks = await decideHooks(git, repository, HOOKS.checkout, deciding(caller));
  const args = ["--quiet", "--no-guess", "--no-overwrite-ignore", "--no-recurse-submodules"];
  const result = await repository.run(["switch", ...args, ...plan.args], {
    config: hooks.config,
    env: hooks.env,
  });
  const branch = await currentBranch(repository);
  // A hook may have moved on from there.
  const commit = hooks.config.length > 0 ? await headOf(repository) : plan.commit;
  // The exit code may be that of post-checkout, which runs after the switch.
  const isThere =
    hooks.config.length > 0 && commit === plan.commit && !/^(fatal|error): /m.test(result.stderr);
  if (result.code !== 0 && !isThere) throw failureOf(result, "switch");
  const failed = result.code === 0 ? [] : [`A hook failed with exit code ${result.code}.`];
  const before = { branch: beforeBranch, commit: beforeCommit };
  const isLeft = beforeBranch === undefined && beforeCommit !== undefined;
  const left = isLeft ? await keepAbandoned(repository, beforeCommit, commit) : undefined;
  const hint =
    "HEAD is detached: commits made here are on no branch. To keep them, git_create_branch, then git_checkout it.";
  const notes = [
    ...(left === undefined ? [] : [left.note]),
    ...(branch === undefined ? [hint] : []),
    ...(hooks.notes ?? []),
    ...failed,
  ];
  return {
    branch,
    commit,
    before,
    tracks: plan.tracks,
    recovery: left?.recovery,
    notes: notes.length === 0 ? undefined : notes,
  };
}

interface Plan {
  readonly args: readonly string[];
  readonly commit: string;
  /** The commit of HEAD. */
  readonly before: string | undefined;
  readonly tracks?: string;
}

/** Arguments for `git switch`; every name was found as a ref, and none can look like an option. */
async function planOf(repository: Repository, target: string): Promise<Plan> {
  if (target.startsWith("-") || /[\0\n\r]/.test(target)) throw badRevision(target);
  const [head, local] = await repository.lookUp(["HEAD^{commit}", `refs/heads/${target}`]);
  const before = head?.oid;
  if (local !== undefined) return { args: [target], commit: local.oid, before };
  const list = ["for-each-ref", "--format=%(refname:lstrip=2)", "refs/remotes/"];
  const names = await repository.lines(list, "list the remote branches");
  const remote = names.filter((name) => name.slice(name.indexOf("/") + 1) === target);
  const [only, another] = remote;
  if (only !== undefined && another === undefined) {
    await checkRefName(repository, "heads", target);
    const ref = `refs/remotes/${only}`;
    const commit = await commitOf(repository, ref);
    return { args: [`--create=${target}`, "--track=direct", ref], commit, before, tracks: only };
  }
  const commit = await commitOf(repository, target);
  return { args: ["--detach", commit], commit, before };
}

/** Creates a tag: annotated with a message, lightweight without one. */
export async function createTag(
  repository: Repository,
  query: { name: string; revision: string; message?: string | undefined },
): Promise<{ tag: string; commit: string; annotated: boolean }> {
  const { name, revision, message } = query;
  checkRefText("tags", name);
  const [existing, found] = await repository.lookUp([`refs/tags/${name}`, `${checked(revision)}^{commit}`]);
  refuseExisting(existing, "tag", name);
  const commit = found?.oid ?? (await commitOf(repository, revision));
  const annotated = message !== undefined && message.trim() !== "";
  const result = await repository.run(
    [
      "tag",
      "--no-sign",
      ...(annotated ? ["--annotate", "--file=-", "--cleanup=whitespace"] : []),
      name,
      commit,
    ],
    annotated ? { input: message } : {},
  );
  if (/is not a valid tag name/.test(result.stderr)) throw badName("tags", name);
  if (result.code !== 0) throw failureOf(result, "create the tag");
  return { tag: name, commit, annotated };
}
