import { existsSync } from "node:fs";
import { join } from "node:path";
import { fitCount } from "@refmcp/boundary/answer";
import * as z from "zod";
import { pathsIn } from "../open/paths.ts";
import type { Budget, Repository } from "../open/repository.ts";
import { isTrue, lastValue } from "../run/config.ts";
import { failure } from "../run/errors.ts";
import { firstNames, notesFrom, nulEnded, pathText, records } from "../run/text.ts";
import { type ChangedPath, changedFiles, changeWord } from "./changes.ts";
import { filterNote } from "./filters.ts";

export const statusShape = z.object({
  branch: z.string().optional(),
  /** The commit of HEAD; omitted on an unborn branch. */
  head: z.string().optional(),
  detached: z.boolean().optional(),
  unborn: z.boolean().optional(),
  upstream: z.string().optional(),
  ahead: z.number().optional(),
  behind: z.number().optional(),
  /** merge, rebase, am, cherry-pick, revert or bisect, if one is in progress. */
  operation: z.string().optional(),
  clean: z.boolean(),
  staged: changedFiles,
  unstaged: changedFiles,
  untracked: z.array(z.string()),
  conflicted: changedFiles,
  stashes: z.number().optional(),
  /** Paths that did not fit into the answer. */
  left_out: z.number().optional(),
  notes: z.array(z.string()).optional(),
});
type Status = z.infer<typeof statusShape>;

/** What git's two letters for a conflict mean. */
const CONFLICTS: Readonly<Record<string, string>> = {
  DD: "both deleted",
  AU: "added by us",
  UD: "deleted by them",
  UA: "added by them",
  DU: "deleted by us",
  AA: "both added",
  UU: "both modified",
};

const OPERATIONS: readonly (readonly [file: string, name: string])[] = [
  ["rebase-merge", "rebase"],
  ["rebase-apply/applying", "am"],
  ["rebase-apply", "rebase"],
  ["MERGE_HEAD", "merge"],
  ["CHERRY_PICK_HEAD", "cherry-pick"],
  ["REVERT_HEAD", "revert"],
  ["BISECT_LOG", "bisect"],
];

/** The operation in progress, by the files that git keeps during it. */
export function operationOf({ location }: Repository): string | undefined {
  return OPERATIONS.find(([file]) => existsSync(join(location.gitDir, file)))?.[1];
}

/** @throws ToolError `operation_in_progress` in the middle of a merge, rebase, cherry-pick or revert */
export function refuseOperation(repository: Repository): void {
  const operation = operationOf(repository);
  if (operation !== undefined)
    throw failure("operation_in_progress", `A ${operation} is in progress.`);
}

/**
 * The state of the working tree and index (`git status --porcelain=v2`). With paths, untracked files
 * are listed one by one; otherwise a new directory is one entry.
 */
export async function status(
  repository: Repository,
  query: { paths?: readonly string[] | undefined },
  { budget }: Budget,
): Promise<Status> {
  await repository.worktree();
  const paths = await pathsIn(repository, query.paths ?? []);
  const how = ["--porcelain=v2", "-z", "--branch", "--show-stash", "--ignore-submodules=dirty"];
  const untracked = `--untracked-files=${paths.length > 0 ? "all" : "normal"}`;
  const args = ["status", ...how, untracked, "--find-renames", "--", ...paths];
  const state = parseStatus(await repository.output(args, "read the status"));
  const modified = state.unstaged.map(({ path }) => path);
  const note = await filterNote(repository, () => nulEnded(modified), "may actually be unchanged");
  const { config, submodules } = await repository.prepared();
  const isSparse = isTrue(lastValue(config, "core.sparsecheckout"));
  const lists = [state.staged, state.unstaged, state.untracked, state.conflicted];
  const whole = {
    ...state,
    operation: operationOf(repository),
    clean: lists.every(({ length }) => length === 0),
    notes: notesFrom(
      note,
      isSparse && "The checkout is sparse: missing tracked files count as unchanged.",
      isShallow(repository) && `${SHALLOW}.`,
      submodules.length > 0 &&
        `Changes inside submodules are not examined; pass one as repo_path: ${firstNames(submodules)}.`,
    ),
  };
  return shortened(whole, budget);
}

export const SHALLOW = "The history is shallow: older commits are missing";

export const isShallow = ({ location }: Repository) =>
  existsSync(join(location.commonDir, "shallow"));

/** Reads `git status --porcelain=v2 -z --branch --show-stash`. */
function parseStatus(output: Buffer): Status {
  const state: Status = { clean: true, staged: [], unstaged: [], untracked: [], conflicted: [] };
  const lines = records(output);
  for (let index = 0; index < lines.length; index++) {
    const line = lines[index] ?? Buffer.alloc(0);
    const kind = line.toString("latin1", 0, 1);
    if (kind === "#") readHeader(state, line.toString("utf8"));
    else if (kind === "?") state.untracked.push(pathText(line.subarray(2)));
    else if (kind === "u") {
      const letters = line.toString("latin1", 2, 4);
      state.conflicted.push({
        path: pathText(field(line, 10)),
        status: CONFLICTS[letters] ?? "conflict",
      });
    } else if (kind === "1") readChange(state, line, field(line, 8));
    else if (kind === "2") readChange(state, line, field(line, 9), lines[++index]);
  }
  return state;
}

function readHeader(state: Status, line: string): void {
  const [, name, value] = /^# (\S+) (.*)$/s.exec(line) ?? [];
  if (value === undefined) return;
  if (name === "branch.oid" && value === "(initial)") state.unborn = true;
  else if (name === "branch.oid") state.head = value;
  if (name === "branch.head" && value === "(detached)") state.detached = true;
  else if (name === "branch.head") state.branch = value;
  if (name === "branch.upstream") state.upstream = value;
  if (name === "stash") state.stashes = Number(value);
  const [, ahead, behind] = /^# branch\.ab \+(\d+) -(\d+)$/.exec(line) ?? [];
  if (ahead !== undefined) [state.ahead, state.behind] = [Number(ahead), Number(behind)];
}

function readChange(state: Status, line: Buffer, path: Buffer, from?: Buffer): void {
  const [staged = ".", unstaged = "."] = line.toString("latin1", 2, 4);
  const change = (letter: string): ChangedPath => ({
    path: pathText(path),
    status: changeWord(letter),
    from: from !== undefined && /[RC]/.test(letter) ? pathText(from) : undefined,
  });
  if (staged !== ".") state.staged.push(change(staged));
  if (unstaged !== ".") state.unstaged.push(change(unstaged));
}

/** The text after the `count`-th space: the path, which may itself contain spaces. */
function field(line: Buffer, count: number): Buffer {
  let at = -1;
  for (let index = 0; index < count; index++) at = line.indexOf(32, at + 1);
  return line.subarray(at + 1);
}

/** Cuts the lists to the budget. Conflicts come first, then staged files. */
function shortened(state: Status, budget: number): Status {
  const visible = { ...state };
  let remaining = budget - 600 - JSON.stringify(state.notes ?? []).length;
  let leftOut = 0;
  for (const kind of ["conflicted", "staged", "unstaged", "untracked"] as const) {
    const count = remaining <= 0 ? 0 : fitCount<unknown>(state[kind], remaining);
    const items = state[kind].slice(0, count);
    remaining -= JSON.stringify(items).length;
    leftOut += state[kind].length - items.length;
    Object.assign(visible, { [kind]: items });
  }
  return { ...visible, left_out: leftOut || undefined };
}
