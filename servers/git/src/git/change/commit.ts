import * as z from "zod";
import { pathsIn } from "../open/paths.ts";
import type { Caller, Repository } from "../open/repository.ts";
import { headOf, lookUp } from "../open/revisions.ts";
import { currentBranch } from "../read/refs.ts";
import { failure, failureOf, noCommits } from "../run/errors.ts";
import { refuseConflicts } from "./conflicts.ts";
import { decideHooks, HOOKS, hookFailure, signing } from "./hooks.ts";
import { stage } from "./stage.ts";

interface CommitQuery {
  readonly message: string;
  /** Commit only these (and stage them first). */
  readonly files?: readonly string[] | undefined;
  readonly amend: boolean;
  readonly allow_empty: boolean;
  readonly author?: string | undefined;
  readonly skip_hooks: boolean;
}

export const committed = z.object({
  commit: z.string(),
  branch: z.string().optional(),
  /** The commit that HEAD was at. */
  before: z.string().optional(),
  /** What git says: "2 files changed, 3 insertions(+)". */
  summary: z.string().optional(),
  notes: z.array(z.string()).optional(),
});

/**
 * Commits the staged changes, or only some files.
 *
 * @throws ToolError `nothing_to_commit`, `conflict`, `hook_needed`, `hook_failed`, `identity_missing`, `signing_failed`
 */
export async function commit(
  repository: Repository,
  query: CommitQuery,
  caller: Caller,
): Promise<z.infer<typeof committed>> {
  const { message, files, author, amend } = query;
  await repository.worktree();
  const before = amend ? await headOf(repository) : undefined;
  if (amend && before === undefined) throw noCommits();
  if (files !== undefined) await refuseConflicts(repository);
  const hooks = await decideHooks(repository, HOOKS.commit, caller, query.skip_hooks);
  if (files !== undefined) await stage(repository, files);
  const paths = await pathsIn(repository, files ?? []);
  // Where a hook runs, paths are not literal by themselves.
  const literal = hooks.config.length > 0 ? ":(literal)" : "";
  const { option, options } = await signing(repository, hooks);
  const args = [
    ...["commit", "--no-status", "--cleanup=whitespace", "--file=-", option],
    amend && "--amend",
    query.allow_empty && "--allow-empty",
    author !== undefined && `--author=${author}`,
    ...(paths.length > 0 ? ["--only", "--", ...paths.map((path) => literal + path)] : []),
  ];
  const result = await repository.run(args, { ...options, input: message });
  const said = result.stdout.toString("utf8");
  if (result.code !== 0) {
    await refuseConflicts(repository);
    // git's own failures end with 128, a hook's rejection with 1, with any output of the hook.
    if (result.code !== 1) throw failureOf(result, "commit");
    if (/^(nothing (added )?to commit|no changes added to commit)/m.test(said))
      throw failure("nothing_to_commit", "There are no staged changes.");
    throw hookFailure(hooks, result, true) ?? failureOf(result, "commit");
  }
  const [head, parent] = await lookUp(repository, ["HEAD^{commit}", "HEAD^1"]);
  const [summary] = /^ \d+ files? changed.*$/m.exec(said) ?? [];
  return {
    commit: head?.oid ?? "",
    branch: await currentBranch(repository),
    before: before ?? parent?.oid,
    summary: summary?.trim(),
    notes: hooks.notes,
  };
}
