import { lstat } from "node:fs/promises";
import { join } from "node:path";
import { pathBytes, pathsIn } from "../open/paths.ts";
import type { Budget, Repository } from "../open/repository.ts";
import { headOf, objectOf } from "../open/revisions.ts";
import { changesOf, type FileChange, FROM_STDIN, fileNames } from "../read/changes.ts";
import { refuseFilters } from "../read/filters.ts";
import { refuseOperation } from "../read/status.ts";
import { failure, failureOf } from "../run/errors.ts";
import { firstNames, nulEnded, records } from "../run/text.ts";
import { applyPatch, selectedPatch } from "./hunks.ts";
import { keepBefore } from "./recovery.ts";

/** What is staged now, against HEAD. */
export function stagedChanges(repository: Repository): Promise<FileChange[]> {
  return changesOf(repository, ["--cached"]);
}

/** Whole files, or hunks by their ids. */
interface Selection {
  readonly files?: readonly string[] | undefined;
  readonly hunks?: readonly string[] | undefined;
}

const nothingNamed = () => failure("nothing_named", "Both files and hunks are missing.");
const oneOfBoth = () =>
  failure("bad_hunk", "files and hunks cannot be combined here.", {
    hint: "Call once with each of them.",
  });

/**
 * Stages files, hunks by their ids, or both.
 *
 * @throws ToolError `nothing_named`, `stale_hunk`, and what `stage` throws
 */
export async function stageSelected(
  repository: Repository,
  { files, hunks }: Selection,
): Promise<void> {
  if (files === undefined && hunks === undefined) throw nothingNamed();
  await repository.worktree();
  const chosen = { ids: hunks ?? [], from: "unstaged", reverse: false, untracked: true } as const;
  const patch = hunks && (await selectedPatch(repository, chosen));
  if (files !== undefined) await stage(repository, files);
  if (patch !== undefined) await applyPatch(repository, patch, "--cached");
}

/**
 * Stages files: new, changed and deleted ones. Nothing is staged if one of the paths cannot be.
 *
 * @throws ToolError `ignored_path`, `bad_path`, `filter_needed`
 */
export async function stage(repository: Repository, paths: readonly string[]): Promise<void> {
  const input = await pathBytes(repository, paths);
  const trial = await repository.run(["add", "--dry-run", ...FROM_STDIN], { input });
  const [, ignored] = /^The following paths are ignored by [^\n]*\n(.*)$/s.exec(trial.stderr) ?? [];
  if (ignored !== undefined) {
    const names = firstNames(ignored.trim().split("\n"));
    throw failure("ignored_path", `Ignored by .gitignore: ${names}. Nothing was staged.`);
  }
  if (trial.code !== 0) throw failureOf(trial, "stage the files");
  await refuseFilters(repository, () => staging(repository, input));
  await repository.output(["add", ...FROM_STDIN], "stage the files", { input });
}

/** The files among these paths that `git add` would read. */
async function staging(repository: Repository, input: Buffer): Promise<Buffer> {
  const list = ["ls-files", "-z", "--others", "--modified", "--exclude-standard", "--deduplicate"];
  const listing = await repository.output(list, "list the files");
  const wanted = records(input).map((path) => path.toString("latin1"));
  const isWanted = (path: string) =>
    wanted.some((named) => named === "." || path === named || path.startsWith(`${named}/`));
  return nulEnded(records(listing).filter((path) => isWanted(path.toString("latin1"))));
}

/** Unstages everything, some paths or some hunks; the working tree is unchanged. */
export async function unstage(
  repository: Repository,
  { files: paths, hunks }: Selection,
  { budget }: Budget,
) {
  await repository.worktree();
  if (paths !== undefined && hunks !== undefined) throw oneOfBoth();
  // To unstage everything would discard the state of a merge.
  if (paths === undefined && hunks === undefined) refuseOperation(repository);
  const input = paths === undefined ? undefined : await pathBytes(repository, paths);
  const before = await stagedChanges(repository);
  const tree = await repository.run(["write-tree"]);
  const chosen = { ids: hunks ?? [], from: "staged", reverse: true } as const;
  const patch = hunks && (await selectedPatch(repository, chosen));
  const reset = ["reset", "--quiet", ...(input === undefined ? [] : FROM_STDIN)];
  if (patch === undefined) await repository.output(reset, "unstage the files", { input });
  else await applyPatch(repository, patch, "--cached", "--reverse");
  const left = new Set((await stagedChanges(repository)).map((file) => file.path));
  const gone = before.filter(({ path }) => patch?.paths.includes(path) ?? !left.has(path));
  const list = fileNames(gone, budget - 500);
  if (tree.code !== 0 || gone.length === 0) return list;
  // The tree has the previous index.
  const source = tree.stdout.toString("utf8").trim();
  const undo = `git_restore with source ${source}, staged true, worktree false and these files`;
  return { ...list, undo };
}

interface RestoreQuery extends Selection {
  readonly source?: string | undefined;
  readonly staged: boolean;
  readonly worktree: boolean;
}

/**
 * Restores files from the index (or HEAD, for the index itself) or a commit or tree, or discards
 * unstaged hunks. The previous content is kept first.
 *
 * @throws ToolError `stale_hunk`, `bad_hunk`
 */
export async function restore(repository: Repository, query: RestoreQuery, { budget }: Budget) {
  const root = await repository.worktree();
  const { files: named, hunks, staged, worktree } = query;
  if (named === undefined && hunks === undefined) throw nothingNamed();
  if (hunks !== undefined) {
    if (named !== undefined) throw oneOfBoth();
    if (staged || !worktree || query.source !== undefined)
      throw failure("bad_hunk", "hunks discards unstaged changes of the files only.", {
        hint: "Omit source, staged and worktree; git_reset unstages hunks.",
      });
    const patch = await selectedPatch(repository, { ids: hunks, from: "unstaged", reverse: true });
    const files = await changesOf(repository, ["-R"], patch.paths);
    const kept = await keepFiles(repository, root, files);
    await applyPatch(repository, patch, "--reverse");
    return { ...fileNames(files, budget - 600), ...kept };
  }
  const input = await pathBytes(repository, named ?? []);
  const from = query.source ?? (staged && worktree ? "HEAD" : undefined);
  const source = from === undefined ? undefined : (await objectOf(repository, from)).oid;
  // What the restored files will have instead: from the current state to the source.
  const between = ["-R", ...(worktree ? [] : ["--cached"]), ...(source ? [source] : [])];
  const files = await changesOf(repository, between, await pathsIn(repository, named ?? []));
  const names = fileNames(files, budget - 600);
  if (source === undefined && staged && (await headOf(repository)) === undefined) {
    await unstage(repository, { files: named }, { budget });
    return names;
  }
  const kept = worktree ? await keepFiles(repository, root, files) : {};
  const what = [worktree && "--worktree", staged && "--staged", source && `--source=${source}`];
  const args = ["restore", "--quiet", "--no-recurse-submodules", ...what, ...FROM_STDIN];
  await repository.output(args, "restore the files", { input });
  return { ...names, ...kept };
}

/** Keeps the files that will be overwritten or deleted, untracked ones as well. */
async function keepFiles(repository: Repository, root: string, files: readonly FileChange[]) {
  const paths = files.map(({ path }) => path);
  const bytes = await pathBytes(repository, paths);
  await refuseFilters(repository, () => bytes);
  const isThere = (path: string) => lstat(join(root, path)).catch(() => undefined);
  const lost: string[] = [];
  for (const { path, letter } of files)
    if (letter !== "A" || (await isThere(path)) !== undefined) lost.push(path);
  const recovery = lost.length === 0 ? undefined : await keepBefore(repository, "restore", lost);
  return { recovery, undo: recovery && `git_restore with source ${recovery} and these files` };
}
