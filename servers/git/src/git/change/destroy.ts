import { isUtf8 } from "node:buffer";
import { lstat, rmdir } from "node:fs/promises";
import { dirname, join } from "node:path";
import { oneLine, sized, type ToolError } from "@refmcp/boundary/answer";
import { currentBranch, isCheckedOut } from "../history/branch-names.ts";
import { pathBytes, pathsIn } from "../open/paths.ts";
import type { Caller, Repository } from "../open/repository.ts";
import { commitOf, headOf, lookUp, objectOf, refOf, shortId } from "../open/revisions.ts";
import { changesOf, differing, uncommittedPaths } from "../read/changes.ts";
import { refuseFilters } from "../read/filters.ts";
import { operationOf } from "../read/operation.ts";
import { failure, failureOf, noCommits } from "../run/errors.ts";
import { together } from "../run/run-git.ts";
import { counted, firstNames, notesFrom, pathText, records } from "../run/text.ts";
import {
  commitsOnlyIn,
  type Destroyed,
  keepBefore,
  keepCommit,
  listOf,
  namesOf,
} from "./recovery.ts";
import { dropKept, refuseOther } from "./stash.ts";
import { untrackedAt } from "./untracked.ts";

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
  const [lost, changes] = await together([
    commitsOnlyIn(repository, head, [target]),
    uncommittedPaths(repository),
  ]);
  const overwritten = await untrackedAt(repository, target);
  const operation = operationOf(repository);
  await refuseFilters(repository, () => differing(repository, target), target);
  await caller.confirm(
    [
      `Reset ${oneLine(branch)} from ${shortId(head)} to ${shortId(target)}?`,
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
      "The lost changes are kept for recovery.",
    ].join(" "),
  );
  const kept = await keepBefore(repository, "reset --hard");
  const recovery = kept ?? (await keepCommit(repository, "reset --hard", head));
  const others =
    overwritten.length > 0 && (await keepBefore(repository, "reset --hard", overwritten));
  await repository.output(
    ["reset", "--hard", "--quiet", "--no-recurse-submodules", target],
    "reset",
  );
  return {
    done: `${branch} is at ${target}.`,
    before: head,
    after: target,
    recovery,
    undo: [
      `git_reset_hard with revision ${head}`,
      kept && `, then git_stash_apply with stash ${kept}`,
      others &&
        `, then git_restore with source ${others} and files ${JSON.stringify(overwritten.slice(0, 100))}`,
    ]
      .filter(Boolean)
      .join(""),
    ...listOf([...changes, ...overwritten]),
    notes: notesFrom(others && `The untracked files that were overwritten are kept as ${others}.`),
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
  const listed = records(await repository.output(list, "list the untracked files"));
  // A name that ends in a slash is a nested repository, which is never deleted.
  const untracked = listed.filter((record) => record.at(-1) !== 47);
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
    `Delete ${counted(files.length, "untracked file")} (${sized(bytes)})${namesOf(files)}? They are kept for recovery.`,
  );
  const kept = await keepBefore(repository, "clean", files);
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

/** Deletes a local branch, merged or not. */
export async function deleteBranch(
  repository: Repository,
  name: string,
  caller: Caller,
): Promise<Destroyed> {
  const branch = await refOf(repository, "heads", name);
  if (await isCheckedOut(repository, name)) throw checkedOut(name);
  const lost = await commitsOnlyIn(repository, branch.oid, [], { except: name });
  await caller.confirm(
    `Delete the branch ${oneLine(name)} at ${shortId(branch.oid)}? ${counted(lost.count, "commit")} on no other branch${lost.list}. Its last commit is kept for recovery.`,
  );
  const recovery = await keepCommit(repository, "branch -D", branch.oid);
  const result = await repository.run(["branch", "-D", "--quiet", "--", name]);
  if (/checked out at|used by worktree/.test(result.stderr)) throw checkedOut(name);
  if (result.code !== 0) throw failureOf(result, "delete the branch");
  return {
    done: `Deleted the branch ${name}.`,
    before: branch.oid,
    recovery,
    undo: `git_create_branch with branch_name ${name} and base_branch ${branch.oid}`,
  };
}

function checkedOut(name: string): ToolError {
  const hint = "Switch to another branch with git_checkout first.";
  return failure("branch_in_use", `The branch "${oneLine(name)}" is checked out.`, { hint });
}

/** Deletes a local tag. */
export async function deleteTag(
  repository: Repository,
  name: string,
  caller: Caller,
): Promise<Destroyed> {
  const tag = await refOf(repository, "tags", name);
  const [commit] = await lookUp(repository, [`refs/tags/${name}^{}`]);
  const target = commit?.oid ?? tag.oid;
  await caller.confirm(
    `Delete the ${tag.type === "tag" ? "annotated " : ""}tag ${oneLine(name)} at ${shortId(target)}? It is kept for recovery. Remote tags are not affected.`,
  );
  const recovery = await keepCommit(repository, "tag -d", tag.oid);
  await repository.output(["update-ref", "-d", `refs/tags/${name}`, tag.oid], "delete the tag");
  return {
    done: `Deleted the tag ${name}.`,
    before: target,
    recovery,
    undo: `git_create_tag with tag_name ${name} and revision ${target}; recovery is the tag itself`,
  };
}

/** Deletes a stash. */
export async function dropStash(
  repository: Repository,
  stash: string,
  caller: Caller,
): Promise<Destroyed> {
  refuseOther(stash);
  const { oid } = await objectOf(repository, stash);
  const files = await changesOf(repository, [`${oid}^1`, oid]);
  const names = files.map(({ path }) => path);
  await caller.confirm(
    `Drop ${stash} (${shortId(oid)}), changes in ${counted(names.length, "file")}${namesOf(names)}? It is kept for recovery.`,
  );
  const kept = await dropKept(repository, stash, oid);
  return {
    done: `Dropped ${stash}.`,
    before: oid,
    ...kept,
    ...listOf(names),
  };
}
