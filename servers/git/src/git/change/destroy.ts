import { isUtf8 } from "node:buffer";
import { existsSync } from "node:fs";
import { lstat } from "node:fs/promises";
import { join } from "node:path";
import { oneLine, sizeOf } from "@refmcp/boundary/answer";
import type { Git } from "../open/git.ts";
import { pathBytes, pathsIn } from "../open/paths.ts";
import type { Caller, Repository } from "../open/repository.ts";
import {
  commitOf,
  headOf,
  KINDS,
  lookUp,
  type NameKind,
  objectOf,
  refOf,
  shortId,
} from "../open/revisions.ts";
import { changesOf, differing, uncommittedPaths } from "../read/changes.ts";
import { refuseFilters } from "../read/filters.ts";
import { currentBranch, isCheckedOut } from "../read/refs.ts";
import { operationOf } from "../read/status.ts";
import { failure, failureOf, noCommits } from "../run/errors.ts";
import { countOf, firstNames, notesFrom, pathText, records } from "../run/text.ts";
import {
  commitsOnlyIn,
  countedFiles,
  type Destroyed,
  keepBefore,
  keepCommit,
  listOf,
  untrackedAt,
} from "./recovery.ts";
import { refuseOther } from "./stash.ts";

const MAX_KEPT_BYTES = 512 * 1024 * 1024;

/** Moves the current branch, the index and the working tree to a commit. */
export async function resetHard(
  repository: Repository,
  { revision }: { revision: string },
  caller: Caller,
): Promise<Destroyed> {
  await repository.worktree();
  const head = await headOf(repository);
  if (head === undefined) throw noCommits();
  const target = await commitOf(repository, revision);
  const branch = (await currentBranch(repository)) ?? "the detached HEAD";
  const loss = await commitsOnlyIn(repository, head, [target]);
  const changes = await uncommittedPaths(repository);
  const overwritten = await untrackedAt(repository, target);
  const operation = operationOf(repository);
  await refuseFilters(repository, () => differing(repository, target), target);
  const parts = [
    `Reset ${oneLine(branch)} from ${shortId(head)} to ${shortId(target)}?`,
    `This discards ${countOf(loss.count, "commit")}${loss.list}.`,
    `Uncommitted changes are discarded in ${countedFiles(changes, "file")}.`,
    overwritten.length > 0 && `It overwrites ${countedFiles(overwritten, "untracked file")}.`,
    operation && `The ${operation} in progress is aborted.`,
    "The lost changes are kept for recovery.",
  ];
  await caller.confirm(parts.filter(Boolean).join(" "));
  const snapshot = await keepBefore(repository, "reset --hard");
  const recovery = snapshot ?? (await keepCommit(repository, "reset --hard", head));
  const others =
    overwritten.length > 0 && (await keepBefore(repository, "reset --hard", overwritten));
  const reset = ["reset", "--hard", "--quiet", "--no-recurse-submodules", target];
  await repository.output(reset, "reset");
  const undo = `git_reset_hard with revision ${head}`;
  return {
    done: `${branch} is at ${target}.`,
    before: head,
    after: target,
    recovery,
    undo: snapshot === undefined ? undo : `${undo}, then git_stash_apply with stash ${snapshot}`,
    ...listOf([...changes, ...overwritten]),
    notes: notesFrom(others && `git_restore with source ${others} restores the untracked files.`),
  };
}

/** Deletes untracked files, and the directories that are empty without them. */
export async function clean(
  repository: Repository,
  query: { files?: readonly string[] | undefined; ignored: boolean },
  caller: Caller,
): Promise<Destroyed> {
  const root = await repository.worktree();
  const paths = (await pathsIn(repository, query.files ?? [])).filter((path) => path !== ".");
  const kind = query.ignored ? [] : ["--exclude-standard"];
  const list = ["ls-files", "--others", "-z", ...kind, "--", ...paths];
  const entries = records(await repository.output(list, "list the untracked files"));
  // A name that ends in a slash is a nested repository, which is never deleted.
  const untracked = entries.filter((record) => record.at(-1) !== 47);
  const files = [...new Set(untracked.filter(isUtf8).map(pathText))].sort();
  const others = untracked.filter((record) => !isUtf8(record)).map(pathText);
  const note =
    others.length > 0 && `Not deleted, because their names are not UTF-8: ${firstNames(others)}.`;
  if (files.length === 0) {
    const message = ["There are no untracked files to delete.", note].filter(Boolean).join(" ");
    throw failure("nothing_to_clean", message);
  }
  let bytes = 0;
  for (const file of files)
    bytes += (await lstat(join(root, file)).catch(() => undefined))?.size ?? 0;
  if (bytes > MAX_KEPT_BYTES) {
    const message = `The untracked files total ${sizeOf(bytes)}, too much to keep for recovery.`;
    const hint = "Name fewer files; delete build output with the build tool.";
    throw failure("too_large", message, { hint });
  }
  await refuseFilters(repository, () => pathBytes(repository, files));
  await caller.confirm(
    `Delete ${countedFiles(files, "untracked file")} (${sizeOf(bytes)})? They are kept for recovery.`,
  );
  const snapshot = await keepBefore(repository, "clean", files);
  for (let start = 0; start < files.length; start += 500) {
    const part = ["clean", "--force", "--quiet", "-x", "--", ...files.slice(start, start + 500)];
    await repository.output(part, "delete the files");
  }
  const undo = snapshot && `git_restore with source ${snapshot}, worktree true and these files`;
  return {
    done: `Deleted ${countOf(files.length, "untracked file")}.`,
    recovery: snapshot,
    undo: undo ?? "nothing was lost",
    ...listOf(files),
    notes: notesFrom(note),
  };
}

/** Deletes a local branch, merged or not, or a tag. */
export async function deleteRef(
  repository: Repository,
  kind: NameKind,
  name: string,
  caller: Caller,
): Promise<Destroyed> {
  const { oid } = await refOf(repository, kind, name);
  const [object] = await lookUp(repository, [`refs/${kind}/${name}^{}`]);
  const target = object?.oid ?? oid;
  const isBranch = kind === "heads";
  const inUse = () => failure("branch_in_use", `The branch "${oneLine(name)}" is checked out.`);
  if (isBranch && (await isCheckedOut(repository, name))) throw inUse();
  const loss = isBranch ? await commitsOnlyIn(repository, oid, name) : undefined;
  const what = `the ${KINDS[kind]} ${oneLine(name)}`;
  await caller.confirm(
    `Delete ${what} at ${shortId(target)}? ${loss ? `${countOf(loss.count, "commit")} on no other branch${loss.list}. ` : ""}It is kept for recovery. Remotes are not affected.`,
  );
  const recovery = await keepCommit(repository, `delete ${KINDS[kind]}`, oid);
  const args = isBranch
    ? ["branch", "-D", "--quiet", "--", name]
    : ["update-ref", "-d", `refs/tags/${name}`, oid];
  const result = await repository.run(args);
  if (/checked out at|used by worktree/.test(result.stderr)) throw inUse();
  if (result.code !== 0) throw failureOf(result, `delete ${what}`);
  const undo = isBranch
    ? `git_create_branch with branch_name ${name} and base_branch ${oid}`
    : `git_create_tag with tag_name ${name} and revision ${target}; recovery is the tag itself`;
  return { done: `Deleted ${what}.`, before: target, recovery, undo };
}

/** Deletes a stash. */
export async function dropStash(
  repository: Repository,
  stash: string,
  caller: Caller,
): Promise<Destroyed> {
  refuseOther(stash);
  const { oid } = await objectOf(repository, stash);
  const files = (await changesOf(repository, [`${oid}^1`, oid])).map(({ path }) => path);
  await caller.confirm(
    `Drop ${stash} (${shortId(oid)}), changes in ${countedFiles(files, "file")}? It is kept for recovery.`,
  );
  const recovery = await keepCommit(repository, "drop-stash", oid);
  await repository.output(["stash", "drop", "--quiet", stash], "drop the stash");
  const undo = `git_stash_apply with stash ${recovery}`;
  return { done: `Dropped ${stash}.`, before: oid, recovery, undo, ...listOf(files) };
}

/**
 * Removes a linked worktree: its directory with all uncommitted work in it. The branch is kept.
 *
 * @throws ToolError `not_a_worktree` unless the path is a linked worktree of this repository, inside the allowed directories
 */
export async function removeWorktree(
  repository: Repository,
  path: string,
  caller: Caller,
  git: Git,
): Promise<Destroyed> {
  const directory = await git.directoryOf(path);
  const target = await git.open(directory, repository.signal);
  const { gitDir, commonDir, worktree } = target.location;
  const isLinked = commonDir === repository.location.commonDir && gitDir !== commonDir;
  if (!isLinked || worktree !== directory) {
    const message = `"${oneLine(path)}" is not a linked worktree of this repository.`;
    throw failure("not_a_worktree", message);
  }
  await refuseMarked(target, directory);
  const list = ["ls-files", "--modified", "--others", "--deduplicate", "--exclude-standard", "-z"];
  const changedPaths = await target.paths(list, "list the changed files");
  const losses = [...new Set([...(await uncommittedPaths(target)), ...changedPaths])].sort();
  await refuseFilters(target, () => pathBytes(target, changedPaths));
  await caller.confirm(
    `Remove the worktree ${oneLine(directory)}? Uncommitted changes are kept for recovery: ${countedFiles(losses, "file")}. Ignored files are permanently deleted.`,
  );
  const snapshot =
    losses.length === 0 ? undefined : await keepBefore(target, "worktree remove", changedPaths);
  const remove = ["worktree", "remove", "--force", "--", directory];
  await repository.output(remove, "remove the worktree");
  const then = snapshot === undefined ? "" : `, then git_stash_apply there with stash ${snapshot}`;
  return {
    done: `Removed the worktree ${directory}.`,
    recovery: snapshot,
    undo: `git_worktree_add with its branch${then}`,
    ...listOf(losses),
  };
}

/** git does not say whether such files have changed, so they could not be kept. */
async function refuseMarked(added: Repository, directory: string): Promise<void> {
  const entries = await added.paths(["ls-files", "-v", "-z"], "list the files");
  const markedPaths = entries.flatMap((entry) => (/^[a-zS] /.test(entry) ? entry.slice(2) : []));
  const existingPaths = markedPaths.filter((path) => existsSync(join(directory, path)));
  if (existingPaths.length === 0) return;
  const message = `git does not compare these files, which are marked assume-unchanged or skip-worktree: ${firstNames(existingPaths)}.`;
  throw failure("local_changes", message, {
    hint: "Their changes would be lost. The user can end that with git update-index --no-assume-unchanged or --no-skip-worktree.",
  });
}
