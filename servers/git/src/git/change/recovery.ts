import { oneLine, shortened } from "@refmcp/boundary/answer";
import * as z from "zod";
import { currentBranch } from "../history/branch-names.ts";
import { RECOVERY } from "../history/reflog.ts";
import { pathBytes } from "../open/paths.ts";
import type { Repository } from "../open/repository.ts";
import { lookUp, shortId } from "../open/revisions.ts";
import { FROM_STDIN } from "../read/changes.ts";
import { LOG_PLAIN } from "../read/commits.ts";
import { operationOf } from "../read/operation.ts";
import { inIndexCopy } from "../read/temporary-index.ts";
import { counted, firstNames, notesFrom } from "../run/text.ts";

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
    const staged = await repository.run(["write-tree"], { env });
    const index = staged.code === 0 ? staged.stdout.toString("utf8").trim() : undefined;
    const which = files === undefined ? ["--update"] : ["--all", "--force"];
    const input = files === undefined ? ".\0" : await pathBytes(repository, files);
    // Without any path git would add everything.
    if (files?.length !== 0)
      await repository.output(["add", ...which, ...FROM_STDIN], "keep the files", { env, input });
    const tree = await repository.value(["write-tree"], "keep the working tree", { env });
    if (tree === headTree?.oid && (index === undefined || index === tree)) return undefined;
    const commitTree = (of: string, ...parents: (string | undefined)[]) =>
      repository.value(
        [
          ...["commit-tree", of, "-m", `refmcp: before ${operation}`],
          ...parents.flatMap((parent) => (parent === undefined ? [] : ["-p", parent])),
        ],
        "keep the working tree",
        { env: SERVER },
      );
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
  const others = after === undefined ? [] : [after];
  const { count, list } = await commitsOnlyIn(repository, before, others, {});
  if (count === 0) return undefined;
  const recovery = await keepCommit(repository, "checkout", before);
  const [are, them] = count === 1 ? ["is", "it"] : ["are", "them"];
  const note = `Left ${counted(count, "commit")} behind that ${are} on no branch${list}. git_create_branch with base_branch ${before} makes a branch of ${them}; git_reflog with ref recovery lists ${them} until then.`;
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
  const hint = `HEAD is detached, so ${shortId(commit)} is on no branch. git_create_branch with base_branch ${commit} makes one, and git_checkout switches to it.`;
  return notesFrom(others, !isKept && hint);
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
  const anyRef = ["--not", ...except, "--branches", ...except, "--remotes", "--tags"];
  const rest = [...others.map((oid) => `^${oid}`), ...(refs === undefined ? [] : anyRef)];
  const how = [...LOG_PLAIN, "--no-patch", "-z", "--format=%h %s", "--max-count=1001"];
  const subjects = await repository.paths(["log", ...how, tip, ...rest, "--"], "list the commits");
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
