import { basename, join } from "node:path";
import { fitting, oneLine, ToolError } from "@refmcp/boundary/answer";
import * as z from "zod";
import { pathsIn } from "../open/paths.ts";
import type { Budget, Repository } from "../open/repository.ts";
import { submoduleIn } from "../open/submodules.ts";
import { notesFrom, nulEnded, pathText, records } from "../run/text.ts";
import { type ChangedPath, changedFiles, changeWord } from "./changes.ts";
import { filterNote } from "./filters.ts";
import { operationOf, operationState, stateOf } from "./operation.ts";
import { SHALLOW, shallowCommits, sparseNote } from "./partial.ts";

export const statusShape = z.object({
  branch: z.string().optional(),
  /** The commit of HEAD; omitted on an unborn branch. */
  head: z.string().optional(),
  detached: z.boolean().optional(),
  unborn: z.boolean().optional(),
  upstream: z.string().optional(),
  ahead: z.number().optional(),
  behind: z.number().optional(),
  /** Tags at a detached HEAD. */
  tags: z.array(z.string()).optional(),
  /** merge, rebase, am, cherry-pick, revert or bisect, if one is in progress. */
  operation: z.string().optional(),
  operation_state: operationState.optional(),
  clean: z.boolean(),
  staged: changedFiles,
  unstaged: changedFiles,
  untracked: z.array(z.string()),
  conflicted: changedFiles,
  /** Submodules whose own working tree has changes. */
  submodules: z
    .array(z.object({ path: z.string(), changed: z.number(), untracked: z.number() }))
    .optional(),
  stashes: z.number().optional(),
  /** Paths that did not fit into the answer. */
  left_out: z.number().optional(),
  notes: z.array(z.string()).optional(),
});
type Status = z.infer<typeof statusShape>;

/** How many submodules are examined. */
const MAX_SUBMODULES = 20;

/** What git's two letters for a conflict mean. */
export const CONFLICTS: Readonly<Record<string, string>> = {
  DD: "both deleted",
  AU: "added by us",
  UD: "deleted by them",
  UA: "added by them",
  DU: "deleted by us",
  AA: "both added",
  UU: "both modified",
};

/** The state of the working tree and index (`git status --porcelain=v2`). */
export async function status(
  repository: Repository,
  query: { paths?: readonly string[] | undefined },
  { budget }: Budget,
): Promise<Status> {
  await repository.worktree();
  const paths = await pathsIn(repository, query.paths ?? []);
  const found = await statusOf(repository, paths);
  found.operation = operationOf(repository);
  if (found.operation !== undefined)
    found.operation_state = await stateOf(repository, found.operation);
  else if (found.detached) found.tags = await tagsAt(repository, found.head);
  const submodules = await submodulesOf(repository, paths);
  if (submodules.dirty.length > 0) found.submodules = submodules.dirty;
  const lists = [found.staged, found.unstaged, found.untracked, found.conflicted, submodules.dirty];
  found.clean = lists.every(({ length }) => length === 0);
  const modified = found.unstaged.map(({ path }) => path);
  const note = await filterNote(repository, () => nulEnded(modified), "may actually be unchanged");
  const sparse = await sparseNote(repository);
  const unknown = submodules.unknown.map(oneLine).join(", ");
  found.notes = notesFrom(
    note,
    sparse && `${sparse}. Other tracked files count as unchanged.`,
    (await shallowCommits(repository)) && `${SHALLOW}.`,
    unknown && `Changes inside these submodules were not examined: ${unknown}`,
  );
  return shortened(found, budget);
}

/** The complete status. With paths, untracked files are listed one by one; otherwise a new directory is one entry. */
export async function statusOf(
  repository: Repository,
  paths: readonly string[] = [],
): Promise<Status> {
  const args = [
    "status",
    "--porcelain=v2",
    "-z",
    "--branch",
    "--show-stash",
    "--ignore-submodules=dirty",
  ];
  const untracked = `--untracked-files=${paths.length > 0 ? "all" : "normal"}`;
  return parseStatus(
    await repository.output(
      [...args, untracked, "--find-renames", "--", ...paths],
      "read the status",
    ),
  );
}

async function tagsAt(
  repository: Repository,
  head: string | undefined,
): Promise<string[] | undefined> {
  const which = ["--count=5", `--points-at=${head}`, "refs/tags/"];
  const list = ["for-each-ref", "--format=%(refname:lstrip=2)", ...which];
  const tags = head === undefined ? [] : await repository.lines(list, "list the tags");
  return tags.length === 0 ? undefined : tags;
}

/**
 * The submodules whose working tree has changes, also nested ones. git itself would run `git status`
 * in each, with the configuration of that submodule; this opens each one like any repository instead.
 */
async function submodulesOf(repository: Repository, paths: readonly string[] = []) {
  const dirty: NonNullable<Status["submodules"]> = [];
  const unknown: string[] = [];
  let count = 0;
  const search = async (outer: Repository, prefix: string): Promise<void> => {
    const { submodules } = await outer.prepared();
    for (const name of submodules) {
      const path = prefix + name;
      if (
        paths.length > 0 &&
        !paths.some((named) => named === "." || `${path}/`.startsWith(`${named}/`))
      )
        continue;
      try {
        const inner = await submoduleIn(outer, name);
        if (inner === undefined) continue;
        const { owned, gitDir } = inner.location;
        const isKnown = owned === true && gitDir !== outer.location.gitDir;
        if (!isKnown || ++count > MAX_SUBMODULES) unknown.push(path);
        else {
          const { staged, unstaged, conflicted, untracked } = await statusOf(inner);
          const changed = new Set([...staged, ...unstaged, ...conflicted].map((file) => file.path))
            .size;
          if (changed + untracked.length > 0)
            dirty.push({ path, changed, untracked: untracked.length });
          await search(inner, `${path}/`);
        }
      } catch (error) {
        if (!(error instanceof ToolError)) throw error;
        unknown.push(path);
      }
    }
  };
  await search(repository, "");
  return { dirty, unknown };
}

/** Reads `git status --porcelain=v2 -z --branch --show-stash`. */
function parseStatus(output: Buffer): Status {
  const found: Status = { clean: true, staged: [], unstaged: [], untracked: [], conflicted: [] };
  const lines = records(output);
  for (let index = 0; index < lines.length; index++) {
    const line = lines[index] ?? Buffer.alloc(0);
    const kind = line.toString("latin1", 0, 1);
    if (kind === "#") readHeader(found, line.toString("utf8"));
    else if (kind === "?") found.untracked.push(pathText(line.subarray(2)));
    else if (kind === "u")
      found.conflicted.push({
        path: pathText(field(line, 10)),
        status: CONFLICTS[code(line)] ?? "conflict",
      });
    else if (kind === "1") readChange(found, line, field(line, 8));
    else if (kind === "2") readChange(found, line, field(line, 9), lines[++index]);
  }
  return found;
}

function readHeader(found: Status, line: string): void {
  const [, name, value] = /^# (\S+) (.*)$/s.exec(line) ?? [];
  if (value === undefined) return;
  if (name === "branch.oid" && value === "(initial)") found.unborn = true;
  else if (name === "branch.oid") found.head = value;
  if (name === "branch.head" && value === "(detached)") found.detached = true;
  else if (name === "branch.head") found.branch = value;
  if (name === "branch.upstream") found.upstream = value;
  if (name === "stash") found.stashes = Number(value);
  const [, ahead, behind] = name === "branch.ab" ? (/^\+(\d+) -(\d+)$/.exec(value) ?? []) : [];
  if (ahead !== undefined && behind !== undefined) {
    found.ahead = Number(ahead);
    found.behind = Number(behind);
  }
}

function readChange(found: Status, line: Buffer, path: Buffer, from?: Buffer): void {
  const [staged = ".", unstaged = "."] = code(line);
  const change = (letter: string): ChangedPath => ({
    path: pathText(path),
    status: changeWord(letter),
    from: from !== undefined && /[RC]/.test(letter) ? pathText(from) : undefined,
  });
  if (staged !== ".") found.staged.push(change(staged));
  if (unstaged !== ".") found.unstaged.push(change(unstaged));
}

function code(line: Buffer): string {
  return line.toString("latin1", 2, 4);
}

/** The text after the `count`-th space: the path, which may itself contain spaces. */
function field(line: Buffer, count: number): Buffer {
  let at = -1;
  for (let index = 0; index < count; index++) at = line.indexOf(32, at + 1);
  return line.subarray(at + 1);
}

/** Cuts the lists to the budget. Conflicts come first, then staged files. */
function shortened(found: Status, budget: number): Status {
  let remaining = budget - 600 - JSON.stringify(found.notes ?? []).length;
  let leftOut = 0;
  const cut = <Item>(items: Item[]): Item[] => {
    const count = remaining <= 0 ? 0 : fitting(items, remaining);
    remaining -= JSON.stringify(items.slice(0, count)).length;
    leftOut += items.length - count;
    return items.slice(0, count);
  };
  for (const list of ["conflicted", "staged", "unstaged"] as const) found[list] = cut(found[list]);
  found.untracked = cut(found.untracked);
  return { ...found, left_out: leftOut || undefined };
}

/** Files in a git directory that change with the status. */
const WATCHED = "HEAD index packed-refs MERGE_HEAD CHERRY_PICK_HEAD REVERT_HEAD rebase-merge".split(
  " ",
);
const SETTLE_MS = 100;

/**
 * Watches HEAD, the index and the refs, and calls `changed` once after each burst of changes.
 *
 * @returns a function that stops it
 */
export async function watchStatus(
  repository: Repository,
  changed: () => void,
): Promise<() => Promise<void>> {
  const { watch } = await import("chokidar");
  const { gitDir, commonDir } = repository.location;
  const refs = join(commonDir, "refs");
  const isRef = (path: string) =>
    path === refs || path.startsWith(`${refs}/`) || path.startsWith(`${refs}\\`);
  const watcher = watch([gitDir, commonDir, refs], {
    ignoreInitial: true,
    depth: 8,
    ignored: (path) =>
      path.endsWith(".lock") ||
      !(path === gitDir || path === commonDir || isRef(path) || WATCHED.includes(basename(path))),
  });
  let timer: NodeJS.Timeout | undefined;
  watcher.on("all", () => {
    clearTimeout(timer);
    timer = setTimeout(changed, SETTLE_MS);
  });
  await new Promise<void>((resolve) => watcher.once("ready", () => resolve()));
  return async () => {
    clearTimeout(timer);
    await watcher.close();
  };
}
