import type { Repository } from "../open/repository.ts";
import { commitOf, commitsOf, lookUp, shortId } from "../open/revisions.ts";
import { LOG_PLAIN } from "../read/commits.ts";
import { failure } from "../run/errors.ts";
import { groups } from "../run/text.ts";

type Action = "pick" | "reword" | "squash" | "fixup" | "drop";

/** What becomes of a commit. */
interface Step {
  readonly oid: string;
  readonly action: Action;
  readonly message?: string | undefined;
}

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
  /** Name, e-mail and time of the author, which a rebase keeps. */
  readonly author: string;
}

/** The commits to rebase, oldest first, and what becomes of them. */
export interface Range {
  readonly commits: readonly BranchCommit[];
  /** The commit before the oldest; undefined if the history begins with it. */
  readonly upstream: string | undefined;
  /** The commit that the new ones follow; undefined if they begin the history. */
  readonly base: string | undefined;
  readonly todo: readonly Step[];
}

const MAX_COMMITS = 500;
const badSteps = (what: string) => failure("bad_steps", `${what}.`);
const isMeld = ({ action }: Step) => action === "squash" || action === "fixup";

/**
 * Finds the commits that steps are about: from the oldest named one to the tip, or those that `onto`
 * lacks.
 *
 * @throws ToolError `bad_steps`, `bad_message`, `merge_in_range`
 */
export async function rangeOf(
  repository: Repository,
  tip: string,
  query: StepsQuery,
): Promise<Range> {
  const steps = await stepsOf(repository, query);
  const onto = query.onto === undefined ? undefined : await commitOf(repository, query.onto);
  if (steps.length === 0 && onto === undefined)
    throw badSteps("There are no steps, and onto is missing");
  const listed = await newestFirst(repository, tip, onto);
  const places = steps.map(({ oid }) => listed.findIndex((commit) => commit.oid === oid));
  const missing = steps[places.indexOf(-1)]?.oid;
  if (missing !== undefined) {
    const where = `the last ${MAX_COMMITS} commits of the branch${onto === undefined ? "" : " that onto lacks"}`;
    throw badSteps(`${shortId(missing)} is not among ${where}`);
  }
  const inRange = onto === undefined ? listed.slice(0, Math.max(...places) + 1) : listed;
  if (inRange.length === 0) throw badSteps("The branch has no commit that onto lacks");
  if (inRange.length === MAX_COMMITS && onto !== undefined)
    throw badSteps("The branch has too many commits that onto lacks");
  const merge = inRange.find(({ parents }) => parents.length > 1);
  if (merge !== undefined) {
    const message = `The merge commit ${shortId(merge.oid)} is among the commits to rebase.`;
    throw failure("merge_in_range", message);
  }
  const commits = inRange.toReversed();
  const upstream = commits[0]?.parents[0];
  const todo = todoOf(
    commits.map(({ oid }) => oid),
    steps,
  );
  return { commits, upstream, base: onto ?? upstream, todo };
}

/** The steps with full ids. A first one that joins another commit is given that commit. */
async function stepsOf(repository: Repository, { steps }: StepsQuery): Promise<Step[]> {
  const oids = await commitsOf(
    repository,
    steps.map(({ commit }) => commit),
  );
  const all = steps.map(({ action, message }, index): Step => {
    return { oid: oids[index] ?? "", action, message };
  });
  for (const { oid, action, message = action === "reword" ? "" : "kept" } of all)
    if (message.trim() === "" || message.includes("\0"))
      throw failure("bad_message", `The step for ${shortId(oid)} has no valid message.`);
  const [first] = all;
  if (first !== undefined && isMeld(first)) {
    const [parent] = await lookUp(repository, [`${first.oid}^1`]);
    if (parent !== undefined) all.unshift({ oid: parent.oid, action: "pick" });
  }
  const twice = all.find(({ oid }, index) => all.findIndex((step) => step.oid === oid) !== index);
  if (twice !== undefined) throw badSteps(`${shortId(twice.oid)} has two steps`);
  return all;
}

async function newestFirst(
  repository: Repository,
  tip: string,
  onto: string | undefined,
): Promise<BranchCommit[]> {
  const where = onto === undefined ? ["--first-parent", tip] : ["--topo-order", tip, `^${onto}`];
  const fields = ["%H", "%P", "%T", "%an <%ae> %at", "%B"].join("%x00");
  const how = [...LOG_PLAIN, "--no-patch", "-z", `--max-count=${MAX_COMMITS}`];
  const args = ["log", ...how, `--format=${fields}`, ...where, "--"];
  const rows = groups(await repository.output(args, "list the commits"), 5);
  return rows.map(([oid = "", parents = "", tree = "", author = "", message = ""]) => {
    return { oid, parents: parents.split(" ").filter(Boolean), tree, author, message };
  });
}

/**
 * The steps in their order, if each commit has one. Otherwise commits stay in their places, with those
 * that join them.
 */
function todoOf(oids: readonly string[], steps: readonly Step[]): readonly Step[] {
  if (steps.length === oids.length) return steps;
  const heads = steps.filter((step) => !isMeld(step));
  const places = heads.map(({ oid }) => oids.indexOf(oid));
  const inOrder = [...places].sort((a, b) => a - b);
  const isJoined = (head: Step) => {
    const next = steps[steps.indexOf(head) + 1];
    return next !== undefined && isMeld(next);
  };
  const isMoved = (head: Step, index: number) =>
    head.action === "pick" && places[index] !== inOrder[index] && !isJoined(head);
  if (heads.some(isMoved)) throw badSteps("The steps reorder commits, but leave out some of them");
  return oids.flatMap((oid): readonly Step[] => {
    const at = steps.findIndex((step) => step.oid === oid);
    const head = steps[at];
    if (head === undefined) return [{ oid, action: "pick" }];
    if (isMeld(head)) return [];
    const end = steps.findIndex((step, index) => index > at && !isMeld(step));
    return steps.slice(at, end === -1 ? undefined : end);
  });
}

/** A new commit: what it is made from, and its message. */
export interface Group {
  readonly from: readonly BranchCommit[];
  readonly message: string;
}

/** The new commits, in order. @throws ToolError `bad_steps` */
export function groupsOf({ commits, todo }: Range): Group[] {
  const byId = new Map(commits.map((commit) => [commit.oid, commit]));
  const all: { from: BranchCommit[]; message: string }[] = [];
  for (const step of todo) {
    const commit = byId.get(step.oid);
    if (commit === undefined || step.action === "drop") continue;
    const { message } = step;
    if (!isMeld(step)) {
      all.push({ from: [commit], message: ended(message) ?? commit.message });
      continue;
    }
    const last = all.at(-1);
    if (last === undefined) throw badSteps(`${shortId(step.oid)} has no earlier commit to join`);
    last.from.push(commit);
    const joined = `${last.message.trimEnd()}\n\n${commit.message}`;
    last.message = ended(message) ?? (step.action === "squash" ? joined : last.message);
  }
  return all;
}

const ended = (message: string | undefined) => message && `${message.trimEnd()}\n`;

/**
 * The todo list for `git rebase --interactive`: picks and fixups, which open no editor. A new message
 * comes from an empty commit, as `git commit --fixup=reword` makes it.
 */
export async function todoText(repository: Repository, groups: readonly Group[]): Promise<string> {
  const lines: string[] = [];
  for (const { from, message } of groups) {
    const [first, ...others] = from;
    const last = from.at(-1);
    if (first === undefined || last === undefined) continue;
    lines.push(`pick ${first.oid}`, ...others.map(({ oid }) => `fixup ${oid}`));
    if (message === first.message) continue;
    const args = ["commit-tree", "-F", "-", "-p", last.oid, last.tree];
    const input = message;
    lines.push(`fixup -C ${await repository.value(args, "write the message", { input })}`);
  }
  return lines.length === 0 ? "noop\n" : `${lines.join("\n")}\n`;
}
