import { createHash } from "node:crypto";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { clip, fitting, oneLine } from "@refmcp/boundary/answer";
import * as z from "zod";
import { differing, refuseFilters } from "../open/filters.ts";
import type { Caller, Machine, Repository } from "../open/repository.ts";
import { commitOf, commitsOf } from "../open/revisions.ts";
import { changesOf, fileLine, inTemporaryFolder } from "../read/changed-files.ts";
import { compareRanges } from "../read/range-diff.ts";
import { currentBranch } from "../read/refs.ts";
import { emptyTree } from "../read/show.ts";
import { badRevision, failure, failureOf } from "../run/errors.ts";
import { counted, fittingLines, pathText, records, textOf } from "../run/text.ts";
import { conflictFields, describeConflicts, mergedPieces, parseStages, type Unmerged } from "./conflicts.ts";
import { decideHooks, HOOKS, hookFailure, presentHooks } from "./hooks.ts";
import { refuseOperation } from "./integrate.ts";
import {
  bytesOf,
  commitWriter,
  inUtf8,
  type RawCommit,
  type ReadCommit,
  readCommits,
  writeRaw,
} from "./raw-commits.ts";
import { keep } from "./recovery.ts";

interface Step {
  readonly commit: string;
  readonly action: "pick" | "reword" | "squash" | "fixup" | "drop";
  readonly message?: string | undefined;
}

/** How a conflict is solved: one side, a text for each hunk, or the whole file. */
interface Resolution {
  readonly commit: string;
  readonly path: string;
  readonly side?: "ours" | "theirs" | undefined;
  readonly hunks?: readonly string[] | undefined;
  readonly content?: string | undefined;
}

interface RewriteQuery {
  readonly branch_name?: string | undefined;
  readonly steps: readonly Step[];
  readonly onto?: string | undefined;
  readonly resolutions: readonly Resolution[];
  readonly apply?: string | undefined;
  readonly skip_hooks: boolean;
}

export const rewritten = z.object({
  branch: z.string(),
  before: z.string(),
  /** The new last commit; omitted if there are conflicts. */
  after: z.string().optional(),
  /** Whether the branch has been moved there. */
  applied: z.boolean(),
  /** Pass it as apply to move the branch. */
  plan: z.string().optional(),
  /** New commits, oldest first, and what each was made from. Dropped and empty ones have no `to`. */
  commits: z
    .array(z.object({ from: z.array(z.string()), to: z.string().optional(), subject: z.string() }))
    .optional(),
  left_out: z.number().optional(),
  /** Whether the files of the last commit are the same as before. */
  identical: z.boolean().optional(),
  /** If not: what differs, as `+added -deleted path`. */
  difference: z.array(z.string()).optional(),
  range_diff: z.string().optional(),
  ...conflictFields,
  recovery: z.string().optional(),
  undo: z.string().optional(),
  notes: z.array(z.string()).optional(),
});
type Rewritten = z.infer<typeof rewritten>;

/** What a preview found, and exactly what applying it does. */
interface Plan {
  readonly repository: string;
  readonly branch: string;
  readonly before: string;
  readonly after: string;
  /** Old and new ids. */
  readonly pairs: readonly (readonly [from: string, to: string])[];
}

const MAX_COMMITS = 500;
const MAX_PLANS = 100;
const MAX_COMPARED = 200;
const plans = new WeakMap<Machine, Map<string, Plan>>();

/**
 * Rewrites the commits of a branch: reorders, rewords, combines, drops or moves them. A first call only creates the new
 * commits, which nothing refers to, and describes them; a second one with its plan moves the branch.
 *
 * @throws ToolError `bad_steps`, `bad_resolution`, `merge_in_range`, `stale_plan`, `local_changes`, `hook_needed` …
 */
export async function rewrite(
  repository: Repository,
  query: RewriteQuery,
  caller: Caller,
): Promise<Rewritten> {
  if (query.apply !== undefined) return applyPlan(repository, query.apply);
  const branch = query.branch_name ?? (await currentBranch(repository));
  if (branch === undefined)
    throw failure("detached_head", "HEAD is detached, so there is no branch to rewrite.");
  if (branch.startsWith("-") || /[\0\n\r]|@\{/.test(branch)) throw badRevision(branch);
  const before = await commitOf(repository, `refs/heads/${branch}`);
  const range = await rangeOf(repository, before, query);
  const { commits, oids } = range;
  const { groups, stopped, unused } = await replay(repository, range, query, caller);
  const answer = { branch, before, applied: false };
  const published = await publishedIn(repository, before, commits.get(oids[0] ?? "")?.parent, oids);
  if (stopped !== undefined) {
    const conflicts = await describeConflicts(repository, stopped.unmerged, Math.floor(caller.budget * 0.8));
    const subject = subjectOf(stopped.commit);
    const { oid: commit } = stopped.commit;
    const hint = `Nothing was changed. Call again with resolutions for ${commit.slice(0, 10)}: for each path a side, hunks (one text for each conflict) or content.`;
    const applying = { commit, subject, step: stopped.step, steps: stopped.steps };
    return { ...answer, conflicts, applying, notes: [hint] };
  }
  const changed = groups.filter(({ message, from }) => message !== commits.get(from[0] ?? "")?.message);
  const hookNotes = await checkMessages(repository, changed, query, caller);
  const { signs, write } = await commitWriter(repository);
  const list: { from: string[]; to: string | undefined; subject: string }[] = [];
  let parent = range.base;
  let tree = parent === undefined ? emptyTree(before) : (commits.get(parent)?.tree ?? "");
  let lostSignatures = 0;
  for (const group of groups) {
    const [first = before] = group.from;
    const original = commits.get(first);
    const isKept =
      group.from.length === 1 &&
      original?.parent === parent &&
      original?.tree === group.tree &&
      original.message === group.message;
    const isEmpty = group.tree === tree && !group.wasEmpty;
    const to = isKept ? first : isEmpty ? undefined : await write({ ...group, parent });
    list.push({ from: group.from, to, subject: subjectOf(group) });
    if (!isKept && commits.get(first)?.isSigned) lostSignatures += 1;
    if (to === undefined) continue;
    parent = to;
    tree = group.tree;
  }
  if (parent === undefined) throw badSteps("No commit would be left on the branch");
  const after = parent;
  const listed = new Set(list.flatMap(({ from }) => from));
  const dropped = oids.filter((oid) => !listed.has(oid));
  const kept = oids.findIndex((oid, index) => list[index]?.to !== oid || list[index]?.from.length !== 1);
  const rewrittenOids = kept === -1 ? [] : oids.slice(kept);
  const warned = rewrittenOids.filter((oid) => published.has(oid)).length;
  const notes = [
    ...(dropped.length === 0 ? [] : [`Dropped: ${dropped.map((oid) => oid.slice(0, 10)).join(", ")}.`]),
    ...list
      .filter(({ to }) => to === undefined)
      .map(({ from }) => `${from[0]?.slice(0, 10)} becomes empty and is left out.`),
    ...(warned === 0
      ? []
      : [
          `Already published on a remote branch: ${counted(warned, "of these commits", "of these commits")}. Pushing the new ones needs force, and others who have the old ones must rebase.`,
        ]),
    ...(lostSignatures === 0
      ? []
      : [
          `${counted(lostSignatures, "signature")} ${signs ? "replaced by yours" : "dropped: the new commits are not signed"}.`,
        ]),
    ...(unused.length === 0 ? [] : [`Resolutions that met no conflict: ${unused.map(oneLine).join(", ")}.`]),
    ...hookNotes,
  ];
  const { files } = await changesOf(repository, [before, after]);
  const old = commits.get(oids[kept] ?? "")?.parent;
  const base = kept === 0 ? range.base : old;
  const range_diff =
    rewrittenOids.length === 0 || rewrittenOids.length > MAX_COMPARED
      ? undefined
      : await compared(repository, [old, before], [base, after], Math.floor(caller.budget * 0.45));
  const shown = list.map(({ from, to, subject }) => ({
    from: from.map((oid) => oid.slice(0, 10)),
    to: to?.slice(0, 10),
    subject,
  }));
  const fit = fitting(shown, Math.floor(caller.budget * 0.3));
  const pairs = list.flatMap(({ from, to }) =>
    from.flatMap((oid) => (to === undefined ? [] : [[oid, to] as const])),
  );
  const plan = { repository: repository.location.commonDir, branch, before, after, pairs };
  return {
    ...answer,
    after,
    plan: after === before ? undefined : remember(repository, plan),
    commits: shown.slice(0, fit),
    left_out: shown.length > fit ? shown.length - fit : undefined,
    identical: files.length === 0,
    difference:
      files.length === 0
        ? undefined
        : fittingLines(
            files.map((file) => clip(fileLine(file), 300)),
            Math.floor(caller.budget * 0.15),
          ),
    range_diff,
    notes: notes.length === 0 ? undefined : notes,
  };
}

/** The commits to rewrite, oldest first, and the one that they will follow. */
interface Range {
  readonly oids: readonly string[];
  /** Undefined if the new history begins with a commit without parents. */
  readonly base: string | undefined;
  readonly todo: readonly { oid: string; action: Step["action"]; message?: string | undefined }[];
  /** Those in the range, and the ones before them. */
  readonly commits: ReadonlyMap<string, ReadCommit>;
}

async function rangeOf(repository: Repository, tip: string, query: RewriteQuery): Promise<Range> {
  const isMeld = ({ action }: { action: Step["action"] }) => action === "squash" || action === "fixup";
  const found = await commitsOf(
    repository,
    query.steps.map(({ commit }) => commit),
  );
  const steps = query.steps.map(({ action, message }, index) => ({
    oid: found[index] ?? "",
    action,
    message,
  }));
  for (const { oid, action, message } of steps)
    if (message?.includes("\0") || (message ?? (action === "reword" ? "" : "x")).trim() === "")
      throw failure("bad_message", `The step for ${oid.slice(0, 10)} has no valid message.`);
  const [first] = steps;
  if (first !== undefined && isMeld(first)) {
    // It is combined with the commit before it.
    const [before] = await repository.lookUp([`${first.oid}^{commit}^1`]);
    if (before !== undefined) steps.unshift({ oid: before.oid, action: "pick", message: undefined });
  }
  const named = steps.map(({ oid }) => oid);
  const twice = named.find((oid, index) => named.indexOf(oid) !== index);
  if (twice !== undefined) throw badSteps(`${twice.slice(0, 10)} has two steps`);
  const onto = query.onto === undefined ? undefined : await commitOf(repository, query.onto);
  if (steps.length === 0 && onto === undefined) throw badSteps("There are no steps, and onto is missing");
  const where = onto === undefined ? ["--first-parent", tip] : ["--topo-order", tip, `^${onto}`];
  const args = ["rev-list", "--parents", `--max-count=${MAX_COMMITS + 1}`, ...where, "--"];
  const lines = (await repository.lines(args, "list the commits")).map((line) => line.split(" "));
  const at = named.map((oid) => lines.findIndex(([listed]) => listed === oid));
  const missing = named[at.indexOf(-1)];
  if (missing !== undefined)
    throw badSteps(
      `${missing.slice(0, 10)} is not ${onto === undefined ? `among the last ${MAX_COMMITS} commits of the branch` : "a commit that onto lacks"}`,
    );
  const inRange = onto === undefined ? lines.slice(0, Math.max(...at) + 1) : lines;
  if (inRange.length === 0) throw badSteps("The branch has no commit that onto lacks");
  if (inRange.length > MAX_COMMITS) {
    const hint = "Choose a later commit, or git_rebase for a long branch.";
    throw failure("too_large", `More than ${MAX_COMMITS} commits would be rewritten.`, { hint });
  }
  const merge = inRange.find(([, ...parents]) => parents.length > 1)?.[0];
  if (merge !== undefined)
    throw failure(
      "merge_in_range",
      `The merge commit ${merge.slice(0, 10)} is among the commits to rewrite.`,
    );
  const oids = inRange.map(([oid = ""]) => oid).reverse();
  const inside = await readCommits(repository, oids);
  const oldest = inside.get(oids[0] ?? "")?.parent;
  const around = [oldest, onto].filter((oid) => oid !== undefined);
  const commits = new Map([...inside, ...(await readCommits(repository, around))]);
  const groups: (typeof steps)[] = [];
  for (const step of steps) {
    const last = groups.at(-1);
    if (last !== undefined && isMeld(step)) last.push(step);
    else groups.push([step]);
  }
  if (steps.length === oids.length) return { oids, base: onto ?? oldest, todo: steps, commits };
  // Not all commits have a step, so each stays where it is, with those that are combined with it.
  const places = groups.map(([head]) => oids.indexOf(head?.oid ?? ""));
  const isMoved = groups.some(
    ([head, meld], index) =>
      head?.action === "pick" &&
      meld === undefined &&
      places[index] !== [...places].sort((a, b) => a - b)[index],
  );
  if (isMoved) throw badSteps("The steps reorder commits, but leave out some of them");
  const todo = oids.flatMap((oid, index) => {
    const group = groups[places.indexOf(index)];
    return group ?? (named.includes(oid) ? [] : [{ oid, action: "pick" as const, message: undefined }]);
  });
  return { oids, base: onto ?? oldest, todo, commits };
}

/** A new commit. Its author is that of the first commit it is made from. */
interface Group extends RawCommit {
  readonly from: string[];
  readonly wasEmpty: boolean;
}

interface Stop {
  readonly commit: ReadCommit;
  readonly unmerged: readonly Unmerged[];
  readonly step: number;
  readonly steps: number;
}

/** Computes the trees of all new commits, up to a conflict that has no resolution. */
async function replay(
  repository: Repository,
  { todo, base, commits }: Range,
  query: RewriteQuery,
  caller: Caller,
): Promise<{ groups: Group[]; stopped?: Stop; unused: string[] }> {
  const named = await commitsOf(
    repository,
    query.resolutions.map(({ commit }) => commit),
  );
  const resolutions = query.resolutions.map((resolution, index) => ({
    ...resolution,
    commit: named[index] ?? "",
  }));
  const unused = new Set(resolutions);
  const groups: Group[] = [];
  const empty = emptyTree(todo[0]?.oid ?? "");
  let tree = base === undefined ? empty : (commits.get(base)?.tree ?? empty);
  for (const [index, { oid, action, message }] of todo.entries()) {
    if (action === "drop") continue;
    const commit = commits.get(oid);
    if (commit === undefined) throw new TypeError(`no commit ${oid}`);
    const parentTree = commit.parent === undefined ? empty : (commits.get(commit.parent)?.tree ?? empty);
    caller.progress(index, todo.length, "applying commits");
    let merged = await applied(repository, tree, commit, parentTree);
    if (merged.unmerged.length > 0) {
      const mine = resolutions.filter((resolution) => resolution.commit === oid);
      const solved = await resolve(repository, merged, mine);
      for (const { resolution } of solved.used) unused.delete(resolution);
      merged = solved;
    }
    if (merged.unmerged.length > 0) {
      const stopped = { commit, unmerged: merged.unmerged, step: index + 1, steps: todo.length };
      return { groups, stopped, unused: [] };
    }
    tree = merged.tree;
    const given =
      message === undefined ? undefined : bytesOf(message.endsWith("\n") ? message : `${message}\n`);
    const last = groups.at(-1);
    if (action === "pick" || action === "reword") {
      const own = given === undefined ? commit : inUtf8(commit);
      const { author, encoding } = own;
      groups.push({
        from: [oid],
        parent: undefined,
        author,
        encoding,
        tree,
        message: given ?? own.message,
        wasEmpty: commit.tree === parentTree,
      });
    } else {
      if (last === undefined) throw badSteps(`There is no commit to combine ${oid.slice(0, 10)} with`);
      const joined = action === "squash" || given !== undefined ? inUtf8(last) : last;
      const both = `${joined.message.trimEnd()}\n\n${inUtf8(commit).message}`;
      const text = given ?? (action === "squash" ? both : joined.message);
      groups[groups.length - 1] = { ...joined, from: [...last.from, oid], tree, message: text };
    }
  }
  return { groups, unused: [...unused].map(({ path }) => path) };
}

interface Merged {
  readonly tree: string;
  readonly unmerged: readonly Unmerged[];
}

/** Applies the change of a commit to a tree, without any working tree: a merge whose base is the commit's parent. */
async function applied(
  repository: Repository,
  tree: string,
  commit: ReadCommit,
  parentTree: string,
): Promise<Merged> {
  if (tree === parentTree || tree === commit.tree) return { tree: commit.tree, unmerged: [] };
  if (commit.tree === parentTree) return { tree, unmerged: [] };
  // git 2.38 and 2.39 have no --merge-base, so our side is a commit with the same parent.
  const nobody = "refmcp <refmcp@localhost> 0 +0000";
  const { parent, oid } = commit;
  const ours = await writeRaw(
    repository,
    { tree, parent, author: nobody, encoding: undefined, message: "" },
    nobody,
  );
  const root = parent === undefined && "--allow-unrelated-histories";
  const args = ["merge-tree", "--write-tree", "-z", "--no-messages", root, ours, oid];
  const result = await repository.run(args);
  if (result.code === 129)
    throw failure("git_outdated", "This needs git 2.38 or newer.", {
      hint: "git_rebase and git_cherry_pick work with older versions.",
    });
  if (result.code > 1) throw failureOf(result, "apply a commit");
  const [first, ...stages] = records(result.stdout);
  return { tree: first?.toString("latin1") ?? "", unmerged: result.code === 0 ? [] : parseStages(stages) };
}

/** Puts resolutions into a tree with conflicts; `unmerged` are those without one. */
async function resolve(
  repository: Repository,
  { tree, unmerged }: Merged,
  resolutions: readonly Resolution[],
) {
  const open: Unmerged[] = [];
  const used: { resolution: Resolution; entry: Buffer }[] = [];
  for (const conflict of unmerged) {
    const resolution = resolutions.find(({ path }) => path === pathText(conflict.path));
    if (resolution === undefined) open.push(conflict);
    else used.push({ resolution, entry: await entryOf(repository, conflict, resolution) });
  }
  if (open.length > 0) return { tree, unmerged: open, used };
  const written = await inTemporaryFolder(async (folder) => {
    const env = { GIT_INDEX_FILE: join(folder, "index") };
    const doing = "write the resolved tree";
    await repository.output(["read-tree", tree], doing, { env });
    const input = Buffer.concat(used.map(({ entry }) => entry));
    await repository.output(["update-index", "-z", "--index-info"], doing, { env, input });
    return repository.output(["write-tree"], doing, { env });
  });
  return { tree: written.toString("latin1").trim(), unmerged: open, used };
}

/** A line for `update-index --index-info`, with the resolved content of a path. */
async function entryOf(
  repository: Repository,
  { path, sides }: Unmerged,
  resolution: Resolution,
): Promise<Buffer> {
  const { side, hunks, content } = resolution;
  const entry = (version = { mode: "0", oid: "0".repeat(40) }) =>
    Buffer.concat([Buffer.from(`${version.mode} ${version.oid}\t`), path, Buffer.of(0)]);
  const bad = (what: string) =>
    failure("bad_resolution", `The resolution of ${oneLine(pathText(path))} ${what}.`);
  if ([side, hunks, content].filter((one) => one !== undefined).length !== 1)
    throw bad("needs exactly one of side, hunks and content");
  if (side !== undefined) return entry(sides[side]);
  const { mode = "100644" } = sides.ours ?? sides.theirs ?? sides.base ?? {};
  let text = bytesOf(content ?? "");
  if (hunks !== undefined) {
    const pieces = (await mergedPieces(repository, sides)) ?? [];
    const count = pieces.filter((piece) => typeof piece !== "string").length;
    if (count !== hunks.length || count === 0)
      throw bad(`has ${counted(hunks.length, "hunk")}, but the conflict has ${count}`);
    let next = 0;
    text = pieces.map((piece) => (typeof piece === "string" ? piece : ended(hunks[next++] ?? ""))).join("");
  }
  if (mode === "160000") throw bad("is of a submodule, so it needs a side");
  const input = Buffer.from(text, "latin1");
  const oid = await repository.output(["hash-object", "-w", "--stdin"], "write a file", { input });
  return entry({ mode, oid: oid.toString("latin1").trim() });
}

/** The bytes of some lines, the last of which ends too. */
const ended = (lines: string): string => bytesOf(lines === "" || lines.endsWith("\n") ? lines : `${lines}\n`);

/** Lets the commit-msg hook check and change new messages, if hooks run; returns notes. */
async function checkMessages(
  repository: Repository,
  groups: readonly Group[],
  { skip_hooks }: RewriteQuery,
  caller: Caller,
): Promise<string[]> {
  const others = (await presentHooks(repository, HOOKS.rewrite))?.names ?? [];
  const notes =
    others.length === 0
      ? []
      : [`Did not run the hooks ${others.join(", ")}: a rewrite runs only commit-msg.`];
  if (groups.length === 0) return notes;
  const hooks = await decideHooks(repository, ["commit-msg"], caller, skip_hooks);
  if (hooks.config.length > 0)
    for (const group of groups)
      await inTemporaryFolder(async (folder) => {
        const file = join(folder, "COMMIT_EDITMSG");
        await writeFile(file, group.message, "latin1");
        const { config, env } = hooks;
        const result = await repository.run(["hook", "run", "commit-msg", "--", file], { config, env });
        if (result.code !== 0) throw hookFailure(hooks, result, true) ?? failureOf(result, "run the hook");
        Object.assign(group, { message: await readFile(file, "latin1") });
      });
  return [...notes, ...(hooks.notes ?? [])];
}

/** Which of the commits are on a remote branch. */
async function publishedIn(
  repository: Repository,
  tip: string,
  base: string | undefined,
  oids: readonly string[],
) {
  const below = base === undefined ? [] : [`^${base}`];
  const args = ["rev-list", tip, ...below, "--not", "--remotes", "--"];
  const unpublished = new Set(await repository.lines(args, "look for published commits"));
  return new Set(oids.filter((oid) => !unpublished.has(oid)));
}

/** The range-diff, up to `budget` characters. */
async function compared(
  repository: Repository,
  before: readonly [base: string | undefined, tip: string],
  after: readonly [base: string | undefined, tip: string],
  budget: number,
): Promise<string> {
  const nobody = "refmcp <refmcp@localhost> 0 +0000";
  // A range needs a commit to begin after; the first of a history has none.
  const root = {
    tree: emptyTree(before[1]),
    parent: undefined,
    author: nobody,
    encoding: undefined,
    message: "",
  };
  const start = async (base: string | undefined) => base ?? (await writeRaw(repository, root, nobody));
  const ranges = [
    [await start(before[0]), before[1]],
    [await start(after[0]), after[1]],
  ] as const;
  const { lines, more } = await compareRanges(repository, ...ranges, { skip: 0, budget, patch: true });
  if (!more) return lines.join("\n");
  const { length } = before[1];
  const next = `git_diff with target ${ranges[0].map((oid) => oid.slice(0, length && 10)).join("..")} and against ${ranges[1].map((oid) => oid.slice(0, 10)).join("..")}`;
  return `${lines.join("\n")}\n… (${next} shows the rest)`;
}

function subjectOf(commit: RawCommit): string {
  const text = inUtf8(commit).message;
  return oneLine(clip(textOf(Buffer.from(text, "latin1")).trimStart().split("\n", 1)[0] ?? "", 100));
}

function badSteps(what: string) {
  return failure("bad_steps", `${what}.`);
}

function remember(repository: Repository, plan: Plan): string {
  const known = plans.get(repository.machine) ?? new Map<string, Plan>();
  plans.set(repository.machine, known);
  const id = createHash("sha256").update(JSON.stringify(plan)).digest("hex").slice(0, 16);
  known.delete(id);
  known.set(id, plan);
  for (const [oldest] of known) if (known.size > MAX_PLANS) known.delete(oldest);
  return id;
}

/** Moves the branch exactly as a preview described, if it has not moved since. */
async function applyPlan(repository: Repository, id: string): Promise<Rewritten> {
  const plan = plans.get(repository.machine)?.get(id);
  if (plan?.repository !== repository.location.commonDir)
    throw failure("stale_plan", `The plan "${oneLine(id.slice(0, 60))}" is unknown.`);
  const { branch, before, after, pairs } = plan;
  const ref = `refs/heads/${branch}`;
  await refuseOperation(repository);
  const moved = async () => (await repository.lookUp([ref]))[0]?.oid !== before;
  const stale = () => failure("stale_plan", `The branch ${oneLine(branch)} has moved since the preview.`);
  if (await moved()) throw stale();
  const isCurrent = (await currentBranch(repository)) === branch;
  const where = ["for-each-ref", "--format=%(worktreepath)", ref];
  if (!isCurrent && (await repository.lines(where, "list the worktrees")).length > 0)
    throw failure("branch_in_use", `The branch "${oneLine(branch)}" is checked out in another worktree.`);
  const { files } = await changesOf(repository, [before, after]);
  const touchesFiles = files.length > 0 && isCurrent && repository.location.worktree !== undefined;
  if (touchesFiles) await refuseFilters(repository, () => differing(repository, before, after), after);
  const recovery = await keep(repository, "rewrite", before);
  // One process does all of it, so that it is complete even if this server is killed. Local changes to other files stay.
  const plain = ["--quiet", "--no-guess", "--no-track", "--no-overwrite-ignore", "--no-recurse-submodules"];
  const result = await repository.run(
    touchesFiles
      ? ["switch", ...plain, `--force-create=${branch}`, after]
      : ["update-ref", "-m", "git_rewrite", ref, after, before],
  );
  if (result.code !== 0) {
    await repository.run(["update-ref", "-d", recovery]);
    throw (await moved()) ? stale() : failureOf(result, "move the branch");
  }
  const notes = await copyNotes(repository, pairs);
  const back = {
    ...plan,
    before: after,
    after: before,
    pairs: pairs.map(([from, to]) => [to, from] as const),
  };
  return {
    branch,
    before,
    after,
    applied: true,
    identical: files.length === 0,
    recovery,
    undo: `git_rewrite with apply ${remember(repository, back)}; later git_reset_hard with revision ${before}`,
    notes,
  };
}

/** Copies the notes of the old commits to the new ones. */
async function copyNotes(repository: Repository, pairs: Plan["pairs"]): Promise<string[] | undefined> {
  const [any] = await repository.lines(["for-each-ref", "--count=1", "refs/notes/"], "list the notes");
  const changed = pairs.filter(([from, to]) => from !== to);
  if (any === undefined || changed.length === 0) return undefined;
  const config = [
    ["notes.rewriteRef", "refs/notes/*"],
    ["notes.rewriteMode", "concatenate"],
    ["notes.rewrite.rebase", "true"],
  ] as const;
  const input = `${changed.map((pair) => pair.join(" ")).join("\n")}\n`;
  const result = await repository.run(["notes", "copy", "--for-rewrite=rebase", "--stdin"], {
    config,
    input,
  });
  return result.code === 0 ? undefined : ["The git notes of the old commits could not be copied."];
}
