import { rmSync } from "node:fs";
import { rm } from "node:fs/promises";
import { oneLine, ToolError } from "@refmcp/boundary/answer";
import * as z from "zod";
import { filterNote } from "../open/filters.ts";
import type { Git } from "../open/git.ts";
import { isInGitDir } from "../open/locate.ts";
import { readConfig } from "../open/read-config.ts";
import { type Repository, type RunOptions, spawnGit } from "../open/repository.ts";
import { commitOf } from "../open/revisions.ts";
import { badName, checkRefName, checkRefText } from "../read/branches.ts";
import { lastValue } from "../run/config.ts";
import { failureOf } from "../run/failures.ts";
import { STANDING } from "../run/safe-config.ts";

/** The user's configuration without any repository's, and a function that runs git with it. */
export async function withoutRepository(git: Git, cwd: string, signal: AbortSignal) {
  const machine = { ...(await git.machine()), filters: "off" } as const;
  // An enclosing repository has no effect.
  const nowhere = { cwd, signal, env: { GIT_DIR: "/dev/null" } };
  const read = (args: readonly string[]) => spawnGit(machine, nowhere, STANDING, args);
  const { entries, dormant } = await readConfig(read, git.guard);
  const overrides = git.overrides(entries, dormant);
  const run = (args: readonly string[], options?: RunOptions) =>
    spawnGit(machine, { cwd, signal }, overrides, args, options);
  return { entries, run };
}

export function pathExists(path: string): ToolError {
  return new ToolError("conflict", `"${oneLine(path)}" is not empty.`, {
    code: "path_exists",
    hint: "Choose a directory that does not exist yet.",
  });
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
export async function newDirectory(
  git: Git,
  path: string,
): Promise<{ path: string; undo(): Promise<void>; done(): void }> {
  const [outermost] = await git.guard.createDirectory(path);
  const undo = async (): Promise<void> => {
    if (outermost !== undefined) await rm(outermost, { recursive: true, force: true });
    unfinished.delete(outermost ?? "");
  };
  if (outermost !== undefined) unfinished.add(outermost);
  const opened = await git.guard.openDirectory(path);
  await opened.close();
  if (await isInGitDir(opened.realPath)) {
    await undo();
    throw new ToolError("denied", `"${oneLine(path)}" is inside a git directory.`, {
      code: "inside_git_directory",
      hint: "git could run files there as hooks or treat them as refs. Choose a directory outside .git and bare repositories.",
    });
  }
  return { path: opened.realPath, undo, done: () => void unfinished.delete(outermost ?? "") };
}

/** Makes a new repository, without any template. */
export async function init(
  git: Git,
  query: { path: string; initial_branch?: string | undefined; bare: boolean },
  signal: AbortSignal,
): Promise<{ repository: string; branch: string; bare: boolean }> {
  const { path, undo, done } = await newDirectory(git, query.path);
  try {
    const existing = await git.open(path, signal).catch(() => undefined);
    if (existing?.location.worktree === path || existing?.location.gitDir === path) {
      throw new ToolError("conflict", `"${oneLine(path)}" is already a git repository.`, {
        code: "already_a_repository",
        hint: "Use it, or choose another directory.",
      });
    }
    const { entries, run } = await withoutRepository(git, path, signal);
    const branch = query.initial_branch ?? lastValue(entries, "init.defaultbranch") ?? "main";
    checkRefText("heads", branch);
    const bare = query.bare ? ["--bare"] : [];
    const result = await run(["init", "--quiet", "--template=", `--initial-branch=${branch}`, ...bare, path]);
    if (/invalid initial branch name/.test(result.stderr)) throw badName("heads", branch);
    if (result.code !== 0) throw failureOf(result, "create the repository");
    done();
    return { repository: path, branch, bare: query.bare };
  } catch (error) {
    await undo();
    throw error;
  }
}

/** In a new working tree nothing is lost if filters don't run, but its files are pointers or ciphertext. */
export async function checkedOutNotes(
  git: Git,
  path: string,
  signal: AbortSignal,
): Promise<string[] | undefined> {
  const repository = await git.open(path, signal);
  const files = () => repository.output(["ls-files", "-z"], "list the files");
  const note = await filterNote(
    repository,
    files,
    "contain the stored content; the user can convert them in a terminal, for example with git lfs pull",
  );
  return note === undefined ? undefined : [note];
}

export const addedWorktree = z.object({
  path: z.string(),
  branch: z.string(),
  commit: z.string(),
  created_branch: z.boolean(),
  notes: z.array(z.string()).optional(),
});

/** Adds a working tree for a branch, new or existing. */
export async function addWorktree(
  git: Git,
  repository: Repository,
  query: { path: string; branch_name: string; revision?: string | undefined },
): Promise<z.infer<typeof addedWorktree>> {
  await checkRefName(repository, "heads", query.branch_name);
  const [existing] = await repository.lookUp([`refs/heads/${query.branch_name}`]);
  if (existing !== undefined && query.revision !== undefined) {
    throw new ToolError(
      "conflict",
      `The branch "${query.branch_name}" already exists, so revision does not apply.`,
      {
        code: "branch_exists",
        hint: "Omit revision to check out the existing branch, or choose another branch_name.",
      },
    );
  }
  const commit = existing?.oid ?? (await commitOf(repository, query.revision ?? "HEAD"));
  const { path, undo, done } = await newDirectory(git, query.path);
  const target =
    existing === undefined
      ? ["--no-track", "-b", query.branch_name, path, commit]
      : [path, query.branch_name];
  const add = ["worktree", "add", "--quiet", "--no-guess-remote", "--no-checkout"];
  const result = await repository.run([...add, ...target]);
  if (result.code === 0) {
    // Its configuration may differ (conditions, config.worktree), so it is read there before anything is
    // checked out.
    try {
      const added = await git.open(path, repository.signal);
      await added.output(["reset", "--hard", "--quiet", "--no-recurse-submodules"], "check out the worktree");
    } catch (error) {
      await repository.run(["worktree", "remove", "--force", path]);
      if (existing === undefined) await repository.run(["branch", "-D", "--quiet", "--", query.branch_name]);
      throw error;
    }
    done();
    const notes = await checkedOutNotes(git, path, repository.signal);
    return { path, branch: query.branch_name, commit, created_branch: existing === undefined, notes };
  }
  await undo();
  if (/already exists/.test(result.stderr)) throw pathExists(path);
  throw failureOf(result, "add the worktree");
}
