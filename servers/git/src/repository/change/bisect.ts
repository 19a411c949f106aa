import { oneLine, ToolError } from "@refmcp/boundary/answer";
import * as z from "zod";
import type { Git } from "../open/git.ts";
import { pathsIn } from "../open/paths.ts";
import type { Caller, Repository } from "../open/repository.ts";
import { commitOf, commitsOf, shortIds } from "../open/revisions.ts";
import { changedFiles, changesOf, fileNames } from "../read/changed-files.ts";
import { commitShape, LOG_ARGS, LOG_FORMAT, parseLog } from "../read/commits.ts";
import { operationOf } from "../read/operation.ts";
import { emptyTree } from "../read/show.ts";
import { failure, failureOf } from "../run/errors.ts";
import { counted } from "../run/text.ts";
import { writeBlob } from "./hunks.ts";
import { addDetachedWorktree, linkedWorktree } from "./worktrees.ts";

/** The state is one object, so it changes as a whole; nothing in the user's working tree depends on it. */
const REF = "refs/refmcp/bisect";
const oid = z.string().regex(/^[0-9a-f]{40,64}$/);
const stateShape = z.object({
  bad: oid,
  good: z.array(oid).min(1),
  skipped: z.array(oid),
  paths: z.array(z.string()),
  first_parent: z.boolean(),
  /** The commit to test. */
  next: oid.optional(),
  /** Where it is checked out. */
  worktree: z.string().optional(),
});
type State = z.infer<typeof stateShape>;

export const bisected = z.object({
  /** The commit to test next; omitted at the end. */
  next: commitShape.optional(),
  /** Where `next` is checked out. */
  worktree: z.string().optional(),
  /** How many commits may be the first bad one, and about how many tests that takes. */
  candidates: z.number().optional(),
  steps: z.number().optional(),
  /** At the end: the commit that made it bad, and what it changed. */
  first_bad: commitShape.optional(),
  files: changedFiles.optional(),
  count: z.number().optional(),
  /** The commits that remain if all of them except the last one were skipped. */
  undecided: z.array(z.string()).optional(),
  bad: z.string().optional(),
  good: z.array(z.string()).optional(),
  skipped: z.number().optional(),
  notes: z.array(z.string()).optional(),
});
type Bisected = z.infer<typeof bisected>;

interface BisectQuery {
  readonly action: "start" | "good" | "bad" | "skip" | "show" | "reset";
  readonly bad: string;
  readonly good?: readonly string[] | undefined;
  readonly commit?: string | undefined;
  readonly paths?: readonly string[] | undefined;
  readonly path?: string | undefined;
  readonly first_parent: boolean;
}

/**
 * Searches the commit that made something bad. The verdicts come from the caller, who tests `next` anywhere: in a worktree of
 * the bisect, if a path was given for one, or by reading the commit.
 *
 * @throws ToolError `no_operation`, `bad_bisect`, and those of a checkout in the worktree; then nothing is recorded
 */
export async function bisect(
  repository: Repository,
  query: BisectQuery,
  caller: Caller,
  git: Git,
): Promise<Bisected> {
  const [known] = await repository.lookUp([REF]);
  if (query.action === "start") {
    if (known !== undefined) {
      const hint = "git_bisect with action: show continues it; action: reset ends it.";
      throw failure("operation_in_progress", "A bisect is already in progress.", { hint });
    }
    return start(repository, query, caller, git);
  }
  const state = known && (await readState(repository, known.oid));
  if (known === undefined || state === undefined) throw noBisect(repository);
  if (query.action === "reset") return reset(repository, known.oid, state, git);
  const marked =
    query.action === "show" ? state : await mark(repository, state, query.action, query.commit);
  const found = await search(repository, marked);
  const next = { ...marked, next: found.next };
  if (query.action !== "show") {
    if (found.next !== undefined && found.next !== state.next && state.worktree !== undefined)
      await moveWorktree(repository, git, state.worktree, found.next);
    await save(repository, next, known.oid);
  }
  return answerOf(repository, next, found, caller.budget, query.action === "show");
}

async function start(repository: Repository, query: BisectQuery, caller: Caller, git: Git) {
  if (query.good === undefined || query.good.length === 0)
    throw new ToolError("invalid", "good is missing.", {
      code: "bad_revision",
      hint: "Pass at least one commit where the behavior is still good, for example the last release.",
    });
  const [bad = "", ...good] = await commitsOf(repository, [query.bad, ...query.good]);
  const { first_parent } = query;
  const state = {
    bad,
    good,
    skipped: [],
    paths: await pathsIn(repository, query.paths ?? []),
    first_parent,
  };
  const found = await search(repository, state);
  const started: State = { ...state, next: found.next };
  let notes: string[] | undefined;
  if (found.next !== undefined) {
    if (query.path !== undefined) {
      const added = await addDetachedWorktree(
        repository,
        query.path,
        found.next,
        caller.signal,
        git,
      );
      started.worktree = added.path;
      notes = added.notes;
    }
    await save(repository, started, "0".repeat(bad.length));
  }
  return answerOf(repository, started, found, caller.budget, true, notes);
}

/** Adds a verdict. A commit that was skipped before can be judged later. */
async function mark(
  repository: Repository,
  state: State,
  verdict: "good" | "bad" | "skip",
  revision: string | undefined,
): Promise<State> {
  const commit = revision === undefined ? state.next : await commitOf(repository, revision);
  if (commit === undefined) {
    const message = "The bisect has ended, so there is no commit to test.";
    throw failure("no_operation", message, {
      hint: "Pass commit to add a verdict, or end with action: reset.",
    });
  }
  const others = state.skipped.filter((one) => one !== commit);
  if (verdict === "bad") return { ...state, bad: commit, skipped: others };
  if (verdict === "skip") return { ...state, skipped: [...others, commit] };
  return { ...state, good: [...new Set([...state.good, commit])], skipped: others };
}

interface Search {
  readonly next?: string | undefined;
  readonly firstBad?: string | undefined;
  readonly undecided?: readonly string[];
  readonly candidates?: number;
  readonly steps?: number;
  readonly notes?: readonly string[];
}

/** What is to be tested next, by git's own bisection (git-rev-list), or the result. */
async function search(repository: Repository, state: State): Promise<Search> {
  const { bad, good, skipped, paths, first_parent } = state;
  if (good.includes(bad)) throw contradiction(`${bad.slice(0, 10)} is both good and bad`);
  // Where the histories of good and bad part, the commit must be good too: else it was fixed there, not broken.
  const listed = await repository.run(["merge-base", "--all", bad, ...good]);
  if (listed.code > 1) throw failureOf(listed, "find the merge base");
  const bases = listed.stdout.toString("utf8").split("\n").filter(Boolean);
  if (bases.includes(bad))
    throw contradiction(
      `a good commit contains the bad commit ${bad.slice(0, 10)}, so it was fixed after it`,
    );
  const untested = bases.find((base) => !good.includes(base) && !skipped.includes(base));
  if (untested !== undefined) {
    const why =
      "It is the merge base of a good commit and the bad one; if it is bad, good and bad are swapped.";
    return { next: untested, notes: [why] };
  }
  const args = [
    ...[
      "rev-list",
      "--bisect-vars",
      skipped.length > 0 && "--bisect-all",
      first_parent && "--first-parent",
    ],
    ...[bad, ...good.map((one) => `^${one}`), "--", ...paths],
  ];
  const lines = await repository.lines(args, "list the commits between good and bad");
  const value = (name: string) =>
    lines.findLast((line) => line.startsWith(`${name}=`))?.slice(name.length + 1);
  const candidates = Number(value("bisect_all"));
  if (candidates === 0) {
    const where = paths.length === 0 ? "" : " that changes these paths";
    throw failure("bad_bisect", `There is no commit${where} between good and bad.`, {
      hint:
        paths.length === 0
          ? undefined
          : "The cause is outside them: start again with other paths, or none.",
    });
  }
  const steps = Number(value("bisect_steps"));
  const best = value("bisect_rev")?.replaceAll("'", "");
  if (skipped.length === 0)
    return best === bad ? { firstBad: bad } : { next: best, candidates, steps };
  const all = lines.flatMap((line) => /^[0-9a-f]{40,64}(?= )/.exec(line) ?? []);
  const rest = all.filter((one) => one !== bad && !skipped.includes(one));
  const left = all.filter((one) => one !== bad && skipped.includes(one));
  if (rest.length > 0)
    return { next: awayFrom(rest, all[0] === rest[0] ? 0 : left.length), candidates, steps };
  return left.length === 0 ? { firstBad: bad } : { undecided: [...left, bad] };
}

/** The best commit, or one further away the more were skipped: neighbors of one that cannot be tested often cannot be either. */
function awayFrom(best: readonly string[], skipped: number): string | undefined {
  return best[Math.floor(best.length * ((skipped * 0.618) % 1) ** 1.5)];
}

async function answerOf(
  repository: Repository,
  state: State,
  found: Search,
  budget: number,
  isWhole: boolean,
  notes: readonly string[] = [],
): Promise<Bisected> {
  const shown = found.next ?? found.firstBad;
  const read = ["log", ...LOG_ARGS, LOG_FORMAT, "--max-count=1", shown, "--"];
  const [commit] =
    shown === undefined ? [] : parseLog(await repository.output(read, "read the commit"));
  const undecided = found.undecided?.slice(0, 100);
  const idOf = await shortIds(
    repository,
    [shown ?? [], undecided ?? [], state.bad, state.good].flat(),
  );
  const common = {
    ...(state.worktree === undefined ? {} : { worktree: state.worktree }),
    // A verdict is answered with as little as a loop of them needs.
    ...(isWhole && { bad: idOf(state.bad), good: state.good.map(idOf) }),
    ...(state.skipped.length === 0 ? {} : { skipped: state.skipped.length }),
  };
  const all = [...notes, ...(found.notes ?? [])];
  const more = all.length === 0 ? {} : { notes: all };
  if (found.next !== undefined) {
    const next = { commit: idOf(found.next), message: commit?.message.split("\n", 1)[0] ?? "" };
    return { next, ...common, candidates: found.candidates, steps: found.steps, ...more };
  }
  if (found.firstBad === undefined) {
    const note = `Only skipped commits are left: any of these ${counted(found.undecided?.length ?? 0, "commit")} can be the first bad one.`;
    return { undecided: undecided?.map(idOf), ...common, notes: [note] };
  }
  const [parent] = await repository.lookUp([`${found.firstBad}^1`]);
  const { files } = await changesOf(repository, [
    parent?.oid ?? emptyTree(found.firstBad),
    found.firstBad,
  ]);
  return { first_bad: commit, ...fileNames(files, Math.floor(budget / 2)), ...common, ...more };
}

async function reset(
  repository: Repository,
  from: string,
  state: State,
  git: Git,
): Promise<Bisected> {
  const notes = [
    `Ended the bisect between ${state.bad} and ${counted(state.good.length, "good commit")}.`,
  ];
  if (state.worktree !== undefined) {
    const path = state.worktree;
    const added = await linkedWorktree(repository, git, path).catch(() => undefined);
    // Without --force git keeps a worktree with changed or new files.
    const result = added && (await repository.run(["worktree", "remove", "--", path]));
    notes.push(
      result?.code === 0
        ? `Removed its worktree ${oneLine(path)}.`
        : `Its worktree ${oneLine(path)} was kept, because it has changed or new files or was moved. git_worktree_remove removes it.`,
    );
  }
  await repository.output(["update-ref", "-d", REF, from], "end the bisect");
  return { notes };
}

/** Checks the next commit out in the bisect's worktree, where files of the caller stay. */
async function moveWorktree(
  repository: Repository,
  git: Git,
  path: string,
  commit: string,
): Promise<void> {
  const added = await linkedWorktree(repository, git, path);
  const how = ["--quiet", "--detach", "--no-overwrite-ignore", "--no-recurse-submodules"];
  await added.output(["switch", ...how, commit], "check out the next commit");
}

async function readState(repository: Repository, object: string): Promise<State | undefined> {
  const text = (await repository.output(["cat-file", "blob", object], "read the bisect")).toString(
    "utf8",
  );
  try {
    return stateShape.parse(JSON.parse(text));
  } catch {
    throw failure("bad_bisect", `${REF} does not contain a bisect of this server.`, {
      hint: `The user can remove it: git update-ref -d ${REF}.`,
    });
  }
}

/** Records the state, if it still is the one that was read. */
async function save(repository: Repository, state: State, from: string): Promise<void> {
  const object = await writeBlob(repository, JSON.stringify(state));
  await repository.output(["update-ref", REF, object, from], "record the verdict");
}

function noBisect(repository: Repository): ToolError {
  const isUsers = operationOf(repository) === "bisect";
  const message = isUsers
    ? "The bisect in progress here was started with git bisect, and is not changed."
    : "No bisect is in progress.";
  const hint = `Start one with action: start and a good commit${isUsers ? "; it is independent of the user's" : ""}.`;
  return failure("no_operation", message, { hint });
}

const contradiction = (what: string) =>
  failure("bad_bisect", `The verdicts contradict each other: ${what}. Nothing was recorded.`, {
    hint: "Check the last verdict. To search a fix, mark commits that have it as bad and those without it as good.",
  });
