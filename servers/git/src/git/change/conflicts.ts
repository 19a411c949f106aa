import { clip, fitCount } from "@refmcp/boundary/answer";
import * as z from "zod";
import type { Repository } from "../open/repository.ts";
import { DIFF_ARGS } from "../read/changes.ts";
import { failure } from "../run/errors.ts";
import { firstNames, textOf } from "../run/text.ts";

/** What a response reports about conflicts. */
export const conflictFields = {
  /** Paths left in conflict; git_status shows their kind. */
  conflicted: z.array(z.string()).optional(),
  /** The conflicting lines, as git's combined diff; `git_show :2:path` and `:3:path` are whole sides. */
  diff: z.string().optional(),
};

/** Paths with conflicts, sorted. */
export async function conflictedPaths(repository: Repository): Promise<string[]> {
  const list = ["diff", "--name-only", "-z", "--diff-filter=U", "--no-ext-diff", "--no-relative"];
  return repository.paths([...list, "--ignore-submodules=dirty", "--"], "list the conflicts");
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
  const paths = await conflictedPaths(repository);
  const conflicted = paths.slice(0, fitCount(paths, Math.floor(budget / 4)));
  const args = ["diff", ...DIFF_ARGS, "--diff-filter=U", "--"];
  const diff = textOf(await repository.output(args, "show the conflicts"));
  return { conflicted, diff: clip(diff, Math.floor(budget / 2)) };
}
