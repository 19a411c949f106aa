import { lstat, rmdir } from "node:fs/promises";
import { dirname, join } from "node:path";
import { oneLine, sized, ToolError } from "@refmcp/boundary/answer";
import { differing, refuseFilters } from "../open/filters.ts";
import type { Caller, Git } from "../open/git.ts";
import { pathBytes, pathsIn } from "../open/paths.ts";
import type { Repository } from "../open/repository.ts";
import { commitOf, headOf, noCommits } from "../open/revisions.ts";
import { currentBranch } from "../read/branches.ts";
import { uncommittedPaths } from "../read/changed-files.ts";
import { operationOf } from "../read/status.ts";
import { together } from "../run/run-git.ts";
import { counted, pathText, records } from "../run/text.ts";
import { commitsOnlyIn, type Destroyed, listOf, namesOf } from "./confirm-loss.ts";
import { keep, keepWorktree } from "./recovery.ts";

const MAX_KEPT_BYTES = 512 * 1024 * 1024;

/** Moves the current branch, the index and the working tree to a commit. */
export async function resetHard(
  repository: Repository,
  revision: string,
  caller: Caller,
): Promise<Destroyed> {
  await repository.worktree();
  const head = await headOf(repository);
  if (head === undefined) throw noCommits();
  const target = await commitOf(repository, revision);
  const branch = (await currentBranch(repository)) ?? "the detached HEAD";
  const [lost, changes] = await together([
    commitsOnlyIn(repository, head, [target]),
    uncommittedPaths(repository),
  ]);
  const operation = operationOf(repository);
  await refuseFilters(repository, () => differing(repository, target), target);
  await caller.confirm(
    [
      `Reset ${oneLine(branch)} from ${head.slice(0, 10)} to ${target.slice(0, 10)}?`,
      `This discards ${counted(lost.count, "commit")}${lost.list}.`,
      changes.length === 0
        ? "There are no uncommitted changes."
        : `Uncommitted changes in ${counted(changes.length, "file")} are discarded${namesOf(changes)}.`,
      ...(operation === undefined ? [] : [`The ${operation} in progress is aborted.`]),
      "The lost changes are kept under a recovery ref.",
    ].join(" "),
  );
  const kept = await keepWorktree(repository, "reset-hard");
  const recovery = kept ?? (await keep(repository, "reset-hard", head));
  await repository.output(["reset", "--hard", "--quiet", "--no-recurse-submodules", target], "reset");
  return {
    done: `${branch} is at ${target}.`,
    before: head,
    after: target,
    recovery,
    undo:
      kept === undefined
        ? `git_reset_hard with revision ${head}`
        : `git_reset_hard with revision ${head}, then git_stash_apply with stash ${recovery}`,
    ...listOf(changes),
  };
}

/** Removes a linked worktree: its directory with all uncommitted work in it. The branch is kept. */
export async function removeWorktree(
  git: Git,
  repository: Repository,
  path: string,
  caller: Caller,
): Promise<Destroyed> {
  const directory = await git.directoryOf(path);
  const added = await git.open(directory, repository.signal);
  const { gitDir, commonDir, worktree } = added.location;
  const isLinked = commonDir === repository.location.commonDir && gitDir !== commonDir;
  if (!isLinked || worktree !== directory) {
    throw new ToolError("invalid", `"${oneLine(path)}" is not a linked worktree of this repository.`, {
      code: "not_a_worktree",
      hint: "git_list_refs with kind worktrees lists them; the first one is the repository itself.",
    });
  }
  const list = ["ls-files", "--modified", "--others", "--deduplicate", "--exclude-standard", "-z"];
  const touched = records(await added.output(list, "list the changed files")).map(pathText);
  const changed = await uncommittedPaths(added);
  const lost = [...new Set([...changed, ...touched])].sort();
  await refuseFilters(added, () => pathBytes(added, touched));
  await caller.confirm(
    `Remove the worktree ${oneLine(directory)}? ${lost.length === 0 ? "It has no uncommitted changes." : `Uncommitted changes in ${counted(lost.length, "file")}${namesOf(lost)} are kept under a recovery ref.`} Ignored files are permanently deleted.`,
  );
  const kept = lost.length === 0 ? undefined : await keepWorktree(added, "worktree-remove", touched);
  await repository.output(["worktree", "remove", "--force", "--", directory], "remove the worktree");
  return {
    done: `Removed the worktree ${directory}.`,
    recovery: kept,
    undo: `git_worktree_add with its branch${kept === undefined ? "" : `, then git_stash_apply there with stash ${kept}`}`,
    ...listOf(lost),
  };
}

/** Deletes untracked files. */
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
  // A name that ends in a slash is a nested repository, which is never deleted; quoted ones cannot be named to git.
  const files = [...new Set(found.filter((record) => record.at(-1) !== 47).map(pathText))].sort();
  if (files.length === 0) {
    throw new ToolError("not_found", "There are no untracked files to delete.", {
      code: "nothing_to_clean",
      hint: "git_status lists untracked files; ignored: true includes ignored files.",
    });
  }
  const sizes = await Promise.all(
    files.map(async (file) => (await lstat(join(root, file)).catch(() => undefined))?.size ?? 0),
  );
  const bytes = sizes.reduce((sum, size) => sum + size, 0);
  if (bytes > MAX_KEPT_BYTES) {
    throw new ToolError(
      "too_large",
      `The untracked files total ${sized(bytes)}, too much to keep for recovery.`,
      {
        code: "too_large",
        hint: "Name fewer files; delete build output with the build tool.",
      },
    );
  }
  await refuseFilters(repository, () => pathBytes(repository, files));
  await caller.confirm(
    `Delete ${counted(files.length, "untracked file")} (${sized(bytes)})${namesOf(files)}? They are kept under a recovery ref.`,
  );
  const kept = await keepWorktree(repository, "clean", files);
  for (let start = 0; start < files.length; start += 500) {
    const part = files.slice(start, start + 500);
    await repository.output(["clean", "--force", "--quiet", "-x", "--", ...part], "delete the files");
  }
  await removeEmptyDirectories(root, files);
  return {
    done: `Deleted ${counted(files.length, "untracked file")}.`,
    recovery: kept,
    undo:
      kept === undefined
        ? "nothing was lost"
        : `git_restore with source ${kept}, worktree true and these files`,
    ...listOf(files),
  };
}

async function removeEmptyDirectories(root: string, files: readonly string[]): Promise<void> {
  const directories = new Set(files.map((file) => dirname(file)).filter((directory) => directory !== "."));
  for (let directory of [...directories].sort((a, b) => b.length - a.length)) {
    // A directory that is not empty stays.
    while (
      directory !== "." &&
      (await rmdir(join(root, directory)).then(
        () => true,
        () => false,
      ))
    )
      directory = dirname(directory);
  }
}
