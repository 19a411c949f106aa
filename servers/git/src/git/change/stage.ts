import { lstat } from "node:fs/promises";
import { resolve } from "node:path";
import { pathBytes, pathsIn } from "../open/paths.ts";
import type { Budget, Repository } from "../open/repository.ts";
import { objectOf } from "../open/revisions.ts";
import { changesOf, type FileChange, FROM_STDIN, fileNames } from "../read/changes.ts";
import { refuseFilters } from "../read/filters.ts";
import { refuseOperation } from "../read/status.ts";
import { failure, failureOf } from "../run/errors.ts";
import { firstNames, nulEnded, records } from "../run/text.ts";
import { applyHunks } from "./hunks.ts";
import { keepBefore, untrackedAmong } from "./recovery.ts";

/** Whole files, or hunks by their ids. */
interface Selection {
  readonly files?: readonly string[] | undefined;
  readonly hunks?: readonly string[] | undefined;
}

/**
 * Stages files, hunks by their ids, or both.
 *
 * @throws ToolError `nothing_named`, `stale_hunk`, and what `stage` throws
 */
export async function stageSelected(
  repository: Repository,
  { files, hunks }: Selection,
  { budget }: Budget,
) {
  if (files === undefined && hunks === undefined)
    throw failure("nothing_named", "Both files and hunks are missing.");
  await repository.worktree();
  const origin = { from: "unstaged", reverse: false, untracked: true } as const;
  if (hunks !== undefined) await applyHunks(repository, { ids: hunks, ...origin });
  if (files !== undefined) await stage(repository, files);
  const staged = fileNames(await changesOf(repository, ["--cached"]), budget - 500);
  return { staged: staged.files, count: staged.count };
}

/**
 * Stages files: new, changed and deleted ones. Nothing is staged if one of the paths cannot be.
 *
 * @throws ToolError `ignored_path`, `bad_path`, `filter_needed`
 */
export async function stage(repository: Repository, paths: readonly string[]): Promise<void> {
  const input = await pathBytes(repository, paths);
  await refuseFilters(repository, () => staging(repository, input));
  // git stages the others if one of several paths is ignored, and the tracked files of an ignored directory.
  const file = resolve(await repository.worktree(), paths[0] ?? "");
  const isTrial = paths.length > 1 || !(await lstat(file).catch(() => undefined))?.isFile();
  const trial = await repository.run(["add", isTrial && "--dry-run", ...FROM_STDIN], { input });
  const [, ignored] = /^The following paths are .*\n((?:(?!hint: ).+\n)+)/.exec(trial.stderr) ?? [];
  const names = ignored && firstNames(ignored.trim().split("\n"));
  if (names) throw failure("ignored_path", `Ignored by .gitignore: ${names}. Nothing was staged.`);
  if (trial.code !== 0) throw failureOf(trial, "stage the files");
  if (isTrial) await repository.output(["add", ...FROM_STDIN], "stage the files", { input });
}

/** The files among these paths that `git add` would read. */
async function staging(repository: Repository, input: Buffer): Promise<Buffer> {
  const list = ["ls-files", "-z", "--others", "--modified", "--exclude-standard", "--deduplicate"];
  const listing = await repository.output(list, "list the files");
  const prefixes = records(input).map((path) => path.toString("latin1"));
  const isWanted = (path: string) =>
    prefixes.some((named) => named === "." || path === named || path.startsWith(`${named}/`));
  return nulEnded(records(listing).filter((path) => isWanted(path.toString("latin1"))));
}

/** Unstages everything, some paths or some hunks; the working tree is unchanged. */
export async function unstage(
  repository: Repository,
  { files: paths, hunks }: Selection,
  { budget }: Budget,
) {
  await repository.worktree();
  if (paths !== undefined && hunks !== undefined)
    throw failure("bad_hunk", "files and hunks cannot be combined here.");
  // To unstage everything would discard the state of a merge.
  if (paths === undefined && hunks === undefined) refuseOperation(repository);
  const input = paths === undefined ? undefined : await pathBytes(repository, paths);
  const before = await changesOf(repository, ["--cached"]);
  const tree = await repository.run(["write-tree"]);
  const reset = ["reset", "--quiet", ...(input === undefined ? [] : FROM_STDIN)];
  const origin = { from: "staged", reverse: true } as const;
  const hunkPaths = hunks && (await applyHunks(repository, { ids: hunks, ...origin }));
  if (hunks === undefined) await repository.output(reset, "unstage the files", { input });
  const after = await changesOf(repository, ["--cached"]);
  const stillStaged = new Set(after.map((file) => file.path));
  const unstaged = before.filter(({ path }) => hunkPaths?.includes(path) ?? !stillStaged.has(path));
  const list = fileNames(unstaged, budget - 500);
  if (tree.code !== 0 || unstaged.length === 0) return list;
  // The tree has the previous index.
  const source = tree.stdout.toString("utf8").trim();
  const undo = `git_restore with source ${source}, staged true, worktree false and these files`;
  return { ...list, undo };
}

interface RestoreQuery {
  readonly files: readonly string[];
  readonly source?: string | undefined;
  readonly staged: boolean;
  readonly worktree: boolean;
}

/**
 * Restores files from the index (or HEAD, for the index itself) or a commit or tree. Their previous
 * content is kept first.
 */
export async function restore(repository: Repository, query: RestoreQuery, { budget }: Budget) {
  const { staged, worktree } = query;
  const input = await pathBytes(repository, query.files);
  const from = query.source ?? (staged && worktree ? "HEAD" : undefined);
  const source = from === undefined ? undefined : (await objectOf(repository, from)).oid;
  // What the restored files will have instead: from the current state to the source.
  const between = ["-R", ...(worktree ? [] : ["--cached"]), ...(source ? [source] : [])];
  const files = await changesOf(repository, between, await pathsIn(repository, query.files));
  const recovery = worktree ? await keepFiles(repository, files, source) : {};
  const what = [worktree && "--worktree", staged && "--staged", source && `--source=${source}`];
  const args = ["restore", "--quiet", "--no-recurse-submodules", ...what, ...FROM_STDIN];
  await repository.output(args, "restore the files", { input });
  return { ...fileNames(files, budget - 600), ...recovery };
}

/** Keeps the files that will be overwritten or deleted, untracked ones as well. */
async function keepFiles(repository: Repository, files: readonly FileChange[], to?: string) {
  const paths = files.map(({ path }) => path);
  await refuseFilters(repository, () => pathBytes(repository, paths));
  const trackedPaths = files.filter(({ letter }) => letter !== "A").map(({ path }) => path);
  const losses = [...trackedPaths, ...(await untrackedAmong(repository, paths, to))].sort();
  if (losses.length === 0) return {};
  const recovery = await keepBefore(repository, "restore", losses);
  const names = losses.join() === paths.sort().join() ? "these files" : firstNames(losses);
  return { recovery, undo: recovery && `git_restore with source ${recovery} and ${names}` };
}
