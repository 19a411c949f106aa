import { rmSync } from "node:fs";
import { rm } from "node:fs/promises";
import { oneLine } from "@refmcp/boundary/answer";
import * as z from "zod";
import { configurationOf, NOWHERE } from "../open/configuration.ts";
import type { Git } from "../open/git.ts";
import { isInGitDirectory } from "../open/git-directory.ts";
import { type RunOptions, spawnGit, withoutFilters } from "../open/machine.ts";
import type { Caller, Repository } from "../open/repository.ts";
import { commitOf, lookUp } from "../open/revisions.ts";
import { checkRefName, checkRefText } from "../read/refs.ts";
import { lastValue } from "../run/config.ts";
import { failure, failureOf } from "../run/errors.ts";

/** The user's configuration without any repository's, and a function that runs git with it. */
export async function withoutRepository(git: Git, cwd: string, signal: AbortSignal) {
  const machine = await git.machine();
  const { entries, overrides } = await configurationOf(machine, { cwd, signal, env: NOWHERE }, []);
  const run = (args: readonly string[], options?: RunOptions) =>
    spawnGit(withoutFilters(machine), { cwd, signal }, args, options, overrides);
  return { entries, run };
}

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
  const directory = await git.guard.openDirectory(path);
  await directory.close();
  if (isInGitDirectory(directory.realPath)) {
    await undo();
    throw failure("inside_git_directory", `"${oneLine(path)}" is inside a git directory.`);
  }
  return { path: directory.realPath, undo, done: () => void unfinished.delete(outermost ?? "") };
}

/** Makes a new repository, without any template. */
export async function init(
  git: Git,
  query: { path: string; initial_branch?: string | undefined },
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
    const create = ["init", "--quiet", "--template=", `--initial-branch=${branch}`, path];
    const result = await run(create);
    if (result.code !== 0) throw failureOf(result, "create the repository");
    done();
    return { repository: path, branch };
  } catch (error) {
    await undo();
    throw error;
  }
}

export const addedWorktree = z.object({
  path: z.string(),
  branch: z.string(),
  commit: z.string(),
  created_branch: z.boolean(),
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
    await repository.output([...add, ...target], "add the worktree");
    // Its configuration may differ (conditions, config.worktree), so it is read there before anything is
    // checked out.
    const newWorktree = await git.open(path, signal);
    const reset = ["reset", "--hard", "--quiet", "--no-recurse-submodules"];
    await newWorktree.output(reset, "check out the worktree");
  } catch (error) {
    await repository.undo(["worktree", "remove", "--force", path]);
    if (existing === undefined) await repository.undo(["branch", "-D", "--quiet", "--", branch]);
    await undo();
    throw error;
  }
  done();
  return { path, branch, commit, created_branch: existing === undefined };
}
