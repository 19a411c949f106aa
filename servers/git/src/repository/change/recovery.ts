import { randomBytes } from "node:crypto";
import { join } from "node:path";
import { pathBytes } from "../open/paths.ts";
import type { Repository } from "../open/repository.ts";
import { currentBranch } from "../read/branches.ts";
import { copyIndex, inTemporaryFolder } from "../read/changed-files.ts";
import { operationOf } from "../read/status.ts";
import { counted } from "../run/text.ts";
import { commitsOnlyIn } from "./confirm-loss.ts";

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
  return inTemporaryFolder(async (folder) => {
    const index = join(folder, "index");
    await copyIndex(repository, index);
    const env = { GIT_INDEX_FILE: index };
    // The index unchanged; during a merge it cannot be written as a tree.
    const staged = await repository.run(["write-tree"], { env });
    const stagedTree = staged.code === 0 ? staged.stdout.toString("utf8").trim() : undefined;
    const which = files === undefined ? ["--update"] : ["--all", "--force"];
    const input = files === undefined ? ".\0" : await pathBytes(repository, files);
    const add = ["add", ...which, "--pathspec-from-file=-", "--pathspec-file-nul"];
    // Without any path git would add everything.
    if (files?.length !== 0) await repository.output(add, "keep the files", { env, input });
    const written = await repository.output(["write-tree"], "keep the working tree", { env });
    const tree = written.toString("utf8").trim();
    if (tree === headTree?.oid && (stagedTree === undefined || stagedTree === tree)) return undefined;
    return keepTrees(repository, operation, tree, { head: head?.oid, index: stagedTree });
  });
}

/** Creates the commits of a stash and its recovery ref, in one process. */
async function keepTrees(
  repository: Repository,
  operation: string,
  tree: string,
  { head, index }: { head: string | undefined; index: string | undefined },
): Promise<string> {
  const ref = newRef(operation);
  const message = `refmcp: before ${operation}\n`;
  // The server's own commits; they don't need the user's identity.
  const commit = (mark: number, below: readonly string[], content: string) => [
    `commit ${ref}`,
    `mark :${mark}`,
    `committer refmcp <refmcp@localhost> ${Math.floor(Date.now() / 1_000)} +0000`,
    `data ${message.length}\n${message}${below.join("\n")}`,
    `M 040000 ${content} ""\n`,
  ];
  const from = head === undefined ? [] : [`from ${head}`];
  const stream =
    index === undefined || head === undefined
      ? commit(1, from, tree)
      : [...commit(2, from, index), `reset ${ref}\n`, ...commit(1, [...from, "merge :2"], tree)];
  const input = `${stream.join("\n")}\ndone\n`;
  await repository.output(["fast-import", "--quiet", "--force", "--done"], "create a recovery ref", {
    input,
  });
  return ref;
}

/** Keeps a commit under a new recovery ref. */
export async function keep(repository: Repository, operation: string, oid: string): Promise<string> {
  const ref = newRef(operation);
  await repository.output(["update-ref", ref, oid, "0".repeat(oid.length)], "create a recovery ref");
  return ref;
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
  const { count, list } = await commitsOnlyIn(repository, before, after === undefined ? [] : [after], {});
  if (count === 0) return undefined;
  const search = [
    "for-each-ref",
    "--format=%(refname)",
    "--count=1",
    `--points-at=${before}`,
    "refs/refmcp/",
  ];
  const [known] = await repository.lines(search, "search the recovery refs");
  const recovery = known ?? (await keep(repository, "checkout", before));
  const note = `Left ${counted(count, "commit")} behind that ${count === 1 ? "is" : "are"} on no branch${list}. git_create_branch with base_branch ${before} makes a branch of ${count === 1 ? "it" : "them"}; ${recovery} keeps ${count === 1 ? "it" : "them"} until then.`;
  return { recovery, note };
}

/** The notes on a new commit: the others', and whether it is on no branch. */
export async function notesOn(
  repository: Repository,
  commit: string,
  others: readonly string[] = [],
): Promise<string[] | undefined> {
  // An operation in progress returns to its branch by itself.
  const isKept = operationOf(repository) !== undefined || (await currentBranch(repository)) !== undefined;
  const hint = `HEAD is detached, so ${commit.slice(0, 10)} is on no branch. git_create_branch with base_branch ${commit} makes one, and git_checkout switches to it.`;
  const notes = [...others, ...(isKept ? [] : [hint])];
  return notes.length === 0 ? undefined : notes;
}

function newRef(operation: string): string {
  const time = new Date().toISOString().replace(/[-:]|\.\d+/g, "");
  return `refs/refmcp/recovery/${time}-${operation}-${randomBytes(3).toString("hex")}`;
}
