import { existsSync } from "node:fs";
import { join } from "node:path";
import { oneLine } from "@refmcp/boundary/answer";
import * as z from "zod";
import { checkRefName } from "../history/branch-names.ts";
import { worktrees } from "../history/refs.ts";
import type { Git } from "../open/git.ts";
import { pathBytes } from "../open/paths.ts";
import type { Caller, Repository } from "../open/repository.ts";
import { commitOf, lookUp } from "../open/revisions.ts";
import { uncommittedPaths } from "../read/changes.ts";
import { refuseFilters } from "../read/filters.ts";
import { failure, failureOf } from "../run/errors.ts";
import { counted, firstNames } from "../run/text.ts";
import { checkedOutNotes, newDirectory, pathExists } from "./new-repository.ts";
import {
  commitsOnlyIn,
  type Destroyed,
  keepBefore,
  keepCommit,
  listOf,
  namesOf,
} from "./recovery.ts";

export const addedWorktree = z.object({
  path: z.string(),
  branch: z.string(),
  commit: z.string(),
  created_branch: z.boolean(),
  notes: z.array(z.string()).optional(),
});

/** Adds a working tree for a branch, new or existing. A failure leaves nothing of it. */
export async function addWorktree(
  repository: Repository,
  query: { path: string; branch_name: string; revision?: string | undefined },
  { signal }: Pick<Caller, "signal">,
  git: Git,
): Promise<z.infer<typeof addedWorktree>> {
  const { branch_name: branch, revision } = query;
  await checkRefName(repository, "heads", branch);
  const [existing] = await lookUp(repository, [`refs/heads/${branch}`]);
  if (existing !== undefined && revision !== undefined) {
    const hint = "Omit revision to check out the existing branch, or choose another branch_name.";
    const message = `The branch "${branch}" already exists, so revision does not apply.`;
    throw failure("branch_exists", message, { hint });
  }
  const commit = existing?.oid ?? (await commitOf(repository, revision ?? "HEAD"));
  const { path, undo, done } = await newDirectory(git, query.path);
  const add = ["worktree", "add", "--quiet", "--no-guess-remote", "--no-checkout"];
  const target =
    existing === undefined ? ["--no-track", "-b", branch, path, commit] : [path, branch];
  try {
    const result = await repository.run([...add, ...target]);
    if (result.code !== 0) {
      await undo();
      throw /already exists/.test(result.stderr)
        ? pathExists(path)
        : failureOf(result, "add the worktree");
    }
    // Its configuration may differ (conditions, config.worktree), so it is read there before anything is
    // checked out.
    try {
      const added = await git.open(path, signal);
      await added.output(
        ["reset", "--hard", "--quiet", "--no-recurse-submodules"],
        "check out the worktree",
      );
    } catch (error) {
      await repository.undo(["worktree", "remove", "--force", path]);
      throw error;
    }
  } catch (error) {
    if (existing === undefined) await repository.undo(["branch", "-D", "--quiet", "--", branch]);
    throw error;
  }
  done();
  const notes = await checkedOutNotes(git, path, signal);
  return { path, notes, branch, commit, created_branch: existing === undefined };
}

/**
 * Removes a linked worktree: its directory with all uncommitted work in it. The branch is kept.
 *
 * @throws ToolError `not_a_worktree` unless the path is a linked worktree of this repository, inside the allowed directories
 */
export async function removeWorktree(
  repository: Repository,
  path: string | undefined,
  caller: Caller,
  git: Git,
): Promise<Destroyed> {
  if (path === undefined) return pruneWorktrees(repository, caller);
  const directory = await git.directoryOf(path);
  const added = await git.open(directory, repository.signal);
  const { gitDir, commonDir, worktree } = added.location;
  const isLinked = commonDir === repository.location.commonDir && gitDir !== commonDir;
  if (!isLinked || worktree !== directory) {
    const message = `"${oneLine(path)}" is not a linked worktree of this repository.`;
    throw failure("not_a_worktree", message);
  }
  await refuseMarked(added, directory);
  const list = ["ls-files", "--modified", "--others", "--deduplicate", "--exclude-standard", "-z"];
  const touched = await added.paths(list, "list the changed files");
  const changed = await uncommittedPaths(added);
  const lost = [...new Set([...changed, ...touched])].sort();
  await refuseFilters(added, () => pathBytes(added, touched));
  await caller.confirm(
    `Remove the worktree ${oneLine(directory)}? ${lost.length === 0 ? "It has no uncommitted changes." : `Uncommitted changes in ${counted(lost.length, "file")}${namesOf(lost)} are kept for recovery.`} Ignored files are permanently deleted.`,
  );
  const kept = lost.length === 0 ? undefined : await keepBefore(added, "worktree remove", touched);
  await repository.output(
    ["worktree", "remove", "--force", "--", directory],
    "remove the worktree",
  );
  return {
    done: `Removed the worktree ${directory}.`,
    recovery: kept,
    undo: `git_worktree_add with its branch${kept === undefined ? "" : `, then git_stash_apply there with stash ${kept}`}`,
    ...listOf(lost),
  };
}

/** git does not say whether such files have changed, so they could not be kept. */
async function refuseMarked(added: Repository, directory: string): Promise<void> {
  const entries = await added.paths(["ls-files", "-v", "-z"], "list the files");
  const marked = entries.flatMap((entry) => (/^[a-zS] /.test(entry) ? entry.slice(2) : []));
  const present = marked.filter((path) => existsSync(join(directory, path)));
  if (present.length === 0) return;
  const message = `git does not compare these files, which are marked assume-unchanged or skip-worktree: ${firstNames(present)}.`;
  throw failure("local_changes", message, {
    hint: "Their changes would be lost. The user can end that with git update-index --no-assume-unchanged or --no-skip-worktree.",
  });
}

/** Removes git's records of worktrees whose directory is missing. Commits that only one of them has are kept. */
async function pruneWorktrees(repository: Repository, caller: Caller): Promise<Destroyed> {
  const missing = (await worktrees(repository)).filter(({ state }) =>
    state?.startsWith("prunable"),
  );
  if (missing.length === 0) {
    const hint = "git_list_refs with kind worktrees lists them; to remove one, pass its path.";
    throw failure("not_a_worktree", "No worktree's directory is missing.", { hint });
  }
  const paths = missing.map(({ name }) => name);
  await caller.confirm(
    `Forget ${counted(missing.length, "worktree")} whose directory is missing${namesOf(paths)}? What was staged there is lost; commits are kept.`,
  );
  const kept: string[] = [];
  for (const { commit, branch } of missing) {
    if (commit === undefined || branch !== undefined || /^0+$/.test(commit)) continue;
    const oid = await commitOf(repository, commit);
    const { count } = await commitsOnlyIn(repository, oid, [], {});
    if (count > 0) kept.push(await keepCommit(repository, "worktree prune", oid));
  }
  await repository.output(["worktree", "prune", "--expire=now"], "prune the worktrees");
  return {
    done: `Removed the records of ${counted(missing.length, "worktree")}.`,
    recovery: kept[0],
    undo: "git_worktree_add with each branch",
    ...listOf(paths),
    notes: kept.length > 1 ? [`Commits on no branch are kept: ${kept.join(", ")}.`] : undefined,
  };
}
