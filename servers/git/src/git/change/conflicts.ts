import { clip, fitting, oneLine } from "@refmcp/boundary/answer";
import * as z from "zod";
import type { Repository } from "../open/repository.ts";
import { DIFF_ARGS } from "../read/changes.ts";
import { operationOf } from "../read/status.ts";
import { failure } from "../run/errors.ts";
import { firstNames, pathText, records, stagedEntry, textOf } from "../run/text.ts";

/** What a response reports about conflicts. */
export const conflictFields = {
  /** Paths left in conflict, and how both sides changed them. */
  conflicted: z.array(z.string()).optional(),
  conflicts: z.array(z.object({ path: z.string(), kind: z.string() })).optional(),
  /** The conflicting lines, as git's combined diff; `git_show :2:path` and `:3:path` are whole sides. */
  diff: z.string().optional(),
  /** The commit that is being applied: its id and subject. */
  applying: z.string().optional(),
};

/** What a conflict is, by the stages that are in the index: base, ours, theirs. */
const KINDS: Readonly<Record<string, string>> = {
  "1": "both deleted",
  "2": "added by us",
  "3": "added by them",
  "12": "deleted by them",
  "13": "deleted by us",
  "23": "both added",
  "123": "both modified",
};
const HEADS: Readonly<Record<string, string>> = {
  rebase: "REBASE_HEAD",
  merge: "MERGE_HEAD",
  "cherry-pick": "CHERRY_PICK_HEAD",
  revert: "REVERT_HEAD",
};

/** The stages of each path with conflicts, sorted by path. */
async function unmergedIn(repository: Repository): Promise<Map<string, string>> {
  const list = ["ls-files", "--unmerged", "-z"];
  const stages = new Map<string, string>();
  for (const record of records(await repository.output(list, "list the conflicts"))) {
    const { stage, path } = stagedEntry(record);
    const name = pathText(path);
    stages.set(name, (stages.get(name) ?? "") + stage);
  }
  return stages;
}

/** Paths with conflicts, sorted. */
export async function conflictedPaths(repository: Repository): Promise<string[]> {
  return [...(await unmergedIn(repository)).keys()];
}

/** @throws ToolError `conflict` naming the files */
export async function refuseConflicts(repository: Repository): Promise<void> {
  const paths = await conflictedPaths(repository);
  if (paths.length === 0) return;
  throw failure("conflict", `There are unresolved conflicts in ${firstNames(paths)}.`, {
    hint: "Edit these files, git_add them, then commit.",
  });
}

/** The conflicts in the index and the commit that caused them, for a command that stopped. */
export async function conflictReport(repository: Repository, budget: number) {
  const all = [...(await unmergedIn(repository))].map(([path, stages]) => {
    return { path, kind: KINDS[stages] ?? "conflict" };
  });
  const conflicts = all.slice(0, fitting(all, Math.floor(budget / 4)));
  const conflicted = conflicts.map(({ path }) => path);
  const args = ["diff", ...DIFF_ARGS, "--diff-filter=U", "--"];
  const diff = textOf(await repository.output(args, "show the conflicts"));
  const head = HEADS[operationOf(repository) ?? ""];
  const show = ["log", "--max-count=1", "--no-show-signature", "--abbrev=10", "--format=%h %s"];
  const commit = head && (await repository.run([...show, head, "--"]));
  const applying = commit && commit.code === 0 ? oneLine(textOf(commit.stdout).trim()) : undefined;
  return { conflicted, conflicts, diff: clip(diff, Math.floor(budget / 2)), applying };
}
