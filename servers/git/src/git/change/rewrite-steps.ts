import { oneLine } from "@refmcp/boundary/answer";
import type { Caller, Repository } from "../open/repository.ts";
import { commitOf, commitsOf } from "../open/revisions.ts";
import { emptyTree } from "../read/show.ts";
import { failure, failureOf } from "../run/errors.ts";
import { counted, pathText, records } from "../run/text.ts";
import { mergedPieces, parseStages, type Unmerged } from "./conflicts.ts";
import { type Entry, treeWith, writeBlob } from "./hunks.ts";
import {
  bytesOf,
  inUtf8,
  NOBODY,
  type RawCommit,
  type ReadCommit,
  readCommits,
  writeRaw,
} from "./raw-commits.ts";

type Action = "pick" | "reword" | "squash" | "fixup" | "drop";

/** How a conflict is solved: one side, or a text for each hunk; without hunks the whole file. */
interface Resolution {
  readonly commit: string;
  readonly path: string;
  readonly side?: "ours" | "theirs" | undefined;
  readonly texts?: readonly string[] | undefined;
}

export interface StepsQuery {
  readonly steps: readonly { commit: string; action: Action; message?: string | undefined }[];
  readonly onto?: string | undefined;
  readonly resolutions: readonly Resolution[];
}

interface Step {
  readonly oid: string;
  readonly action: Action;
  readonly message?: string | undefined;
}

/** The commits to rewrite, oldest first, and what becomes of them. */
interface Range {
  readonly oids: readonly string[];
  /** The commit that the new ones follow; undefined if they begin the history. */
  readonly base: string | undefined;
  readonly todo: readonly Step[];
  /** Those in the range, and the ones before them. */
  readonly commits: ReadonlyMap<string, ReadCommit>;
}

const MAX_COMMITS = 500;
const badSteps = (what: string) => failure("bad_steps", `${what}.`);
const isMeld = ({ action }: Step) => action === "squash" || action === "fixup";

/**
 * Finds the commits that steps are about: from the oldest named one to the tip, or those that `onto` lacks.
 *
 * @throws ToolError `bad_steps`, `bad_message`, `merge_in_range`
 */
export async function rangeOf(
  repository: Repository,
  tip: string,
  query: StepsQuery,
): Promise<Range> {
  const found = await commitsOf(
    repository,
    query.steps.map(({ commit }) => commit),
  );
  const steps = query.steps.map(
    ({ commit: _, ...step }, index): Step => ({ ...step, oid: found[index] ?? "" }),
  );
  for (const { oid, action, message = action === "reword" ? "" : "kept" } of steps)
    if (message.trim() === "" || message.includes("\0"))
      throw failure("bad_message", `The step for ${oid.slice(0, 10)} has no valid message.`);
  const [first] = steps;
  if (first !== undefined && isMeld(first)) {
    const [before] = await repository.lookUp([`${first.oid}^1`]);
    if (before !== undefined) steps.unshift({ oid: before.oid, action: "pick" });
  }
  const named = steps.map(({ oid }) => oid);
  const twice = named.find((oid, index) => named.indexOf(oid) !== index);
  if (twice !== undefined) throw badSteps(`${twice.slice(0, 10)} has two steps`);
  const onto = query.onto === undefined ? undefined : await commitOf(repository, query.onto);
  if (steps.length === 0 && onto === undefined)
    throw badSteps("There are no steps, and onto is missing");
  const where = onto === undefined ? ["--first-parent", tip] : ["--topo-order", tip, `^${onto}`];
  const args = ["rev-list", "--parents", `--max-count=${MAX_COMMITS}`, ...where, "--"];
  const listed = (await repository.lines(args, "list the commits")).map((line) => line.split(" "));
  const places = named.map((oid) => listed.findIndex(([one]) => one === oid));
  const missing = named[places.indexOf(-1)];
  if (missing !== undefined)
    throw badSteps(
      `${missing.slice(0, 10)} is not among the last ${MAX_COMMITS} commits of the branch${onto && " that onto lacks"}`,
    );
  const inRange = onto === undefined ? listed.slice(0, Math.max(...places) + 1) : listed;
  if (inRange.length === 0 || (listed.length === MAX_COMMITS && onto !== undefined))
    throw badSteps(
      `The branch has ${inRange.length === 0 ? "no commit" : "too many commits"} that onto lacks`,
    );
  const merge = inRange.find((line) => line.length > 2)?.[0]?.slice(0, 10);
  if (merge !== undefined)
    throw failure("merge_in_range", `The merge commit ${merge} is among the commits to rewrite.`);
  const oids = inRange.map(([oid = ""]) => oid).reverse();
  const inside = await readCommits(repository, oids);
  const oldest = inside.get(oids[0] ?? "")?.parent;
  const around = [oldest, onto].filter((oid) => oid !== undefined);
  const commits = new Map([...inside, ...(await readCommits(repository, around))]);
  return { oids, base: onto ?? oldest, todo: todoOf(oids, steps), commits };
}

/** The steps in their order, if each commit has one. Otherwise commits stay in their places, with those that join them. */
function todoOf(oids: readonly string[], steps: readonly Step[]): readonly Step[] {
  if (steps.length === oids.length) return steps;
  const heads = steps.filter((step) => !isMeld(step));
  const places = heads.map(({ oid }) => oids.indexOf(oid));
  const inOrder = [...places].sort((a, b) => a - b);
  const isJoined = (head: Step) =>
    steps.slice(steps.indexOf(head) + 1, steps.indexOf(head) + 2).some(isMeld);
  const isMoved = (head: Step, index: number) =>
    head.action === "pick" && places[index] !== inOrder[index] && !isJoined(head);
  if (heads.some(isMoved)) throw badSteps("The steps reorder commits, but leave out some of them");
  return oids.flatMap((oid) => {
    const at = steps.findIndex((step) => step.oid === oid);
    const [head] = steps.slice(at, at + 1);
    if (at === -1 || head === undefined) return [{ oid, action: "pick" as const }];
    if (isMeld(head)) return [];
    const end = steps.findIndex((step, index) => index > at && !isMeld(step));
    return steps.slice(at, end === -1 ? undefined : end);
  });
}

/** A new commit. Its author is that of the first one it is made from. */
export interface Group extends RawCommit {
  readonly from: readonly string[];
  readonly wasEmpty: boolean;
}

/**
 * Computes the trees of all new commits without a working tree.
 *
 * @returns the new commits without their parents; or the conflict that has no resolution
 */
export async function replaySteps(
  repository: Repository,
  { todo, base, commits }: Range,
  query: StepsQuery,
  caller: Caller,
): Promise<{
  groups: Group[];
  stopped?: { commit: ReadCommit; unmerged: readonly Unmerged[]; step: number };
}> {
  const named = await commitsOf(
    repository,
    query.resolutions.map(({ commit }) => commit),
  );
  const groups: Group[] = [];
  const treeOf = (oid: string | undefined) =>
    commits.get(oid ?? "")?.tree ?? emptyTree(todo[0]?.oid ?? "");
  let tree = treeOf(base);
  for (const [index, { oid, action, message }] of todo.entries()) {
    const commit = commits.get(oid);
    if (commit === undefined || action === "drop") continue;
    caller.progress(index, todo.length, "applying commits");
    const merged = await applied(repository, tree, commit, treeOf(commit.parent));
    const mine = query.resolutions.filter((_, at) => named[at] === oid);
    const { unmerged, ...solved } = await resolve(repository, merged, mine);
    if (unmerged.length > 0) return { groups, stopped: { commit, unmerged, step: index + 1 } };
    tree = solved.tree;
    const last = groups.at(-1);
    if (isMeld({ oid, action }) && last === undefined)
      throw badSteps(`${oid.slice(0, 10)} has no earlier commit to join`);
    const group: Group =
      last !== undefined && isMeld({ oid, action })
        ? { ...(groups.pop() ?? last), from: [...last.from, oid], tree }
        : {
            ...commit,
            from: [oid],
            parent: undefined,
            tree,
            wasEmpty: commit.tree === treeOf(commit.parent),
          };
    const added =
      action === "squash"
        ? `${inUtf8(group).message.trimEnd()}\n\n${inUtf8(commit).message}`
        : undefined;
    const text = message === undefined ? added : bytesOf(`${message.trimEnd()}\n`);
    groups.push(text === undefined ? group : { ...inUtf8(group), message: text });
  }
  return { groups };
}

interface Merged {
  readonly tree: string;
  /** Conflicts, for which the tree has markers. */
  readonly unmerged: readonly Unmerged[];
}

/** Applies the change of a commit to a tree: a merge whose base is the commit's parent. */
async function applied(
  repository: Repository,
  tree: string,
  commit: ReadCommit,
  before: string,
): Promise<Merged> {
  if (tree === before || tree === commit.tree) return { tree: commit.tree, unmerged: [] };
  if (commit.tree === before) return { tree, unmerged: [] };
  // git 2.38 and 2.39 have no --merge-base, so our side is a commit with the same parent.
  const { parent, oid } = commit;
  const ours = await writeRaw(repository, { ...NOBODY, tree, parent });
  const root = parent === undefined && "--allow-unrelated-histories";
  const result = await repository.run([
    "merge-tree",
    "--write-tree",
    "-z",
    "--no-messages",
    root,
    ours,
    oid,
  ]);
  if (result.code === 129) throw failure("git_outdated", "This needs git 2.38 or newer.");
  if (result.code > 1) throw failureOf(result, "apply a commit");
  const [first, ...stages] = records(result.stdout);
  return {
    tree: first?.toString("latin1") ?? "",
    unmerged: result.code === 0 ? [] : parseStages(stages),
  };
}

/** Puts resolutions into a tree with conflicts; `unmerged` are those that have none. */
async function resolve(
  repository: Repository,
  merged: Merged,
  resolutions: readonly Resolution[],
): Promise<Merged> {
  const pairs = merged.unmerged.map((conflict) => ({
    conflict,
    resolution: resolutions.find(({ path }) => path === pathText(conflict.path)),
  }));
  const entries: Entry[] = [];
  for (const { conflict, resolution } of pairs)
    if (resolution !== undefined) entries.push(await entryOf(repository, conflict, resolution));
  const unmerged = pairs
    .filter(({ resolution }) => resolution === undefined)
    .map(({ conflict }) => conflict);
  if (unmerged.length > 0 || entries.length === 0) return { ...merged, unmerged };
  return { tree: await treeWith(repository, merged.tree, entries), unmerged };
}

/** The resolved content of a path. */
async function entryOf(
  repository: Repository,
  { path, sides }: Unmerged,
  resolution: Resolution,
): Promise<Entry> {
  const { side, texts } = resolution;
  const name = pathText(path);
  const entry = ({ mode, oid } = { mode: "0", oid: "0".repeat(40) }) => ({ path: name, mode, oid });
  const bad = (what: string) =>
    failure("bad_resolution", `The resolution of ${oneLine(name)} ${what}.`);
  const { mode = "100644" } = sides.ours ?? sides.theirs ?? sides.base ?? {};
  if ((side === undefined) === (texts === undefined)) throw bad("needs either side or texts");
  if (side !== undefined) return entry(sides[side]);
  if (mode === "160000") throw bad("is of a submodule, which needs a side");
  const pieces = (await mergedPieces(repository, sides)) ?? [];
  const hunks = pieces.filter((piece) => typeof piece !== "string").length;
  const given = texts ?? [];
  if (given.length !== Math.max(1, hunks))
    throw bad(`has ${counted(given.length, "text")}, and the conflict ${counted(hunks, "hunk")}`);
  const lines = given.map((text) =>
    bytesOf(text === "" || text.endsWith("\n") ? text : `${text}\n`),
  );
  const merged = pieces
    .map((piece) => (typeof piece === "string" ? piece : lines.shift()))
    .join("");
  const input = Buffer.from(hunks === 0 ? bytesOf(given[0] ?? "") : merged, "latin1");
  return entry({ mode, oid: await writeBlob(repository, input) });
}
