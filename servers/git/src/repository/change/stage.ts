import { lstat } from "node:fs/promises";
import { join } from "node:path";
import { fitting, nearest, oneLine, ToolError } from "@refmcp/boundary/answer";
import { refuseFilters } from "../open/filters.ts";
import { isQuoted, pathBytes, pathsIn } from "../open/paths.ts";
import type { Repository } from "../open/repository.ts";
import { headOf, objectOf } from "../open/revisions.ts";
import { type ChangedPath, changesOf, changeWord, type FileChange } from "../read/changed-files.ts";
import { operationOf } from "../read/status.ts";
import { failureOf } from "../run/failures.ts";
import type { GitResult } from "../run/run-git.ts";
import { pathText, records } from "../run/text.ts";
import { keepWorktree } from "./recovery.ts";

const FROM_STDIN = ["--pathspec-from-file=-", "--pathspec-file-nul"];
/** A list of changed files in a response, truncated to fit. */
interface FileList {
  files: ChangedPath[];
  /** How many there are in all. */
  count: number;
}

/** Names and kinds of changed files, at most `budget` characters of them. */
export function fileNames(changes: readonly FileChange[], budget: number): FileList {
  const files = changes.map(({ path, from, letter }) => ({ path, status: changeWord(letter), from }));
  return { files: files.slice(0, fitting(files, budget)), count: files.length };
}

/** What is staged now, against HEAD. */
export async function stagedChanges(repository: Repository): Promise<FileChange[]> {
  return (await changesOf(repository, ["--cached"])).files;
}

/**
 * Stages files: new, changed and deleted ones. Nothing is staged if one of the paths cannot be.
 *
 * @throws ToolError `ignored_path`, `bad_path`, `filter_needed`
 */
export async function stage(repository: Repository, paths: readonly string[]): Promise<void> {
  const input = await pathBytes(repository, paths);
  await refuseIgnored(repository, input);
  await refuseFilters(repository, () => staging(repository, input));
  const result = await repository.run(["add", ...FROM_STDIN], { input });
  if (result.code !== 0)
    throw (await unknownPath(repository, paths, result)) ?? failureOf(result, "stage the files");
}

/** Reports which of the paths git does not know, with suggestions. */
async function unknownPath(
  repository: Repository,
  paths: readonly string[],
  { stderr }: GitResult,
): Promise<ToolError | undefined> {
  const [, name] = /pathspec '(.*)' did not match/.exec(stderr) ?? [];
  const path = paths.find((one) => name !== undefined && (one === name || one.endsWith(name)));
  if (path === undefined) return undefined;
  const listing = await repository.run(["ls-files", "-z", "--cached", "--others", "--exclude-standard"]);
  const files = records(listing.stdout).map(pathText);
  const below = files.filter((file) => file.endsWith(`/${path}`)).slice(0, 3);
  const near = below.length > 0 ? below : nearest(path, files.slice(0, 5_000));
  const guess =
    near.length === 0 ? "" : ` Did you mean ${near.map((one) => `"${oneLine(one)}"`).join(" or ")}?`;
  return new ToolError(
    "not_found",
    `The file "${oneLine(path)}" does not exist.${guess} Nothing was staged.`,
    {
      code: "bad_path",
      hint: "Paths are relative to the repository's root, even if repo_path is a subdirectory; git_status shows them.",
    },
  );
}

async function refuseIgnored(repository: Repository, input: Buffer): Promise<void> {
  const given = records(input).filter((path) => path.toString("latin1") !== ".");
  if (given.length === 0) return;
  // This command knows no literal paths; a path that begins with "./" has no magic either.
  const asked = Buffer.concat(given.flatMap((path) => [Buffer.from(".."), path, Buffer.from([0])]));
  const plain = { env: { GIT_LITERAL_PATHSPECS: "0" } };
  const ignored = await repository.run(["check-ignore", "-z", "--stdin"], { input: asked, ...plain });
  // 1: none is ignored.
  if (ignored.code === 1) return;
  if (ignored.code !== 0) throw failureOf(ignored, "look up ignored files");
  const names = records(ignored.stdout).map((path) => oneLine(pathText(path.subarray(2))));
  throw new ToolError(
    "invalid",
    `Ignored by .gitignore: ${names.slice(0, 10).join(", ")}. Nothing was staged.`,
    {
      code: "ignored_path",
      hint: "Omit these, or change .gitignore first.",
    },
  );
}

/** The files among these paths that `git add` would read. */
async function staging(repository: Repository, input: Buffer): Promise<Buffer> {
  const listing = await repository.output(
    ["ls-files", "-z", "--others", "--modified", "--exclude-standard", "--deduplicate"],
    "list the files",
  );
  const wanted = records(input).map((path) => path.toString("latin1"));
  const isWanted = (path: string) =>
    wanted.some((one) => one === "." || path === one || path.startsWith(`${one}/`));
  const files = records(listing).filter((path) => isWanted(path.toString("latin1")));
  return Buffer.concat(files.flatMap((path) => [path, Buffer.from([0])]));
}

/** Unstages everything, or some paths; the working tree is unchanged. */
export async function unstage(
  repository: Repository,
  paths: readonly string[] | undefined,
  budget: number,
): Promise<FileList & { undo?: string }> {
  await repository.worktree();
  if (paths === undefined && operationOf(repository) !== undefined) {
    throw new ToolError(
      "conflict",
      "A merge, rebase, cherry-pick or revert is in progress; unstaging everything would discard its state.",
      {
        code: "operation_in_progress",
        hint: "Pass files to unstage only these.",
      },
    );
  }
  const input = paths === undefined ? undefined : await pathBytes(repository, paths);
  const before = await stagedChanges(repository);
  const tree = await repository.run(["write-tree"]);
  const reset = ["reset", "--quiet", ...(input === undefined ? [] : FROM_STDIN)];
  await repository.output(reset, "unstage the files", input === undefined ? {} : { input });
  const left = new Set((await stagedChanges(repository)).map((file) => file.path));
  const gone = before.filter((file) => !left.has(file.path));
  const list = fileNames(gone, budget - 500);
  if (tree.code !== 0 || gone.length === 0) return list;
  // The tree has the previous index.
  const source = tree.stdout.toString("utf8").trim();
  return { ...list, undo: `git_restore with source ${source}, staged true, worktree false and these files` };
}

interface RestoreQuery {
  readonly files: readonly string[];
  /** A commit, or a tree; left out: the index (or HEAD for the index itself). */
  readonly source?: string | undefined;
  readonly staged: boolean;
  readonly worktree: boolean;
}

/** Restores files from the index or a commit. Their previous content is kept under a recovery ref first. */
export async function restore(repository: Repository, query: RestoreQuery, budget: number) {
  const root = await repository.worktree();
  const input = await pathBytes(repository, query.files);
  const named = query.source ?? (query.staged && query.worktree ? "HEAD" : undefined);
  const source = named === undefined ? undefined : (await objectOf(repository, named)).oid;
  const paths = await pathsIn(
    repository,
    query.files.filter((path) => !isQuoted(path)),
  );
  // What the restored files will have instead: from the current state to the source.
  const between = ["-R", ...(query.worktree ? [] : ["--cached"]), ...(source === undefined ? [] : [source])];
  const { files } = await changesOf(repository, between, paths);
  if (source === undefined && query.staged && (await headOf(repository)) === undefined) {
    await unstage(repository, query.files, budget);
    return fileNames(files, budget - 600);
  }
  const recovery = query.worktree ? await keepFiles(repository, root, files) : undefined;
  await repository.output(
    [
      "restore",
      "--quiet",
      "--no-recurse-submodules",
      ...(query.worktree ? ["--worktree"] : []),
      ...(query.staged ? ["--staged"] : []),
      ...(source === undefined ? [] : [`--source=${source}`]),
      ...FROM_STDIN,
    ],
    "restore the files",
    { input },
  );
  const undo = recovery && `git_restore with source ${recovery} and these files`;
  return { ...fileNames(files, budget - 600), recovery, undo };
}

/** Keeps the files that will be overwritten or deleted, untracked ones as well. */
async function keepFiles(
  repository: Repository,
  root: string,
  files: readonly FileChange[],
): Promise<string | undefined> {
  const bytes = await pathBytes(
    repository,
    files.map(({ path }) => path),
  );
  await refuseFilters(repository, () => bytes);
  const lost: string[] = [];
  for (const { path, letter } of files) {
    const isThere = async () => (await lstat(join(root, path)).catch(() => undefined)) !== undefined;
    if (letter !== "A" || isQuoted(path) || (await isThere())) lost.push(path);
  }
  return lost.length === 0 ? undefined : keepWorktree(repository, "restore", lost);
}
