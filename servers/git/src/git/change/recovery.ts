import { lstat } from "node:fs/promises";
import { dirname, join } from "node:path";
import { oneLine, shorten } from "@refmcp/boundary/answer";
import * as z from "zod";
import { pathBytes } from "../open/paths.ts";
import type { Repository } from "../open/repository.ts";
import { lookUp } from "../open/revisions.ts";
import { differing, FROM_STDIN } from "../read/changes.ts";
import { LOG_PLAIN } from "../read/commits.ts";
import { RECOVERY } from "../read/refs.ts";
import { inIndexCopy } from "../read/temporary-index.ts";
import { failure } from "../run/errors.ts";
import { countOf, firstNames, pathText, records } from "../run/text.ts";

/** The author of commits that only keep something: the server, not the user. */
const SERVER = {
  GIT_AUTHOR_NAME: "refmcp",
  GIT_AUTHOR_EMAIL: "refmcp@localhost",
  GIT_COMMITTER_NAME: "refmcp",
  GIT_COMMITTER_EMAIL: "refmcp@localhost",
};

/**
 * Keeps the state of the working tree and the index before a command overwrites them: as a stash, so
 * that `git stash apply` accepts it, in the reflog of the recovery ref.
 *
 * @param operation the command, for the reflog: `reset`
 * @param files keep only these, tracked or not; by default all tracked files
 * @returns the commit; undefined if nothing differs from HEAD
 */
export async function keepBefore(
  repository: Repository,
  operation: string,
  files?: readonly string[],
): Promise<string | undefined> {
  const [head, headTree] = await lookUp(repository, ["HEAD^{commit}", "HEAD^{tree}"]);
  return inIndexCopy(repository, async (env) => {
    // The index unchanged; during a merge it cannot be written as a tree.
    const indexTree = await repository.run(["write-tree"], { env });
    const index = indexTree.code === 0 ? indexTree.stdout.toString("utf8").trim() : undefined;
    const which = files === undefined ? ["--update"] : ["--all", "--force"];
    const input = files === undefined ? ".\0" : await pathBytes(repository, files);
    // Without any path git would add everything.
    if (files?.length !== 0)
      await repository.output(["add", ...which, ...FROM_STDIN], "keep the files", { env, input });
    const tree = await repository.value(["write-tree"], "keep the working tree", { env });
    if (tree === headTree?.oid && (index === undefined || index === tree)) return undefined;
    const commitTree = (of: string, ...parents: (string | undefined)[]) => {
      const after = parents.flatMap((parent) => (parent === undefined ? [] : ["-p", parent]));
      const args = ["commit-tree", of, "-m", `refmcp: before ${operation}`, ...after];
      return repository.value(args, "keep the working tree", { env: SERVER });
    };
    const merged = head && index && (await commitTree(index, head.oid));
    return keepCommit(repository, operation, await commitTree(tree, head?.oid, merged));
  });
}

/** Keeps a commit or tag in the reflog of the recovery ref, and returns its id. */
export async function keepCommit(
  repository: Repository,
  operation: string,
  oid: string,
): Promise<string> {
  const how = ["--create-reflog", "-m", `before ${operation}`];
  await repository.output(["update-ref", ...how, RECOVERY, oid], "keep the previous state");
  return oid;
}

const MAX_ARGUMENTS = 500;

/**
 * Untracked files, ignored ones too, where a commit has files. git replaces ignored files without a
 * word when it writes that commit, except in `switch` and a fast-forward.
 *
 * @param to the commit
 * @param from only the files that differ between this commit and `to` are written, or these; by default all
 */
export async function untrackedAt(
  repository: Repository,
  to: string,
  from?: string | readonly string[],
): Promise<string[]> {
  const paths = async (...args: string[]) =>
    records(await differing(repository, ...args)).map(pathText);
  const list = typeof from === "string" ? await paths("--diff-filter=d", from, to) : from;
  const changedPaths = list && new Set(list);
  const absentPaths = await paths("--cached", "--diff-filter=D", to);
  const writtenPaths = absentPaths.filter((path) => changedPaths?.has(path) ?? true);
  return untrackedAmong(repository, writtenPaths, to);
}

/**
 * Untracked files at these paths, below them, or in place of a directory above them.
 *
 * @param to the commit or tree that has the paths: a submodule that it has is unchanged
 * @throws ToolError `local_changes` for those of a repository in the working tree, which cannot be kept
 */
export async function untrackedAmong(repository: Repository, paths: readonly string[], to = "") {
  const root = await repository.worktree();
  const statsOf = (path: string) => lstat(join(root, path)).catch(() => undefined);
  const places = new Set<string>();
  for (const written of paths) {
    let path = written;
    while (path !== "." && (await statsOf(path)) === undefined) path = dirname(path);
    if (path === written || (await statsOf(path))?.isDirectory() === false) places.add(path);
    for (let at = dirname(path); path === written && at !== "."; at = dirname(at))
      if ((await statsOf(join(at, ".git"))) !== undefined) refuseUntracked([path]);
  }
  const files: string[] = [];
  for (let rest = [...places]; rest.length > 0; rest = rest.slice(MAX_ARGUMENTS)) {
    const part = ["ls-files", "--others", "-z", "--", ...rest.slice(0, MAX_ARGUMENTS)];
    files.push(...(await repository.paths(part, "list the files")));
  }
  const nested = files.filter((file) => file.endsWith("/")).map((file) => file.slice(0, -1));
  if (nested.length === 0) return files;
  const names = nested.map((path) => `${to}:${path}`);
  const objects = await lookUp(repository, names);
  const isLost = (path: string, index: number) =>
    to === "" || !paths.includes(path) || objects[index]?.type === "blob";
  refuseUntracked(nested.filter(isLost));
  return files.filter((file) => !file.endsWith("/"));
}

/** @throws ToolError `local_changes` if there are such files */
export function refuseUntracked(files: readonly string[]): void {
  if (files.length === 0) return;
  const message = `These untracked files would be overwritten: ${firstNames(files)}. Nothing was changed.`;
  throw failure("local_changes", message, {
    hint: "Move them away first. git_clean with these files and ignored: true deletes them and keeps them for recovery.",
  });
}

/**
 * Refuses untracked files where commits add files, or where reverting them does.
 *
 * @param commits revisions for `git log`
 * @throws ToolError `local_changes`
 */
export async function refuseAdded(
  repository: Repository,
  commits: readonly string[],
): Promise<void> {
  const how = ["-z", "--format=", "--name-only", "--diff-filter=AD", "--no-renames", ...commits];
  const paths = await repository.paths(["log", ...LOG_PLAIN, ...how, "--"], "list the files");
  refuseUntracked(await untrackedAmong(repository, paths));
}

/** What a destructive command did, and how to undo it. */
export const destroyed = z.object({
  done: z.string(),
  before: z.string().optional(),
  after: z.string().optional(),
  /** The commit that keeps what was lost. */
  recovery: z.string().optional(),
  undo: z.string(),
  files: z.array(z.string()).optional(),
  count: z.number().optional(),
  notes: z.array(z.string()).optional(),
});
export type Destroyed = z.infer<typeof destroyed>;

/**
 * How many commits only `tip` has, and a list of the first subjects that begins with a colon, or is
 * empty.
 *
 * @param others commits to compare with, or the branch that does not count among all branches and tags:
 * `main`, or a remote's, `origin/main`
 */
export async function commitsOnlyIn(
  repository: Repository,
  tip: string,
  others: readonly string[] | string,
): Promise<{ count: number; list: string }> {
  const except = `--exclude=${others}`;
  const rest =
    typeof others === "string"
      ? ["--not", except, "--branches", except, "--remotes", "--tags"]
      : others.map((oid) => `^${oid}`);
  const how = [...LOG_PLAIN, "--no-patch", "-z", "--format=%h %s", "--max-count=1001"];
  const subjects = await repository.paths(["log", ...how, tip, ...rest, "--"], "list the commits");
  const firstSubjects = subjects.slice(0, 5).map((subject) => `"${shorten(oneLine(subject), 60)}"`);
  const more = subjects.length > 5 ? " …" : "";
  const list = subjects.length === 0 ? "" : `: ${firstSubjects.join(", ")}${more}`;
  return { count: subjects.length, list };
}

/** The number of files and the first names, for a question: `2 untracked files: a, b`. */
export function countedFiles(files: readonly string[], noun: string): string {
  const names = firstNames(files.map((file) => shorten(file, 100)));
  return `${countOf(files.length, noun)}${files.length === 0 ? "" : `: ${names}`}`;
}

/** The first hundred files for a response, and the total. */
export function listOf(files: readonly string[]): { files: string[]; count: number } {
  return { files: files.slice(0, 100), count: files.length };
}
