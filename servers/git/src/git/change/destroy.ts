import { isUtf8 } from "node:buffer";
import { lstat, rmdir } from "node:fs/promises";
import { dirname, join } from "node:path";
import { oneLine, sized, type ToolError } from "@refmcp/boundary/answer";
import { differing, refuseFilters } from "../open/filters.ts";
import { pathBytes, pathsIn } from "../open/paths.ts";
import type { Caller, Repository } from "../open/repository.ts";
import { commitOf, objectOf, refOf } from "../open/revisions.ts";
import { changesOf, uncommittedPaths } from "../read/changed-files.ts";
import { LOG_PLAIN } from "../read/commits.ts";
import { operationOf } from "../read/operation.ts";
import { currentBranch, isCheckedOut } from "../read/refs.ts";
import { push } from "../remote/transfer.ts";
import { badRevision, failure, failureOf, noCommits } from "../run/errors.ts";
import { together } from "../run/run-git.ts";
import { counted, firstNames, notesFrom, pathText, records } from "../run/text.ts";
import { conflictedPaths } from "./commit.ts";
import { conflictReport } from "./conflicts.ts";
import { decideHooks, HOOKS, hookFailure, signing } from "./hooks.ts";
import { type OnConflict, refuseOperation, runWhole } from "./integrate.ts";
import {
  commitsOnlyIn,
  type Destroyed,
  keep,
  keeping,
  keepWorktree,
  listOf,
  namesOf,
} from "./recovery.ts";
import { dropKept, refuseOther } from "./stash.ts";
import { refuseUntracked, untrackedAmong, untrackedAt } from "./untracked.ts";

const MAX_KEPT_BYTES = 512 * 1024 * 1024;

/** Moves the current branch, the index and the working tree to a commit. */
export async function resetHard(
  repository: Repository,
  { revision }: { revision: string },
  caller: Caller,
): Promise<Destroyed> {
  await repository.worktree();
  const head = await repository.head();
  if (head === undefined) throw noCommits();
  const target = await commitOf(repository, revision);
  const branch = (await currentBranch(repository)) ?? "the detached HEAD";
  const [lost, changes] = await together([
    commitsOnlyIn(repository, head, [target]),
    uncommittedPaths(repository),
  ]);
  const overwritten = await untrackedAt(repository, target);
  const operation = operationOf(repository);
  await refuseFilters(repository, () => differing(repository, target), target);
  await caller.confirm(
    [
      `Reset ${oneLine(branch)} from ${head.slice(0, 10)} to ${target.slice(0, 10)}?`,
      `This discards ${counted(lost.count, "commit")}${lost.list}.`,
      changes.length === 0
        ? "There are no uncommitted changes."
        : `Uncommitted changes in ${counted(changes.length, "file")} are discarded${namesOf(changes)}.`,
      ...(overwritten.length === 0
        ? []
        : [
            `${counted(overwritten.length, "untracked file")} would be overwritten${namesOf(overwritten)}.`,
          ]),
      ...(operation === undefined ? [] : [`The ${operation} in progress is aborted.`]),
      "The lost changes are kept under a recovery ref.",
    ].join(" "),
  );
  const kept = await keepWorktree(repository, "reset-hard");
  const recovery = kept ?? (await keep(repository, "reset-hard", head));
  const others =
    overwritten.length > 0 && (await keepWorktree(repository, "reset-hard-untracked", overwritten));
  await repository.output(
    ["reset", "--hard", "--quiet", "--no-recurse-submodules", target],
    "reset",
  );
  return {
    done: `${branch} is at ${target}.`,
    before: head,
    after: target,
    recovery,
    undo: `git_reset_hard with revision ${head}${kept ? `, then git_stash_apply with stash ${kept}` : ""}${others ? `, then git_restore with source ${others} and files ${JSON.stringify(overwritten.slice(0, 100))}` : ""}`,
    ...listOf([...changes, ...overwritten]),
    notes: notesFrom(
      others && `The untracked files that were overwritten are kept under ${others}.`,
    ),
  };
}

export async function clean(
  repository: Repository,
  query: { files?: readonly string[] | undefined; ignored: boolean },
  caller: Caller,
): Promise<Destroyed> {
  const root = await repository.worktree();
  const paths = (await pathsIn(repository, query.files ?? [])).filter((path) => path !== ".");
  const kind = query.ignored ? [] : ["--exclude-standard"];
  const list = ["ls-files", "--others", "-z", ...kind, "--", ...paths];
  const found = records(await repository.output(list, "list the untracked files"));
  // A name that ends in a slash is a nested repository, which is never deleted.
  const untracked = found.filter((record) => record.at(-1) !== 47);
  const files = [...new Set(untracked.filter(isUtf8).map(pathText))].sort();
  const others = untracked.filter((record) => !isUtf8(record)).map(pathText);
  const note =
    others.length > 0 && `Not deleted, because their names are not UTF-8: ${firstNames(others)}.`;
  if (files.length === 0)
    throw failure(
      "nothing_to_clean",
      `There are no untracked files to delete. ${note || ""}`.trim(),
    );
  const sizes = await Promise.all(
    files.map(async (file) => (await lstat(join(root, file)).catch(() => undefined))?.size ?? 0),
  );
  const bytes = sizes.reduce((sum, size) => sum + size, 0);
  if (bytes > MAX_KEPT_BYTES) {
    const message = `The untracked files total ${sized(bytes)}, too much to keep for recovery.`;
    const hint = "Name fewer files; delete build output with the build tool.";
    throw failure("too_large", message, { hint });
  }
  await refuseFilters(repository, () => pathBytes(repository, files));
  await caller.confirm(
    `Delete ${counted(files.length, "untracked file")} (${sized(bytes)})${namesOf(files)}? They are kept under a recovery ref.`,
  );
  const kept = await keepWorktree(repository, "clean", files);
  for (let start = 0; start < files.length; start += 500) {
    const part = files.slice(start, start + 500);
    await repository.output(
      ["clean", "--force", "--quiet", "-x", "--", ...part],
      "delete the files",
    );
  }
  await removeEmptyDirectories(root, files);
  return {
    done: `Deleted ${counted(files.length, "untracked file")}.`,
    recovery: kept,
    undo: kept
      ? `git_restore with source ${kept}, worktree true and these files`
      : "nothing was lost",
    ...listOf(files),
    notes: notesFrom(note),
  };
}

async function removeEmptyDirectories(root: string, files: readonly string[]): Promise<void> {
  const directories = new Set(
    files.map((file) => dirname(file)).filter((directory) => directory !== "."),
  );
  for (let directory of [...directories].sort((a, b) => b.length - a.length)) {
    try {
      for (; directory !== "."; directory = dirname(directory)) await rmdir(join(root, directory));
    } catch {
      // It is not empty.
    }
  }
}

/** Rebases the current branch. On conflicts it is aborted, or stays open to be resolved and continued. */
export async function rebase(
  repository: Repository,
  query: { onto: string; on_conflict: OnConflict; skip_hooks: boolean },
  caller: Caller,
): Promise<Destroyed> {
  const { onto, skip_hooks } = query;
  await repository.worktree();
  await refuseOperation(repository);
  const branch = await currentBranch(repository);
  if (branch === undefined) {
    const hint = "Switch to a branch with git_checkout.";
    throw failure("detached_head", "HEAD is detached, so there is no branch to rebase.", { hint });
  }
  const head = await commitOf(repository, "HEAD");
  const target = await commitOf(repository, onto);
  await refuseFilters(repository, () => differing(repository, target, head), target);
  const own = ["log", ...LOG_PLAIN, "-z", "--format=", "--name-only", "--diff-filter=A"];
  const added = await repository.paths(
    [...own, "--no-renames", `${target}..${head}`, "--"],
    "list the files",
  );
  refuseUntracked([
    ...(await untrackedAt(repository, target)),
    ...(await untrackedAmong(repository, added)),
  ]);
  const moved = await commitsOnlyIn(repository, head, [target]);
  await caller.confirm(
    `Rebase ${oneLine(branch)} onto ${oneLine(onto)} (${target.slice(0, 10)})? This rewrites ${counted(moved.count, "commit")}${moved.list}. The old commits are kept under a recovery ref.`,
  );
  const hooks = await decideHooks(repository, HOOKS.rebase, caller, skip_hooks);
  const { option, options } = await signing(repository, undefined, hooks);
  const args = ["--quiet", "--no-autostash", "--no-stat", "--strategy=ort", "--no-fork-point"];
  const { recovery, value: conflicted } = await keeping(repository, "rebase", head, async () => {
    const result = await runWhole(repository, ["rebase", ...args, option, target], options);
    const conflicted = result.code === 0 ? [] : await conflictedPaths(repository);
    if (result.code === 0 || (conflicted.length > 0 && query.on_conflict === "keep"))
      return conflicted;
    if (operationOf(repository) !== undefined)
      await repository.output(["rebase", "--abort"], "abandon the rebase");
    if (conflicted.length === 0) throw hookFailure(hooks, result) ?? failureOf(result, "rebase");
    throw failure(
      "conflict",
      `The rebase has conflicts in ${firstNames(conflicted, 20)}. Nothing was changed.`,
      {
        hint: "With on_conflict: keep it stays open to resolve them. git_merge combines both sides with a single conflict resolution.",
      },
    );
  });
  const facts = { before: head, recovery, notes: hooks.notes };
  if (conflicted.length > 0) {
    const report = await conflictReport(repository, conflicted, Math.floor(caller.budget / 2));
    const done =
      "The rebase stopped. Resolve the conflicts, git_add the files, then git_merge with action continue.";
    return { ...facts, ...report, done, undo: "git_merge with action abort" };
  }
  const done = `Rebased ${branch}: ${counted(moved.count, "commit")}.`;
  const after = await commitOf(repository, "HEAD");
  return { ...facts, done, after, undo: `git_reset_hard with revision ${head}` };
}

/** Deletes a branch, merged or not, here or on a remote. */
export async function deleteBranch(
  repository: Repository,
  query: { branch_name: string; remote?: string | undefined; skip_hooks: boolean },
  caller: Caller,
): Promise<Destroyed> {
  const { branch_name: name, remote } = query;
  if (remote !== undefined) return deleteRemoteBranch(repository, { ...query, remote }, caller);
  const branch = await refOf(repository, "heads", name);
  if (await isCheckedOut(repository, name)) throw checkedOut(name);
  const lost = await commitsOnlyIn(repository, branch.oid, [], { except: name });
  await caller.confirm(
    `Delete the branch ${oneLine(name)} at ${branch.oid.slice(0, 10)}? ${counted(lost.count, "commit")} on no other branch${lost.list}. Its last commit is kept under a recovery ref.`,
  );
  const { recovery } = await keeping(repository, "delete-branch", branch.oid, async () => {
    const result = await repository.run(["branch", "-D", "--quiet", "--", name]);
    if (/checked out at|used by worktree/.test(result.stderr)) throw checkedOut(name);
    if (result.code !== 0) throw failureOf(result, "delete the branch");
  });
  return {
    done: `Deleted the branch ${name}.`,
    before: branch.oid,
    recovery,
    undo: `git_create_branch with branch_name ${name} and base_branch ${branch.oid}`,
  };
}

/** Deletes a branch on a remote, only if it still is at the commit that was fetched last. */
async function deleteRemoteBranch(
  repository: Repository,
  query: { remote: string; branch_name: string; skip_hooks: boolean },
  caller: Caller,
): Promise<Destroyed> {
  const { branch_name: name, remote } = query;
  const there = `${remote}/${name}`;
  if (name.startsWith("-") || /[\0\n\r]/.test(there)) throw badRevision(name);
  const [theirs] = await repository.lookUp([`refs/remotes/${there}`]);
  if (theirs === undefined)
    throw noLease(
      name,
      remote,
      "Run git_fetch first; git_branch with branch_type remote lists what is known.",
    );
  const lost = await commitsOnlyIn(repository, theirs.oid, [], { except: there });
  await caller.confirm(
    `Delete ${oneLine(name)} on ${oneLine(remote)}, at ${theirs.oid.slice(0, 10)}? ${counted(lost.count, "commit")} on no other branch known here${lost.list}. Its last commit is kept here under a recovery ref.`,
  );
  const { recovery, notes } = await replace(
    repository,
    "delete-remote-branch",
    query,
    theirs.oid,
    caller,
  );
  return {
    done: `Deleted ${name} on ${remote}.`,
    before: theirs.oid,
    recovery,
    undo: `git_create_branch with branch_name ${name} and base_branch ${theirs.oid}, then git_push with that branch`,
    notes,
  };
}

function checkedOut(name: string): ToolError {
  const hint = "Switch to another branch with git_checkout first.";
  return failure("branch_in_use", `The branch "${oneLine(name)}" is checked out.`, { hint });
}

export async function deleteTag(
  repository: Repository,
  { tag_name: name }: { tag_name: string },
  caller: Caller,
): Promise<Destroyed> {
  const tag = await refOf(repository, "tags", name);
  const [commit] = await repository.lookUp([`refs/tags/${name}^{}`]);
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

export async function dropStash(
  repository: Repository,
  { stash }: { stash: string },
  caller: Caller,
): Promise<Destroyed> {
  refuseOther(stash);
  const { oid } = await objectOf(repository, stash);
  const { files } = await changesOf(repository, [`${oid}^1`, oid]);
  const names = files.map(({ path }) => path);
  await caller.confirm(
    `Drop ${stash} (${oid.slice(0, 10)}), changes in ${counted(names.length, "file")}${namesOf(names)}? It is kept under a recovery ref.`,
  );
  const kept = await dropKept(repository, stash, oid);
  return {
    done: `Dropped ${stash}.`,
    before: oid,
    ...kept,
    ...listOf(names),
  };
}

/** Replaces a remote branch, only if it still is at the commit that was fetched last. */
export async function forcePush(
  repository: Repository,
  query: { remote: string; branch_name?: string | undefined; skip_hooks: boolean },
  caller: Caller,
): Promise<Destroyed> {
  const branch = query.branch_name ?? (await currentBranch(repository));
  if (branch === undefined) throw badRevision("HEAD");
  const mine = await refOf(repository, "heads", branch);
  const [theirs] = await repository.lookUp([`refs/remotes/${query.remote}/${branch}`]);
  if (theirs === undefined) throw noLease(branch, query.remote);
  const lost = await commitsOnlyIn(repository, theirs.oid, [mine.oid]);
  await caller.confirm(
    `Replace ${oneLine(branch)} on ${oneLine(query.remote)}: ${theirs.oid.slice(0, 10)} becomes ${mine.oid.slice(0, 10)}? This discards ${counted(lost.count, "commit")} there${lost.list}. They are kept here under a recovery ref.`,
  );
  const pushing = { ...query, branch_name: branch };
  const { recovery, notes } = await replace(repository, "force-push", pushing, theirs.oid, caller);
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
  operation: "force-push" | "delete-remote-branch",
  query: { remote: string; branch_name: string; skip_hooks: boolean },
  commit: string,
  caller: Caller,
) {
  // The user decides before anything is kept.
  const hooks = await decideHooks(repository, HOOKS.push, caller, query.skip_hooks);
  const lease = { commit, hooks, deletes: operation === "delete-remote-branch" };
  const pushing = { ...query, set_upstream: false };
  const work = () => push(repository, pushing, caller, lease);
  const { recovery } = await keeping(repository, operation, commit, work);
  return { recovery, notes: hooks.notes };
}
