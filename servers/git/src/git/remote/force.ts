import { oneLine } from "@refmcp/boundary/answer";
import { decideHooks, HOOKS } from "../change/hooks.ts";
import { commitsOnlyIn, type Destroyed, keepCommit } from "../change/recovery.ts";
import type { Caller, Repository } from "../open/repository.ts";
import { checked, lookUp, refOf, shortId } from "../open/revisions.ts";
import { currentBranch } from "../read/refs.ts";
import { badRevision, failure } from "../run/errors.ts";
import { countOf } from "../run/text.ts";
import { push } from "./transfer.ts";

interface RemoteBranch {
  readonly remote: string;
  readonly branch_name: string;
  readonly skip_hooks: boolean;
}

/** Replaces a remote branch, only if it still is at the commit that was fetched last. */
export async function forcePush(
  repository: Repository,
  query: Omit<RemoteBranch, "branch_name"> & { branch_name?: string | undefined },
  caller: Caller,
): Promise<Destroyed> {
  const current = await currentBranch(repository);
  const branch = query.branch_name ?? current;
  if (branch === undefined) throw badRevision("HEAD");
  const mine = await refOf(repository, "heads", branch);
  const theirs = await fetchedOf(repository, query.remote, branch);
  const loss = await commitsOnlyIn(repository, theirs, [mine.oid]);
  await caller.confirm(
    `Replace ${oneLine(branch)} on ${oneLine(query.remote)}: ${shortId(theirs)} becomes ${shortId(mine.oid)}? This discards ${countOf(loss.count, "commit")} there${loss.list}. They are kept here for recovery.`,
  );
  const target = { ...query, branch_name: branch };
  const replacement = await replace(repository, "push --force", target, theirs, caller);
  return {
    done: `${query.remote}/${branch} is at ${mine.oid}.`,
    before: theirs,
    after: mine.oid,
    ...replacement,
    undo: `${branch === current ? "" : `git_checkout of ${branch}, `}git_reset_hard with revision ${theirs}, then git_push_force_with_lease`,
  };
}

/** Deletes a branch on a remote, only if it still is at the commit that was fetched last. */
export async function deleteRemoteBranch(
  repository: Repository,
  query: RemoteBranch,
  caller: Caller,
): Promise<Destroyed> {
  const { branch_name: name, remote } = query;
  const there = `${remote}/${checked(name)}`;
  const theirs = await fetchedOf(repository, remote, name);
  const loss = await commitsOnlyIn(repository, theirs, there);
  await caller.confirm(
    `Delete ${oneLine(name)} on ${oneLine(remote)}, at ${shortId(theirs)}? ${countOf(loss.count, "commit")} on no other branch known here${loss.list}. Its last commit is kept here for recovery.`,
  );
  const replacement = await replace(repository, "push --delete", query, theirs, caller);
  return {
    done: `Deleted ${name} on ${remote}.`,
    before: theirs,
    ...replacement,
    undo: `git_create_branch with branch_name ${name} and base_branch ${theirs}, then git_push with that branch`,
  };
}

/** The commit at which a remote's branch was fetched last. @throws ToolError `no_lease` */
async function fetchedOf(repository: Repository, remote: string, branch: string): Promise<string> {
  const [theirs] = await lookUp(repository, [`refs/remotes/${remote}/${branch}`]);
  if (theirs !== undefined) return theirs.oid;
  const message = `The state of ${oneLine(branch)} on ${oneLine(remote)} is not known locally.`;
  throw failure("no_lease", message);
}

/** Replaces or deletes a remote branch that is at a commit, which is kept here. */
async function replace(
  repository: Repository,
  operation: "push --force" | "push --delete",
  query: RemoteBranch,
  commit: string,
  caller: Caller,
) {
  // The user decides before anything is kept.
  const hooks = await decideHooks(repository, HOOKS.push, caller, query.skip_hooks);
  const lease = { commit, hooks, deletes: operation === "push --delete" };
  const recovery = await keepCommit(repository, operation, commit);
  await push(repository, { ...query, set_upstream: false }, caller, lease);
  return { recovery, notes: hooks.notes };
}
