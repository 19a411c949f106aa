import { rmSync } from "node:fs";
import { rm } from "node:fs/promises";
import { oneLine } from "@refmcp/boundary/answer";
import { badName, checkRefText } from "../history/branch-names.ts";
import { configurationOf, NOWHERE } from "../open/configuration.ts";
import type { Git } from "../open/git.ts";
import { isInGitDirectory } from "../open/git-directory.ts";
import { type RunOptions, spawnGit, withoutFilters } from "../open/machine.ts";
import type { Caller } from "../open/repository.ts";
import { filterNote } from "../read/filters.ts";
import { lastValue } from "../run/config.ts";
import { failure, failureOf } from "../run/errors.ts";
import { notesFrom } from "../run/text.ts";

/** The user's configuration without any repository's, and a function that runs git with it. */
export async function withoutRepository(git: Git, cwd: string, signal: AbortSignal) {
  const machine = await git.machine();
  const nowhere = { cwd, signal, env: NOWHERE };
  const { entries, overrides } = await configurationOf(machine, nowhere, []);
  const run = (args: readonly string[], options?: RunOptions) =>
    spawnGit(withoutFilters(machine), { cwd, signal }, args, options, overrides);
  return { entries, run };
}

export const pathExists = (path: string) =>
  failure("path_exists", `"${oneLine(path)}" is not empty.`);

/** Directories created for unfinished work; if the server exits first, they are removed. */
const unfinished = new Set<string>();
process.on("exit", () => {
  for (const directory of unfinished) rmSync(directory, { recursive: true, force: true });
});

/**
 * A location for a new repository: inside the bound, missing or an empty directory.
 *
 * @returns its absolute real path, and the directories created for it
 */
export async function newDirectory(git: Git, path: string) {
  const [outermost] = await git.guard.createDirectory(path);
  const undo = async (): Promise<void> => {
    if (outermost !== undefined) await rm(outermost, { recursive: true, force: true });
    unfinished.delete(outermost ?? "");
  };
  if (outermost !== undefined) unfinished.add(outermost);
  const opened = await git.guard.openDirectory(path);
  await opened.close();
  if (await isInGitDirectory(opened.realPath)) {
    await undo();
    throw failure("inside_git_directory", `"${oneLine(path)}" is inside a git directory.`);
  }
  return { path: opened.realPath, undo, done: () => void unfinished.delete(outermost ?? "") };
}

/** Makes a new repository, without any template. */
export async function init(
  git: Git,
  query: { path: string; initial_branch?: string | undefined; bare: boolean },
  { signal }: Pick<Caller, "signal">,
) {
  const { path, undo, done } = await newDirectory(git, query.path);
  try {
    const existing = await git.open(path, signal).catch(() => undefined);
    if (existing?.location.worktree === path || existing?.location.gitDir === path)
      throw failure("already_a_repository", `"${oneLine(path)}" is already a git repository.`);
    const { entries, run } = await withoutRepository(git, path, signal);
    const branch = query.initial_branch ?? lastValue(entries, "init.defaultbranch") ?? "main";
    checkRefText("heads", branch);
    const bare = query.bare ? ["--bare"] : [];
    const how = ["--quiet", "--template=", `--initial-branch=${branch}`, ...bare];
    const result = await run(["init", ...how, path]);
    if (/invalid initial branch name/.test(result.stderr)) throw badName("heads", branch);
    if (result.code !== 0) throw failureOf(result, "create the repository");
    done();
    return { repository: path, branch, bare: query.bare };
  } catch (error) {
    await undo();
    throw error;
  }
}

/**
 * In a new working tree nothing is lost if filters don't run, but its files are pointers or
 * ciphertext.
 */
export async function checkedOutNotes(git: Git, path: string, signal: AbortSignal) {
  const repository = await git.open(path, signal);
  const files = () => repository.output(["ls-files", "-z"], "list the files");
  const effect =
    "contain the stored content; the user can convert them in a terminal, for example with git lfs pull";
  return notesFrom(await filterNote(repository, files, effect));
}
