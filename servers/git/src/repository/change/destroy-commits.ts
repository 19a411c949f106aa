import { oneLine, ToolError } from "@refmcp/boundary/answer";
import { differing, refuseFilters } from "../open/filters.ts";
import type { Caller, Git } from "../open/git.ts";
import type { Repository } from "../open/repository.ts";
import { commitOf, objectOf } from "../open/revisions.ts";
import { currentBranch } from "../read/branches.ts";
import { changesOf } from "../read/changed-files.ts";
import { operationOf } from "../read/status.ts";
import { push } from "../remote/transfer.ts";
import { badRevision, failureOf } from "../run/failures.ts";
import { counted } from "../run/text.ts";
import { conflictedPaths } from "./commit.ts";
import { commitsOnlyIn, type Destroyed, listOf, namesOf } from "./confirm-loss.ts";
import { decideHooks, deciding, HOOKS, hookFailure } from "./hooks.ts";
import { refuseOperation } from "./integrate.ts";
import { keep } from "./recovery.ts";
import { signing } from "./signing.ts";

/** Rebases the current branch; conflicts abort it. */
export async function rebase(
  git: Git,
  repository: Repository,
  query: { onto: string; skip_hooks: boolean },
  caller: Caller,
): Promise<Destroyed> {
  const { onto } = query;
  await repository.worktree();
  await refuseOperation(repository);
  const branch = await currentBranch(repository);
  if (branch === undefined) {
    throw new ToolError("invalid", "HEAD is detached, so there is no branch to rebase.", {
      code: "detached_head",
      hint: "Switch to a branch with git_checkout.",
    });
  }
  const head = await commitOf(repository, "HEAD");
  const target = await commitOf(repository, onto);
  await refuseFilters(repository, () => differing(repository, target, head), target);
  const moved = await commitsOnlyIn(repository, head, [target]);
  await caller.confirm(
    `Rebase ${oneLine(branch)} onto ${oneLine(onto)} (${target.slice(0, 10)})? This rewrites ${counted(moved.count, "commit")}${moved.list}. The old commits are kept under a recovery ref.`,
  );
  const hooks = await decideHooks(git, repository, HOOKS.rebase, deciding(caller, query.skip_hooks));
  const recovery = await keep(repository, "rebase", head);
  const { option, options } = await signing(repository, undefined, hooks);
  const args = ["--quiet", "--no-autostash", "--no-stat", "--strategy=ort", "--no-fork-point"];
  const result = await repository.run(["rebase", ...args, option, target], options);
  if (result.code !== 0) {
    const conflicted = await conflictedPaths(repository);
    if (operationOf(repository) !== undefined)
      await repository.output(["rebase", "--abort"], "abandon the rebase");
    await repository.run(["update-ref", "-d", recovery]);
    if (conflicted.length === 0) throw hookFailure(hooks, result) ?? failureOf(result, "rebase");
    throw new ToolError(
      "conflict",
      `The rebase conflicts in ${conflicted.slice(0, 20).map(oneLine).join(", ")}. Nothing was changed.`,
      {
        code: "conflict",
        hint: "git_merge combines both sides with a single conflict resolution.",
      },
    );
  }
  const after = await commitOf(repository, "HEAD");
  return {
    done: `Rebased ${branch}: ${counted(moved.count, "commit")}.`,
    before: head,
    after,
    recovery,
    undo: `git_reset_hard with revision ${head}`,
    notes: hooks.notes,
  };
}

/** Deletes a branch, merged or not. */
export async function deleteBranch(repository: Repository, name: string, caller: Caller): Promise<Destroyed> {
  if (name.startsWith("-") || /[\0\n\r]/.test(name)) throw badRevision(name);
  const [branch] = await repository.lookUp([`refs/heads/${name}`]);
  if (branch === undefined) throw badRevision(name);
  const where = ["for-each-ref", "--format=%(worktreepath)", `refs/heads/${name}`];
  if ((await repository.output(where, "list the worktrees")).toString("utf8").trim() !== "")
    throw checkedOut(name);
  const lost = await commitsOnlyIn(repository, branch.oid, [], { except: name });
  await caller.confirm(
    `Delete the branch ${oneLine(name)} at ${branch.oid.slice(0, 10)}? ${counted(lost.count, "commit")} on no other branch${lost.list}. Its last commit is kept under a recovery ref.`,
  );
  const recovery = await keep(repository, "delete-branch", branch.oid);
  const result = await repository.run(["branch", "-D", "--quiet", "--", name]);
  if (result.code !== 0) {
    await repository.run(["update-ref", "-d", recovery]);
    if (!/checked out at|used by worktree/.test(result.stderr)) throw failureOf(result, "delete the branch");
    throw checkedOut(name);
  }
  return {
    done: `Deleted the branch ${name}.`,
    before: branch.oid,
    recovery,
    undo: `git_create_branch with branch_name ${name} and base_branch ${branch.oid}`,
  };
}

function checkedOut(name: string): ToolError {
  return new ToolError("conflict", `The branch "${oneLine(name)}" is checked out.`, {
    code: "branch_in_use",
    hint: "Switch to another branch with git_checkout first.",
  });
}

/** Deletes a tag. */
export async function deleteTag(repository: Repository, name: string, caller: Caller): Promise<Destroyed> {
  if (name.startsWith("-") || /[\0\n\r]/.test(name)) throw badRevision(name);
  const [tag, commit] = await repository.lookUp([`refs/tags/${name}`, `refs/tags/${name}^{}`]);
  if (tag === undefined) throw badRevision(name);
  const target = commit?.oid ?? tag.oid;
  await caller.confirm(
    `Delete the ${tag.type === "tag" ? "annotated " : ""}tag ${oneLine(name)} at ${target.slice(0, 10)}? It is kept under a recovery ref. Remote tags are not affected.`,
  );
  const recovery = await keep(repository, "delete-tag", tag.oid);
  await repository.output(["update-ref", "-d", `refs/tags/${name}`, tag.oid], "delete the tag");
  return {
    done: `Deleted the tag ${name}.`,
    before: target,
    recovery,
    undo: `git_create_tag with tag_name ${name} and revision ${target}; the recovery ref has the tag itself`,
  };
}

/** Deletes one stash. */
export async function dropStash(repository: Repository, stash: string, caller: Caller): Promise<Destroyed> {
  if (!/^stash@\{\d+\}$/.test(stash)) {
    throw new ToolError("invalid", `"${oneLine(stash.slice(0, 60))}" is not a stash name.`, {
      code: "bad_revision",
      hint: "stash@{0} is the newest; git_list_refs with kind stashes lists them.",
    });
  }
  const { oid } = await objectOf(repository, stash);
  const { files } = await changesOf(repository, [`${oid}^1`, oid]);
  const names = files.map(({ path }) => path);
  await caller.confirm(
    `Drop ${stash} (${oid.slice(0, 10)}), changes in ${counted(names.length, "file")}${namesOf(names)}? It is kept under a recovery ref.`,
  );
  const recovery = await keep(repository, "drop-stash", oid);
  await repository.output(["stash", "drop", "--quiet", stash], "drop the stash");
  return {
    done: `Dropped ${stash}.`,
    before: oid,
    recovery,
    undo: `git_stash_apply with stash ${recovery}`,
    ...listOf(names),
  };
}

/** Replaces a remote branch, only if it still is at the commit that was fetched last. */
export async function forcePush(
  git: Git,
  repository: Repository,
  query: { remote: string; branch_name?: string | undefined; skip_hooks: boolean },
  caller: Caller,
): Promise<Destroyed> {
  const branch = query.branch_name ?? (await currentBranch(repository));
  if (branch === undefined) throw badRevision("HEAD");
  const [mine, theirs] = await repository.lookUp([
    `refs/heads/${branch}`,
    `refs/remotes/${query.remote}/${branch}`,
  ]);
  if (mine === undefined) throw badRevision(branch);
  if (theirs === undefined) {
    throw new ToolError(
      "conflict",
      `The state of ${oneLine(branch)} on ${oneLine(query.remote)} is not known locally.`,
      {
        code: "no_lease",
        hint: "Run git_fetch first. To create a new branch there, use git_push, without force.",
      },
    );
  }
  const lost = await commitsOnlyIn(repository, theirs.oid, [mine.oid]);
  await caller.confirm(
    `Replace ${oneLine(branch)} on ${oneLine(query.remote)}: ${theirs.oid.slice(0, 10)} becomes ${mine.oid.slice(0, 10)}? This discards ${counted(lost.count, "commit")} there${lost.list}. They are kept here under a recovery ref.`,
  );
  const hooks = await decideHooks(git, repository, HOOKS.push, deciding(caller, query.skip_hooks));
  const recovery = await keep(repository, "force-push", theirs.oid);
  const pushing = { ...query, branch_name: branch, set_upstream: false };
  try {
    await push(git, repository, pushing, caller, { commit: theirs.oid, hooks });
  } catch (error) {
    await repository.run(["update-ref", "-d", recovery]);
    throw error;
  }
  const isCurrent = (await currentBranch(repository)) === branch;
  return {
    done: `${query.remote}/${branch} is at ${mine.oid}.`,
    before: theirs.oid,
    after: mine.oid,
    recovery,
    undo: `${isCurrent ? "" : `git_checkout of ${branch}, `}git_reset_hard with revision ${theirs.oid}, then git_push_force_with_lease`,
    notes: hooks.notes,
  };
}
