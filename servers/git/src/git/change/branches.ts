import { oneLine } from "@refmcp/boundary/answer";
import * as z from "zod";
import { badName, checkRefName, checkRefText, currentBranch } from "../history/branch-names.ts";
import type { Budget, Caller, Repository } from "../open/repository.ts";
import {
  checked,
  commitOf,
  commitsOf,
  headOf,
  KINDS,
  lookUp,
  type NameKind,
} from "../open/revisions.ts";
import { changesOf, differing, fileNames } from "../read/changes.ts";
import { refuseFilters } from "../read/filters.ts";
import { refuseOperation } from "../read/operation.ts";
import { badRevision, failure, failureOf } from "../run/errors.ts";
import { counted, notesFrom } from "../run/text.ts";
import { decideHooks, HOOKS } from "./hooks.ts";
import { commitsOnlyIn, keepAbandoned, keepBefore, keepCommit } from "./recovery.ts";

export async function createBranch(
  repository: Repository,
  { branch_name: branch, base_branch }: { branch_name: string; base_branch?: string | undefined },
) {
  const commit = await startOf(repository, "heads", branch, base_branch ?? "HEAD");
  const base = base_branch ?? (await currentBranch(repository)) ?? commit;
  const result = await repository.run(["branch", "--no-track", branch, commit]);
  if (/is not a valid branch name/.test(result.stderr)) throw badName("heads", branch);
  if (result.code !== 0) throw failureOf(result, "create the branch");
  return { branch, commit, base };
}

/** Creates a tag: annotated with a message, lightweight without one. */
export async function createTag(
  repository: Repository,
  query: { tag_name: string; revision: string; message?: string | undefined },
) {
  const { tag_name: tag, revision, message = "" } = query;
  const commit = await startOf(repository, "tags", tag, revision);
  const annotated = message.trim() !== "";
  const how = annotated ? ["--annotate", "--file=-", "--cleanup=whitespace"] : [];
  const options = annotated ? { input: message } : {};
  const result = await repository.run(["tag", "--no-sign", ...how, tag, commit], options);
  if (/is not a valid tag name/.test(result.stderr)) throw badName("tags", tag);
  if (result.code !== 0) throw failureOf(result, "create the tag");
  return { tag, commit, annotated };
}

/** The commit for a new branch or tag, whose name must be free. */
async function startOf(repository: Repository, kind: NameKind, name: string, revision: string) {
  checkRefText(kind, name);
  const names = [`refs/${kind}/${name}`, `${checked(revision)}^{commit}`];
  const [existing, commit] = await lookUp(repository, names);
  if (existing === undefined) return commit?.oid ?? commitOf(repository, revision);
  const what = KINDS[kind];
  const message = `The ${what} "${oneLine(name)}" already exists, at ${existing.oid}.`;
  throw failure(`${what}_exists`, message);
}

export const switched = z.object({
  branch: z.string().optional(),
  commit: z.string().optional(),
  before: z.object({ branch: z.string().optional(), commit: z.string().optional() }).optional(),
  /** The remote branch that a new local one was created from. */
  tracks: z.string().optional(),
  /** The last of the commits that were left on no branch. */
  recovery: z.string().optional(),
  notes: z.array(z.string()).optional(),
});

/**
 * Switches to a branch, to a remote's branch (making a local one that tracks it), to a new branch, or
 * to a commit (detached).
 */
export async function checkout(
  repository: Repository,
  query: { branch_name: string; create?: boolean; base_branch?: string | undefined },
  caller: Caller,
): Promise<z.infer<typeof switched>> {
  await repository.worktree();
  const beforeBranch = await currentBranch(repository);
  const { before: beforeCommit, ...plan } = query.create
    ? await planOfNew(repository, query.branch_name, query.base_branch ?? "HEAD")
    : await planOf(repository, query.branch_name);
  if (beforeCommit !== undefined)
    await refuseFilters(
      repository,
      () => differing(repository, beforeCommit, plan.commit),
      plan.commit,
    );
  const hooks = await decideHooks(repository, HOOKS.checkout, caller);
  const args = ["--quiet", "--no-guess", "--no-overwrite-ignore", "--no-recurse-submodules"];
  const { config, env } = hooks;
  const result = await repository.run(["switch", ...args, ...plan.args], { config, env });
  const branch = await currentBranch(repository);
  // A hook may have moved on from there.
  const commit = config.length > 0 ? await headOf(repository) : plan.commit;
  // The exit code may be that of post-checkout, which runs after the switch.
  const isThere =
    config.length > 0 && commit === plan.commit && !/^(fatal|error): /m.test(result.stderr);
  if (result.code !== 0 && !isThere) throw failureOf(result, "switch");
  const failed = result.code !== 0 && `A hook failed with exit code ${result.code}.`;
  const before = { branch: beforeBranch, commit: beforeCommit };
  const isLeft = beforeBranch === undefined && beforeCommit !== undefined;
  const left = isLeft ? await keepAbandoned(repository, beforeCommit, commit) : undefined;
  const hint =
    "HEAD is detached: commits made here are on no branch. To keep them, git_create_branch, then git_checkout it.";
  return {
    branch,
    commit,
    before,
    tracks: plan.tracks,
    recovery: left?.recovery,
    notes: notesFrom(left?.note, branch === undefined && hint, hooks.notes, failed),
  };
}

/**
 * Moves the current branch to a commit and leaves the files unchanged. `soft` leaves the index too, so
 * that everything since that commit is staged; `mixed` resets it. Commits and index are kept.
 *
 * @throws ToolError `operation_in_progress`, `bad_revision`
 */
export async function moveBranch(
  repository: Repository,
  { revision, mode }: { revision: string; mode: "soft" | "mixed" },
  { budget }: Budget,
) {
  await repository.worktree();
  await refuseOperation(repository);
  const [before = "", after = ""] = await commitsOf(repository, ["HEAD", revision]);
  const left = await commitsOnlyIn(repository, before, [after]);
  const kept = mode === "mixed" ? await keepBefore(repository, "reset") : undefined;
  const recovery = kept ?? (await keepCommit(repository, "reset", before));
  await repository.output(["reset", "--quiet", `--${mode}`, after], "reset");
  const files = await changesOf(repository, mode === "soft" ? ["--cached"] : [after]);
  const index =
    kept === undefined
      ? ""
      : `; git_restore with source ${kept}^2 and staged true restores the index`;
  return {
    ...fileNames(files, budget - 1_500),
    recovery,
    notes: [
      left.count === 0
        ? "No commit left the branch."
        : `Left the branch: ${counted(left.count, "commit")}${left.list}.`,
    ],
    undo: `git_reset with revision ${before} and mode soft${index}`,
  };
}

/** Arguments for `git switch`; every name was found as a ref, and none can look like an option. */
async function planOf(repository: Repository, target: string) {
  if (target.startsWith("-") || /[\0\n\r]/.test(target)) throw badRevision(target);
  const names = ["HEAD^{commit}", `refs/heads/${target}`];
  const [head, local] = await lookUp(repository, names);
  const before = head?.oid;
  if (local !== undefined) return { args: [target], commit: local.oid, before };
  const list = ["for-each-ref", "--format=%(refname:lstrip=2)", `refs/remotes/*/${target}`];
  const [remote, another] = await repository.lines(list, "list the remote branches");
  if (remote !== undefined && another === undefined) {
    await checkRefName(repository, "heads", target);
    const ref = `refs/remotes/${remote}`;
    const commit = await commitOf(repository, ref);
    const args = [`--create=${target}`, "--track=direct", ref];
    return { args, commit, before, tracks: remote };
  }
  const commit = await commitOf(repository, target);
  return { args: ["--detach", commit], commit, before };
}

async function planOfNew(repository: Repository, name: string, base: string) {
  const before = await headOf(repository);
  if (before === undefined && base === "HEAD") {
    checkRefText("heads", name);
    return { args: [`--create=${name}`], commit: undefined, before, tracks: undefined };
  }
  const commit = await startOf(repository, "heads", name, base);
  await checkRefName(repository, "heads", name);
  return { args: ["--no-track", `--create=${name}`, commit], commit, before, tracks: undefined };
}
