import * as z from "zod";
import type { Budget, Caller, Repository } from "../open/repository.ts";
import { checked, commitOf, commitsOf, headOf, lookUp } from "../open/revisions.ts";
import { changesOf, differing, fileNames } from "../read/changes.ts";
import { refuseFilters } from "../read/filters.ts";
import { checkRefText, currentBranch } from "../read/refs.ts";
import { refuseOperation } from "../read/status.ts";
import { failureOf } from "../run/errors.ts";
import { countOf, notesFrom } from "../run/text.ts";
import { decideHooks, HOOKS } from "./hooks.ts";
import { commitsOnlyIn, keepBefore, keepCommit } from "./recovery.ts";

export async function createBranch(
  repository: Repository,
  { branch_name: branch, base_branch }: { branch_name: string; base_branch?: string | undefined },
) {
  checkRefText("heads", branch);
  const commit = await commitOf(repository, base_branch ?? "HEAD");
  const base = base_branch ?? (await currentBranch(repository)) ?? commit;
  await repository.output(["branch", "--no-track", branch, commit], "create the branch");
  return { branch, commit, base };
}

/** Creates a tag: annotated with a message, lightweight without one. */
export async function createTag(
  repository: Repository,
  query: { tag_name: string; revision: string; message?: string | undefined },
) {
  const { tag_name: tag, revision, message = "" } = query;
  checkRefText("tags", tag);
  const commit = await commitOf(repository, revision);
  const annotated = message.trim() !== "";
  const how = annotated ? ["--annotate", "--file=-", "--cleanup=whitespace"] : [];
  const options = annotated ? { input: message } : {};
  await repository.output(["tag", "--no-sign", ...how, tag, commit], "create the tag", options);
  return { tag, commit, annotated };
}

export const switched = z.object({
  branch: z.string().optional(),
  commit: z.string().optional(),
  before: z.object({ branch: z.string().optional(), commit: z.string().optional() }).optional(),
  /** The remote branch that a new local one was created from. */
  tracks: z.string().optional(),
  notes: z.array(z.string()).optional(),
});

/**
 * Switches to a branch, to a remote's branch (making a local one that tracks it), to a new branch, or
 * to a commit (detached).
 */
export async function checkout(
  repository: Repository,
  query: { branch_name: string; create?: boolean; base_branch?: string | undefined },
  caller: Caller,
): Promise<z.infer<typeof switched>> {
  await repository.worktree();
  const { branch_name: name, create, base_branch } = query;
  const existing = create ? "HEAD" : `refs/heads/${checked(name)}`;
  const [head, local] = await lookUp(repository, ["HEAD^{commit}", existing]);
  const from = head?.oid;
  const before = { branch: await currentBranch(repository), commit: from };
  const plan = create
    ? await planOfNew(repository, name, base_branch, from)
    : await planOf(repository, name, /[~^:{]/.test(name) ? undefined : local?.oid);
  const { args, commit: target, tracks } = plan;
  if (from !== undefined && target !== undefined)
    await refuseFilters(repository, () => differing(repository, from, target), target);
  const hooks = await decideHooks(repository, HOOKS.checkout, caller);
  const { config, env } = hooks;
  const how = ["--quiet", "--no-guess", "--no-overwrite-ignore", "--no-recurse-submodules"];
  const result = await repository.run(["switch", ...how, ...args], { config, env });
  // A hook may have moved on from there.
  const commit = config.length > 0 ? await headOf(repository) : target;
  // The exit code may be that of post-checkout, which runs after the switch.
  const isByHook =
    config.length > 0 && commit === target && !/^(fatal|error): /m.test(result.stderr);
  if (result.code !== 0 && !isByHook) throw failureOf(result, "switch");
  const branch = await currentBranch(repository);
  const notes = notesFrom(
    branch === undefined && "HEAD is detached: commits made here are on no branch.",
    hooks.notes,
    result.code !== 0 && `A hook failed with exit code ${result.code}.`,
  );
  return { branch, commit, before, tracks, notes };
}

/**
 * Moves the current branch to a commit and leaves the files unchanged. `soft` leaves the index too, so
 * that everything since that commit is staged; `mixed` resets it. Commits and index are kept.
 *
 * @throws ToolError `operation_in_progress`, `bad_revision`
 */
export async function moveBranch(
  repository: Repository,
  { revision, mode }: { revision: string; mode: "soft" | "mixed" },
  { budget }: Budget,
) {
  await repository.worktree();
  refuseOperation(repository);
  const [before = "", after = ""] = await commitsOf(repository, ["HEAD", revision]);
  const loss = await commitsOnlyIn(repository, before, [after]);
  const snapshot = mode === "mixed" ? await keepBefore(repository, "reset") : undefined;
  const recovery = snapshot ?? (await keepCommit(repository, "reset", before));
  await repository.output(["reset", "--quiet", `--${mode}`, after], "reset");
  const files = await changesOf(repository, mode === "soft" ? ["--cached"] : [after]);
  const index =
    snapshot && `; git_restore with source ${snapshot}^2 and staged true restores the index`;
  return {
    ...fileNames(files, budget - 1_500),
    recovery,
    notes: [`Left the branch: ${countOf(loss.count, "commit")}${loss.list}.`],
    undo: `git_reset with revision ${before} and mode soft${index ?? ""}`,
  };
}

/** Arguments for `git switch`, and the commit; every name was found as a ref, and none can look like an option. */
interface Plan {
  readonly args: readonly string[];
  readonly commit: string | undefined;
  readonly tracks?: string;
}

async function planOf(repository: Repository, target: string, local?: string): Promise<Plan> {
  if (local !== undefined) return { args: [target], commit: local };
  const list = ["for-each-ref", "--format=%(refname:lstrip=2)", `refs/remotes/*/${target}`];
  const [remote, another] = await repository.lines(list, "list the remote branches");
  if (remote === undefined || another !== undefined) {
    const commit = await commitOf(repository, target);
    return { args: ["--detach", commit], commit };
  }
  checkRefText("heads", target);
  const ref = `refs/remotes/${remote}`;
  const args = [`--create=${target}`, "--track=direct", ref];
  return { args, commit: await commitOf(repository, ref), tracks: remote };
}

async function planOfNew(
  repository: Repository,
  name: string,
  base = "HEAD",
  head?: string,
): Promise<Plan> {
  checkRefText("heads", name);
  if (head === undefined && base === "HEAD")
    return { args: [`--create=${name}`], commit: undefined };
  const commit = await commitOf(repository, base);
  return { args: ["--no-track", `--create=${name}`, commit], commit };
}
