import { existsSync } from "node:fs";
import { lstat, readFile } from "node:fs/promises";
import { join } from "node:path";
import { oneLine } from "@refmcp/boundary/answer";
import * as z from "zod";
import type { Repository } from "../open/repository.ts";
import { shortId } from "../open/revisions.ts";
import { failure } from "../run/errors.ts";

/** How far an operation in progress is. */
export const operationState = z.object({
  /** The branch that a rebase moves, or that a bisect began at; omitted for a detached HEAD. */
  branch: z.string().optional(),
  /** Where a rebase puts its commits. */
  onto: z.string().optional(),
  /** What is being merged, copied, reverted or, in a rebase, applied. */
  commit: z.string().optional(),
  step: z.number().optional(),
  steps: z.number().optional(),
  /** Commits that a cherry-pick or revert still has to do, with this one. */
  remaining: z.number().optional(),
});
type OperationState = z.infer<typeof operationState>;

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
export function operationOf(repository: Repository): string | undefined {
  return OPERATIONS.find(([file]) => existsSync(join(repository.location.gitDir, file)))?.[1];
}

/** The tool that ends each operation. */
const TOOLS: Readonly<Record<string, string>> = {
  rebase: "git_rebase",
  merge: "git_merge",
  "cherry-pick": "git_cherry_pick",
  revert: "git_revert",
};

export const toolOf = (operation: string): string | undefined => TOOLS[operation];

/** @throws ToolError `operation_in_progress` in the middle of a merge, rebase, cherry-pick or revert */
export function refuseOperation(repository: Repository): void {
  const operation = operationOf(repository);
  if (operation === undefined) return;
  const end = toolOf(operation);
  const hint =
    end === undefined
      ? "git_status shows it. Finish it in a terminal."
      : `git_status shows it. Resolve the conflicts, git_add and git_commit, or call ${end} with action: abort.`;
  throw failure("operation_in_progress", `A ${operation} is in progress.`, { hint });
}

const MAX_BYTES = 1_000_000;
const HEADS: Readonly<Record<string, string>> = {
  rebase: "REBASE_HEAD",
  merge: "MERGE_HEAD",
  "cherry-pick": "CHERRY_PICK_HEAD",
  revert: "REVERT_HEAD",
};

/** How far an operation is, with short ids. */
export async function stateOf(repository: Repository, operation: string): Promise<OperationState> {
  const { commit, onto, ...rest } = await progressOf(repository, operation);
  return { ...rest, commit: commit && shortId(commit), onto: onto && shortId(onto) };
}

/**
 * Reads the files that git keeps during an operation. They may come from others, so only what fits
 * their form is used.
 */
export async function progressOf(repository: Repository, operation = ""): Promise<OperationState> {
  const { gitDir } = repository.location;
  const read = async (...names: string[]): Promise<string> => {
    for (const path of names.map((name) => join(gitDir, name))) {
      const stats = await lstat(path).catch(() => undefined);
      if (stats?.isFile() && stats.size < MAX_BYTES)
        return (await readFile(path, "utf8")).trimEnd();
    }
    return "";
  };
  const number = async (...names: string[]) =>
    Number(/^\d{1,9}$/.exec(await read(...names))?.[0] ?? 0) || undefined;
  const oid = async (...names: string[]) => /^[0-9a-f]{40,64}$/m.exec(await read(...names))?.[0];
  const [, branch] =
    operation === "bisect"
      ? (/^(?![0-9a-f]{40,64}$)(.+)$/.exec(await read("BISECT_START")) ?? [])
      : (/^refs\/heads\/(.+)$/.exec(
          await read("rebase-merge/head-name", "rebase-apply/head-name"),
        ) ?? []);
  const commit = await oid(HEADS[operation] ?? "");
  const onto = await oid("rebase-merge/onto", "rebase-apply/onto");
  const todo = (await read("sequencer/todo"))
    .split("\n")
    .filter((line) => /^(pick|revert) /.test(line));
  return {
    branch: branch === undefined ? undefined : oneLine(branch),
    onto,
    commit,
    step: await number("rebase-merge/msgnum", "rebase-apply/next"),
    steps: await number("rebase-merge/end", "rebase-apply/last"),
    remaining: todo.length || undefined,
  };
}
