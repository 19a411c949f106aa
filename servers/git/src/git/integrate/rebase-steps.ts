import type { Repository } from "../open/repository.ts";
import { commitOf, commitsOf, shortId } from "../open/revisions.ts";
import { LOG_PLAIN } from "../read/commits.ts";
import { failure } from "../run/errors.ts";
import { groups } from "../run/text.ts";

type Action = "pick" | "reword" | "squash" | "fixup" | "drop";

export interface StepsQuery {
  readonly steps: readonly { commit: string; action: Action; message?: string | undefined }[];
  readonly onto?: string | undefined;
}

/** A commit of the branch. */
interface BranchCommit {
  readonly oid: string;
  readonly parents: readonly string[];
  readonly tree: string;
  readonly message: string;
}

/** The commits to rebase, and the todo list for `git rebase --interactive`. */
export interface Range {
  readonly count: number;
  /** The commit before the oldest; undefined if the history begins with it. */
  readonly upstream: string | undefined;
  /** The commit that the new ones follow; undefined if they begin the history. */
  readonly base: string | undefined;
  readonly todo: string;
}

const MAX_COMMITS = 500;
const badSteps = (what: string) => failure("bad_steps", `${what}.`);

/**
 * What steps do with the last commits of a branch, or with those that `onto` lacks: one step for each
 * commit; without steps all are picked.
 *
 * @throws ToolError `bad_steps`, `bad_message`, `merge_in_range`
 */
export async function rangeOf(
  repository: Repository,
  tip: string,
  { steps, onto: named }: StepsQuery,
): Promise<Range> {
  const onto = named === undefined ? undefined : await commitOf(repository, named);
  if (steps.length === 0 && onto === undefined)
    throw badSteps("There are no steps, and onto is missing");
  const count = onto === undefined ? steps.length : MAX_COMMITS;
  const commits = await lastCommits(repository, tip, onto, count);
  const names = steps.map(({ commit }) => commit);
  const oids = steps.length === 0 ? [...commits.keys()] : await commitsOf(repository, names);
  if (commits.size === 0) throw badSteps("The branch has no commit that onto lacks");
  if (new Set(oids).size !== commits.size || !oids.every((oid) => commits.has(oid))) {
    const which = onto === undefined ? "last commits" : "commits that onto lacks";
    throw badSteps(`The steps don't name each of the ${commits.size} ${which} of the branch once`);
  }
  const merge = [...commits.values()].find(({ parents }) => parents.length > 1);
  if (merge !== undefined)
    throw failure("merge_in_range", `${shortId(merge.oid)} is a merge commit.`);
  const upstream = [...commits.values()].at(0)?.parents[0];
  const orderedSteps = oids.map((oid, index) => {
    const { action = "pick", message } = steps[index] ?? {};
    if (message !== undefined || action === "reword") refuseMessage(oid, message ?? "");
    return { commit: commits.get(oid) as BranchCommit, action, message };
  });
  const todo = await todoOf(
    repository,
    orderedSteps.filter(({ action }) => action !== "drop"),
  );
  if (todo === "" && (onto ?? upstream) === undefined)
    throw badSteps("No commit would be left on the branch");
  return { count: commits.size, upstream, base: onto ?? upstream, todo: todo || "noop\n" };
}

function refuseMessage(oid: string, message: string): void {
  if (message.trim() === "" || message.includes("\0"))
    throw failure("bad_message", `The step for ${shortId(oid)} has no valid message.`);
}

/** The commits by their ids, oldest first. */
async function lastCommits(
  repository: Repository,
  tip: string,
  onto: string | undefined,
  count: number,
): Promise<Map<string, BranchCommit>> {
  const where = onto === undefined ? ["--first-parent", tip] : ["--topo-order", tip, `^${onto}`];
  const how = [...LOG_PLAIN, "--no-patch", "-z", `--max-count=${count}`];
  const args = ["log", ...how, "--format=%H%x00%P%x00%T%x00%B", ...where, "--"];
  const rows = groups(await repository.output(args, "list the commits"), 4).reverse();
  return new Map(
    rows.map(([oid = "", parents = "", tree = "", message = ""]) => {
      return [oid, { oid, parents: parents.split(" ").filter(Boolean), tree, message }];
    }),
  );
}

interface Step {
  readonly commit: BranchCommit;
  readonly action: Action;
  readonly message: string | undefined;
}

/**
 * Picks and fixups, which open no editor. A new message comes from an empty commit, as `git commit
 * --fixup=reword` makes it.
 */
async function todoOf(repository: Repository, steps: readonly Step[]): Promise<string> {
  const lines: string[] = [];
  let whole = "";
  for (const [index, { commit, action, message }] of steps.entries()) {
    const isJoined = action === "squash" || action === "fixup";
    if (isJoined && index === 0)
      throw badSteps(`${shortId(commit.oid)} has no earlier commit to join`);
    lines.push(`${isJoined ? "fixup" : "pick"} ${commit.oid}`);
    const joined = `${whole.trimEnd()}\n\n${commit.message}`;
    const usual = action === "squash" ? joined : action === "fixup" ? whole : commit.message;
    whole = message ?? usual;
    if (message === undefined && action !== "squash") continue;
    const args = ["commit-tree", "-F", "-", "-p", commit.oid, commit.tree];
    const input = `${whole.trimEnd()}\n`;
    lines.push(`fixup -C ${await repository.value(args, "write the message", { input })}`);
  }
  return lines.map((line) => `${line}\n`).join("");
}
