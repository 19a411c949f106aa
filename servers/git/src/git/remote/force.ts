import { oneLine } from "@refmcp/boundary/answer";
import { decideHooks, HOOKS } from "../change/hooks.ts";
import { commitsOnlyIn, type Destroyed, keepCommit } from "../change/recovery.ts";
import { currentBranch } from "../history/branch-names.ts";
import type { Caller, Repository } from "../open/repository.ts";
import { lookUp, refOf, shortId } from "../open/revisions.ts";
import { badRevision, failure } from "../run/errors.ts";
import { counted } from "../run/text.ts";
import { push } from "./transfer.ts";

/** Replaces a remote branch, only if it still is at the commit that was fetched last. */
export async function forcePush(
  repository: Repository,
  query: { remote: string; branch_name?: string | undefined; skip_hooks: boolean },
  caller: Caller,
): Promise<Destroyed> {
  const branch = query.branch_name ?? (await currentBranch(repository));
  if (branch === undefined) throw badRevision("HEAD");
  const mine = await refOf(repository, "heads", branch);
  const [theirs] = await lookUp(repository, [`refs/remotes/${query.remote}/${branch}`]);
  if (theirs === undefined) throw noLease(branch, query.remote);
  const lost = await commitsOnlyIn(repository, theirs.oid, [mine.oid]);
  await caller.confirm(
    `Replace ${oneLine(branch)} on ${oneLine(query.remote)}: ${shortId(theirs.oid)} becomes ${shortId(mine.oid)}? This discards ${counted(lost.count, "commit")} there${lost.list}. They are kept here for recovery.`,
  );
  const pushing = { ...query, branch_name: branch };
  const { recovery, notes } = await replace(
    repository,
    "push --force",
    pushing,
    theirs.oid,
    caller,
  );
  const isCurrent = (await currentBranch(repository)) === branch;
  return {
    done: `${query.remote}/${branch} is at ${mine.oid}.`,
    before: theirs.oid,
    after: mine.oid,
    recovery,
    undo: `${isCurrent ? "" : `git_checkout of ${branch}, `}git_reset_hard with revision ${theirs.oid}, then git_push_force_with_lease`,
    notes,
  };
}

const noLease = (branch: string, remote: string, hint?: string) =>
  failure(
    "no_lease",
    `The state of ${oneLine(branch)} on ${oneLine(remote)} is not known locally.`,
    {
      hint,
    },
  );

/** Replaces or deletes a remote branch that is at a commit, which is kept here. */
async function replace(
  repository: Repository,
  operation: "push --force" | "push --delete",
  query: { remote: string; branch_name: string; skip_hooks: boolean },
  commit: string,
  caller: Caller,
) {
  // The user decides before anything is kept.
  const hooks = await decideHooks(repository, HOOKS.push, caller, query.skip_hooks);
  const lease = { commit, hooks, deletes: operation === "push --delete" };
  const pushing = { ...query, set_upstream: false };
  const recovery = await keepCommit(repository, operation, commit);
  await push(repository, pushing, caller, lease);
  return { recovery, notes: hooks.notes };
}

/** Deletes a branch on a remote, only if it still is at the commit that was fetched last. */
export async function deleteRemoteBranch(
  repository: Repository,
  query: { remote: string; branch_name: string; skip_hooks: boolean },
  caller: Caller,
): Promise<Destroyed> {
  const { branch_name: name, remote } = query;
  const there = `${remote}/${name}`;
  if (name.startsWith("-") || /[\0\n\r]/.test(there)) throw badRevision(name);
  const [theirs] = await lookUp(repository, [`refs/remotes/${there}`]);
  const hint = "Run git_fetch first; git_branch with branch_type remote lists what is known.";
  if (theirs === undefined) throw noLease(name, remote, hint);
  const lost = await commitsOnlyIn(repository, theirs.oid, [], { except: there });
  await caller.confirm(
    `Delete ${oneLine(name)} on ${oneLine(remote)}, at ${shortId(theirs.oid)}? ${counted(lost.count, "commit")} on no other branch known here${lost.list}. Its last commit is kept here for recovery.`,
  );
  const { recovery, notes } = await replace(repository, "push --delete", query, theirs.oid, caller);
  return {
    done: `Deleted ${name} on ${remote}.`,
    before: theirs.oid,
    recovery,
    undo: `git_create_branch with branch_name ${name} and base_branch ${theirs.oid}, then git_push with that branch`,
    notes,
  };
}
