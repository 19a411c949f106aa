import { randomBytes } from "node:crypto";
import { oneLine, shortened } from "@refmcp/boundary/answer";
import * as z from "zod";
import { pathBytes } from "../open/paths.ts";
import type { Repository } from "../open/repository.ts";
import { copyIndex, FROM_STDIN, inTemporaryIndex } from "../read/changed-files.ts";
import { LOG_ARGS } from "../read/commits.ts";
import { operationOf } from "../read/operation.ts";
import { currentBranch } from "../read/refs.ts";
import { counted, firstNames, notesFrom } from "../run/text.ts";
import { conflictFields } from "./conflicts.ts";
import { writeRaw } from "./raw-commits.ts";

/**
 * Keeps the state of the working tree and the index under a recovery ref, as a stash, so that `git stash apply` accepts it.
 *
 * @param files keep only these, tracked or not; by default all tracked files
 * @returns the ref; undefined if nothing differs from HEAD
 */
export async function keepWorktree(
  repository: Repository,
  operation: string,
  files?: readonly string[],
): Promise<string | undefined> {
  const [head, headTree] = await repository.lookUp(["HEAD^{commit}", "HEAD^{tree}"]);
  return inTemporaryIndex(async (env) => {
    await copyIndex(repository, env.GIT_INDEX_FILE);
    // The index unchanged; during a merge it cannot be written as a tree.
    const staged = await repository.run(["write-tree"], { env });
    const stagedTree = staged.code === 0 ? staged.stdout.toString("utf8").trim() : undefined;
    const which = files === undefined ? ["--update"] : ["--all", "--force"];
    const input = files === undefined ? ".\0" : await pathBytes(repository, files);
    // Without any path git would add everything.
    if (files?.length !== 0)
      await repository.output(["add", ...which, ...FROM_STDIN], "keep the files", { env, input });
    const tree = await repository.value(["write-tree"], "keep the working tree", { env });
    if (tree === headTree?.oid && (stagedTree === undefined || stagedTree === tree))
      return undefined;
    return keepTrees(repository, operation, tree, head?.oid, stagedTree);
  });
}

/** Creates the commits of a stash and its recovery ref. They are the server's own and don't need the user's identity. */
async function keepTrees(
  repository: Repository,
  operation: string,
  tree: string,
  head: string | undefined,
  index: string | undefined,
): Promise<string> {
  const author = `refmcp <refmcp@localhost> ${Math.floor(Date.now() / 1_000)} +0000`;
  const commit = {
    author,
    encoding: undefined,
    message: `refmcp: before ${operation}\n`,
    parent: head,
  };
  const merged = head && index && (await writeRaw(repository, { ...commit, tree: index }, author));
  return keep(
    repository,
    operation,
    await writeRaw(repository, { ...commit, tree, merged }, author),
  );
}

/** Keeps a commit under a new recovery ref. */
export async function keep(
  repository: Repository,
  operation: string,
  oid: string,
): Promise<string> {
  const time = new Date().toISOString().replace(/[-:]|\.\d+/g, "");
  const ref = `refs/refmcp/recovery/${time}-${operation}-${randomBytes(3).toString("hex")}`;
  await repository.output(
    ["update-ref", ref, oid, "0".repeat(oid.length)],
    "create a recovery ref",
  );
  return ref;
}

/** Keeps a commit while some work discards it; the ref goes again if that fails. */
export async function keeping<Value>(
  repository: Repository,
  operation: string,
  oid: string,
  work: (recovery: string) => Promise<Value>,
): Promise<{ recovery: string; value: Value }> {
  const recovery = await keep(repository, operation, oid);
  try {
    return { recovery, value: await work(recovery) };
  } catch (error) {
    await repository.undo(["update-ref", "-d", recovery]);
    throw error;
  }
}

/**
 * Keeps the commits that leaving a detached HEAD abandons.
 *
 * @param before the commit that HEAD was at
 * @param after the commit that it is at now
 * @returns undefined if nothing is lost
 */
export async function keepAbandoned(
  repository: Repository,
  before: string,
  after: string | undefined,
): Promise<{ recovery: string; note: string } | undefined> {
  const { count, list } = await commitsOnlyIn(
    repository,
    before,
    after === undefined ? [] : [after],
    {},
  );
  if (count === 0) return undefined;
  const search = ["--format=%(refname)", "--count=1", `--points-at=${before}`, "refs/refmcp/"];
  const [known] = await repository.lines(["for-each-ref", ...search], "search the recovery refs");
  const recovery = known ?? (await keep(repository, "checkout", before));
  const [are, them] = count === 1 ? ["is", "it"] : ["are", "them"];
  const note = `Left ${counted(count, "commit")} behind that ${are} on no branch${list}. git_create_branch with base_branch ${before} makes a branch of ${them}; ${recovery} keeps ${them} until then.`;
  return { recovery, note };
}

/** The notes on a new commit: the others', and whether it is on no branch. */
export async function notesOn(
  repository: Repository,
  commit: string,
  others: readonly string[] | undefined,
): Promise<string[] | undefined> {
  // An operation in progress returns to its branch by itself.
  const isKept =
    operationOf(repository) !== undefined || (await currentBranch(repository)) !== undefined;
  const hint = `HEAD is detached, so ${commit.slice(0, 10)} is on no branch. git_create_branch with base_branch ${commit} makes one, and git_checkout switches to it.`;
  return notesFrom(others, !isKept && hint);
}

/** What a destructive command did, and how to undo it. */
export const destroyed = z.object({
  done: z.string(),
  before: z.string().optional(),
  after: z.string().optional(),
  recovery: z.string().optional(),
  undo: z.string(),
  files: z.array(z.string()).optional(),
  count: z.number().optional(),
  conflicted: z.array(z.string()).optional(),
  ...conflictFields,
  notes: z.array(z.string()).optional(),
});
export type Destroyed = z.infer<typeof destroyed>;

/**
 * How many commits only `tip` has, and a list of the first subjects that begins with a colon, or is empty.
 *
 * @param others commits to compare with
 * @param refs also all branches and tags, except this branch: `main`, or a remote's, `origin/main`
 */
export async function commitsOnlyIn(
  repository: Repository,
  tip: string,
  others: readonly string[],
  refs?: { readonly except?: string },
): Promise<{ count: number; list: string }> {
  const except = refs?.except === undefined ? [] : [`--exclude=${refs.except}`];
  const rest = [
    ...others.map((oid) => `^${oid}`),
    ...(refs === undefined
      ? []
      : ["--not", ...except, "--branches", ...except, "--remotes", "--tags"]),
  ];
  const args = ["log", ...LOG_ARGS, "--format=%h %s", "--max-count=1001", tip, ...rest, "--"];
  const subjects = await repository.paths(args, "list the commits");
  const shown = subjects.slice(0, 5).map((subject) => `"${shortened(oneLine(subject), 60)}"`);
  const list = shown.length === 0 ? "" : `: ${shown.join(", ")}${subjects.length > 5 ? " …" : ""}`;
  return { count: subjects.length, list };
}

/** The first file names for a question, or nothing. */
export function namesOf(files: readonly string[]): string {
  return files.length === 0 ? "" : `: ${firstNames(files.map((file) => shortened(file, 100)))}`;
}

/** The first hundred files for a response, and the total. */
export function listOf(files: readonly string[]): { files: string[]; count: number } {
  return { files: files.slice(0, 100), count: files.length };
}
