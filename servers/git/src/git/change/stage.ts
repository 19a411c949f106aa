import { lstat } from "node:fs/promises";
import { join } from "node:path";
import { nearest, oneLine, type ToolError } from "@refmcp/boundary/answer";
import { isQuoted, pathBytes, pathsIn } from "../open/paths.ts";
import type { Budget, Repository } from "../open/repository.ts";
import { headOf, objectOf } from "../open/revisions.ts";
import { changesOf, type FileChange, FROM_STDIN, fileNames } from "../read/changes.ts";
import { refuseFilters } from "../read/filters.ts";
import { operationOf } from "../read/operation.ts";
import { didYouMean, failure, failureOf } from "../run/errors.ts";
import { firstNames, nulEnded, pathText, records } from "../run/text.ts";
import { applyPatch, selectedPatch } from "./hunks.ts";
import { keepBefore } from "./recovery.ts";

/** What is staged now, against HEAD. */
export function stagedChanges(repository: Repository): Promise<FileChange[]> {
  return changesOf(repository, ["--cached"]);
}

/** Whole files, or single changes by their ids. */
interface Selection {
  readonly files?: readonly string[] | undefined;
  readonly hunks?: readonly string[] | undefined;
}

/**
 * Stages files, single changes by their ids, or both.
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
  if (patch !== undefined && !(await applyPatch(repository, patch, ["--cached"])))
    throw overlapping();
}

const overlapping = () =>
  failure("stale_hunk", "The files have changed since these ids were made.");
const nothingNamed = () => failure("nothing_named", "Both files and hunks are missing.");

/**
 * Stages files: new, changed and deleted ones. Nothing is staged if one of the paths cannot be.
 *
 * @param env names another index
 * @throws ToolError `ignored_path`, `bad_path`, `filter_needed`
 */
export async function stage(
  repository: Repository,
  paths: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<void> {
  const input = await pathBytes(repository, paths);
  await refuseIgnored(repository, input);
  await refuseFilters(repository, () => staging(repository, input));
  const result = await repository.run(["add", ...FROM_STDIN], { input, env });
  if (result.code !== 0)
    throw (
      (await unknownPath(repository, paths, result.stderr)) ?? failureOf(result, "stage the files")
    );
}

/** Reports which of the paths git does not know, with suggestions. */
async function unknownPath(
  repository: Repository,
  paths: readonly string[],
  stderr: string,
): Promise<ToolError | undefined> {
  const [, name] = /pathspec '(.*)' did not match/.exec(stderr) ?? [];
  const path = paths.find(
    (named) => name !== undefined && (named === name || named.endsWith(name)),
  );
  if (path === undefined) return undefined;
  const listing = await repository.run([
    "ls-files",
    "-z",
    "--cached",
    "--others",
    "--exclude-standard",
  ]);
  const files = records(listing.stdout).map(pathText);
  const below = files.filter((file) => file.endsWith(`/${path}`)).slice(0, 3);
  const near = below.length > 0 ? below : nearest(path, files.slice(0, 5_000));
  const guess = didYouMean(near.map((file) => `"${oneLine(file)}"`));
  return failure(
    "bad_path",
    `The file "${oneLine(path)}" does not exist.${guess} Nothing was staged.`,
    {
      hint: "Paths are relative to the repository's root, even if repo_path is a subdirectory; git_status shows them.",
    },
  );
}

async function refuseIgnored(repository: Repository, input: Buffer): Promise<void> {
  const given = records(input).filter((path) => path.toString("latin1") !== ".");
  if (given.length === 0) return;
  // This command knows no literal paths; a path that begins with "./" has no magic either.
  const asked = nulEnded(given.map((path) => Buffer.concat([Buffer.from("./"), path])));
  const plain = { env: { GIT_LITERAL_PATHSPECS: "0" } };
  const ignored = await repository.run(["check-ignore", "-z", "--stdin"], {
    input: asked,
    ...plain,
  });
  // 1: none is ignored.
  if (ignored.code === 1) return;
  if (ignored.code !== 0) throw failureOf(ignored, "look up ignored files");
  const names = records(ignored.stdout).map((path) => pathText(path.subarray(2)));
  const message = `Ignored by .gitignore: ${firstNames(names)}. Nothing was staged.`;
  throw failure("ignored_path", message);
}

/** The files among these paths that `git add` would read. */
async function staging(repository: Repository, input: Buffer): Promise<Buffer> {
  const list = ["ls-files", "-z", "--others", "--modified", "--exclude-standard", "--deduplicate"];
  const listing = await repository.output(list, "list the files");
  const wanted = records(input).map((path) => path.toString("latin1"));
  const isWanted = (path: string) =>
    wanted.some((named) => named === "." || path === named || path.startsWith(`${named}/`));
  const files = records(listing).filter((path) => isWanted(path.toString("latin1")));
  return nulEnded(files);
}

/** Unstages everything, some paths or some changes; the working tree is unchanged. */
export async function unstage(
  repository: Repository,
  { files: paths, hunks }: Selection,
  { budget }: Budget,
) {
  await repository.worktree();
  if (paths !== undefined && hunks !== undefined) throw oneOfBoth();
  if (paths === undefined && hunks === undefined && operationOf(repository) !== undefined) {
    const message =
      "A merge, rebase, cherry-pick or revert is in progress; unstaging everything would discard its state.";
    throw failure("operation_in_progress", message, { hint: "Pass files to unstage only these." });
  }
  const input = paths === undefined ? undefined : await pathBytes(repository, paths);
  const before = await stagedChanges(repository);
  const tree = await repository.run(["write-tree"]);
  const chosen = { ids: hunks ?? [], from: "staged", reverse: true } as const;
  const patch = hunks && (await selectedPatch(repository, chosen));
  const reset = ["reset", "--quiet", ...(input === undefined ? [] : FROM_STDIN)];
  if (patch === undefined)
    await repository.output(reset, "unstage the files", input === undefined ? {} : { input });
  else if (!(await applyPatch(repository, patch, ["--cached", "--reverse"]))) throw overlapping();
  const left = new Set((await stagedChanges(repository)).map((file) => file.path));
  const changed = patch && new Set(patch.paths);
  const gone = before.filter(({ path }) => changed?.has(path) ?? !left.has(path));
  const list = fileNames(gone, budget - 500);
  if (tree.code !== 0 || gone.length === 0) return list;
  // The tree has the previous index.
  const source = tree.stdout.toString("utf8").trim();
  return {
    ...list,
    undo: `git_restore with source ${source}, staged true, worktree false and these files`,
  };
}

const oneOfBoth = () =>
  failure("bad_hunk", "files and hunks cannot be combined here.", {
    hint: "Call once with each of them.",
  });

/**
 * Discards single unstaged changes of the working tree, as `restore` does whole files.
 *
 * @throws ToolError `stale_hunk`, `bad_hunk`
 */
export async function restoreSelected(
  repository: Repository,
  { files: named, hunks, ...query }: Selection & Omit<RestoreQuery, "files">,
  caller: Budget,
) {
  if (hunks === undefined) {
    if (named === undefined) throw nothingNamed();
    return restore(repository, { ...query, files: named }, caller);
  }
  if (named !== undefined) throw oneOfBoth();
  if (query.staged || !query.worktree || query.source !== undefined) {
    const hint = "Omit source, staged and worktree; git_reset unstages single changes.";
    throw failure("bad_hunk", "hunks discards unstaged changes of the working tree only.", {
      hint,
    });
  }
  const root = await repository.worktree();
  const patch = await selectedPatch(repository, { ids: hunks, from: "unstaged", reverse: true });
  const files = await changesOf(repository, ["-R"], patch.paths);
  const recovery = await keepFiles(repository, root, files);
  if (!(await applyPatch(repository, patch, ["--reverse"]))) throw overlapping();
  return { ...fileNames(files, caller.budget - 600), recovery, undo: undoOf(recovery) };
}

const undoOf = (recovery: string | undefined) =>
  recovery && `git_restore with source ${recovery} and these files`;

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
async function restore(repository: Repository, query: RestoreQuery, { budget }: Budget) {
  const root = await repository.worktree();
  const input = await pathBytes(repository, query.files);
  const named = query.source ?? (query.staged && query.worktree ? "HEAD" : undefined);
  const source = named === undefined ? undefined : (await objectOf(repository, named)).oid;
  const utf8 = query.files.filter((path) => !isQuoted(path));
  const paths = await pathsIn(repository, utf8);
  // What the restored files will have instead: from the current state to the source.
  const between = [
    "-R",
    ...(query.worktree ? [] : ["--cached"]),
    ...(source === undefined ? [] : [source]),
  ];
  const files = await changesOf(repository, between, paths);
  if (source === undefined && query.staged && (await headOf(repository)) === undefined) {
    await unstage(repository, query, { budget });
    return fileNames(files, budget - 600);
  }
  const recovery = query.worktree ? await keepFiles(repository, root, files) : undefined;
  const what = [
    query.worktree && "--worktree",
    query.staged && "--staged",
    source && `--source=${source}`,
  ];
  const args = ["restore", "--quiet", "--no-recurse-submodules", ...what, ...FROM_STDIN];
  await repository.output(args, "restore the files", { input });
  return { ...fileNames(files, budget - 600), recovery, undo: undoOf(recovery) };
}

/** Keeps the files that will be overwritten or deleted, untracked ones as well. */
async function keepFiles(repository: Repository, root: string, files: readonly FileChange[]) {
  const paths = files.map(({ path }) => path);
  const bytes = await pathBytes(repository, paths);
  await refuseFilters(repository, () => bytes);
  const lost: string[] = [];
  for (const { path, letter } of files) {
    const isThere = async () =>
      (await lstat(join(root, path)).catch(() => undefined)) !== undefined;
    if (letter !== "A" || isQuoted(path) || (await isThere())) lost.push(path);
  }
  return lost.length === 0 ? undefined : keepBefore(repository, "restore", lost);
}
