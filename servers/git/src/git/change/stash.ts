import { stat } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { oneLine, ToolError } from "@refmcp/boundary/answer";
import { pathBytes, pathsIn } from "../open/paths.ts";
import type { Budget, Repository } from "../open/repository.ts";
import { checked, emptyTree, lookUp, refuseAmbiguous } from "../open/revisions.ts";
import { DIFF_ARGS, differing, FROM_STDIN, fileNames, parseChanges } from "../read/changes.ts";
import { refuseFilters } from "../read/filters.ts";
import { refuseOperation } from "../read/status.ts";
import { failure, failureOf, noCommits } from "../run/errors.ts";
import { records } from "../run/text.ts";
import { conflictedPaths, conflictReport } from "./conflicts.ts";
import { keepCommit, refuseUntracked, untrackedAt } from "./recovery.ts";

interface StashQuery {
  readonly message?: string | undefined;
  readonly files?: readonly string[] | undefined;
  readonly include_untracked: boolean;
  readonly keep_index: boolean;
}

export async function stashPush(repository: Repository, query: StashQuery, { budget }: Budget) {
  await repository.worktree();
  const [head, before] = await lookUp(repository, ["HEAD^{commit}", "refs/stash"]);
  if (head === undefined) throw noCommits();
  refuseOperation(repository);
  const { files, include_untracked, keep_index, message } = query;
  const input = files && (await pathBytes(repository, files));
  await refuseFilters(repository, () => putAside(repository, query));
  const args = [
    ...["stash", "push", "--quiet", include_untracked && "--include-untracked"],
    keep_index && "--keep-index",
    message !== undefined && `--message=${message}`,
    ...(input === undefined ? [] : FROM_STDIN),
  ];
  // Without paths git names the whole tree to itself with magic (":/"); there is no user path to take literally.
  const options = input === undefined ? { env: { GIT_LITERAL_PATHSPECS: "0" } } : { input };
  await nextSecond(repository);
  await repository.output(args, "stash", options);
  const stash = await readStash(repository, "refs/stash");
  if (stash === undefined || stash.oid === before?.oid)
    throw failure("nothing_to_stash", "There are no local changes to stash.");
  return { stash: "stash@{0}", commit: stash.oid, ...fileNames(stash.files, budget - 500) };
}

/** A stash's commit, the one with its untracked files, and the changed files; undefined for anything else. */
async function readStash(repository: Repository, name: string) {
  const how = ["--format=%H %P", "--diff-merges=first-parent", ...DIFF_ARGS, "--raw", "-z"];
  const which = ["--end-of-options", `${name}^0`, "--"];
  const { code, stdout, stderr } = await repository.run(["show", ...how, ...which]);
  refuseAmbiguous(stderr);
  if (code !== 0 && !/bad revision|only has/.test(stderr))
    throw failureOf({ code, stderr }, "read the stash");
  const [, oid, untracked] = /^(\w+) \w+ \w+ ?(\w*)\0/.exec(stdout.toString("latin1")) ?? [];
  const files = parseChanges(records(stdout.subarray(stdout.indexOf(":"))));
  return code !== 0 || oid === undefined ? undefined : { oid, untracked, files };
}

/** Waits until a stash cannot be the same commit as the last one: of the same changes in the same second. */
async function nextSecond({ location }: Repository): Promise<void> {
  const log = await stat(join(location.commonDir, "logs/refs/stash")).catch(() => undefined);
  const rest = Math.floor((log?.mtimeMs ?? 0) / 1_000 + 1) * 1_000 - Date.now();
  if (rest > 0) await setTimeout(Math.min(rest, 1_000));
}

/** The files that a stash would include. */
async function putAside(repository: Repository, query: StashQuery): Promise<Buffer> {
  const paths = await pathsIn(repository, query.files ?? []);
  const others = ["ls-files", "--others", "-z", "--exclude-standard", "--", ...paths];
  return Buffer.concat([
    await differing(repository, "HEAD", "--", ...paths),
    ...(query.include_untracked ? [await repository.output(others, "list the files")] : []),
  ]);
}

/** @throws ToolError `bad_revision` for a name that is not in the list of stashes, from which it could be dropped */
export function refuseOther(stash: string): void {
  if (!/^stash@\{\d+\}$/.test(stash)) throw notAStash(stash);
}

function notAStash(stash: string): ToolError {
  return new ToolError("invalid", `"${oneLine(stash.slice(0, 60))}" is not a stash.`, {
    code: "bad_revision",
    hint: "stash@{0} is the newest; git_list_refs with kind stashes lists them.",
  });
}

/**
 * Applies a stash (or what a change kept for recovery) to the working tree. With `drop` it is removed
 * afterwards, unless there are conflicts.
 */
export async function stashApply(
  repository: Repository,
  query: { stash: string; index: boolean; drop: boolean },
  { budget }: Budget,
) {
  await repository.worktree();
  const name = checked(query.stash);
  if (query.drop) refuseOther(name);
  // No range and no file; a time in braces may have colons.
  const isMany = /\.\.|:/.test(name.replace(/@\{[^}]*\}/, ""));
  const stash = isMany ? undefined : await readStash(repository, name);
  if (stash === undefined) throw notAStash(name);
  const { oid, files, untracked } = stash;
  const writtenPaths = async () =>
    Buffer.concat([
      await differing(repository, `${oid}^1`, oid),
      ...(untracked ? [await differing(repository, emptyTree(oid), untracked)] : []),
    ]);
  await refuseFilters(repository, writtenPaths, oid);
  const paths = files.map(({ path }) => path);
  refuseUntracked(await untrackedAt(repository, oid, paths));
  // Applied and dropped in one step, after it was kept.
  const recovery = query.drop ? await keepCommit(repository, "drop-stash", oid) : undefined;
  const args = ["stash", query.drop ? "pop" : "apply", "--quiet", query.index && "--index"];
  const result = await repository.run([...args, query.drop ? name : oid], { silent: true });
  const conflicted = result.code === 0 ? [] : await conflictedPaths(repository);
  if (result.code !== 0 && conflicted.length === 0) throw failureOf(result, `${args[1]} the stash`);
  const names = fileNames(files, Math.floor(budget / 2));
  if (conflicted.length > 0)
    return { commit: oid, ...names, ...(await conflictReport(repository, budget / 2 - 1_000)) };
  if (recovery === undefined) return { commit: oid, ...names };
  const undo = `The stash is kept: discard the changes with git_restore, then git_stash_apply with stash ${oid}`;
  return { commit: oid, ...names, recovery, undo };
}
