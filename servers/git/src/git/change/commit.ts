import { oneLine } from "@refmcp/boundary/answer";
import * as z from "zod";
import { pathsIn } from "../open/paths.ts";
import type { Caller, Repository } from "../open/repository.ts";
import { headOf } from "../open/revisions.ts";
import { DIFF_ARGS, LIST_CHANGES, parseChanges, totalLines } from "../read/changes.ts";
import { operationOf } from "../read/operation.ts";
import { statusOf } from "../read/status.ts";
import { inIndexCopy } from "../read/temporary-index.ts";
import { failure, failureOf, noCommits } from "../run/errors.ts";
import { together } from "../run/run-git.ts";
import { notesFrom, records, textOf } from "../run/text.ts";
import { refuseConflicts } from "./conflicts.ts";
import { decideHooks, HOOKS, type HookDecision, hookFailure, signing } from "./hooks.ts";
import { applyPatch, selectedPatch } from "./hunks.ts";
import { notesOn } from "./recovery.ts";
import { stage } from "./stage.ts";

interface CommitQuery {
  readonly message: string;
  /** Commit only these (and stage them first). */
  readonly files?: readonly string[] | undefined;
  /** Commit only these changes of the working tree, by their ids; the rest of the index stays staged. */
  readonly hunks?: readonly string[] | undefined;
  readonly amend: boolean;
  readonly allow_empty: boolean;
  readonly author?: string | undefined;
  /** Default: the user's commit.gpgSign. */
  readonly sign?: boolean | undefined;
  readonly skip_hooks: boolean;
}

export const committed = z.object({
  commit: z.string(),
  branch: z.string().optional(),
  before: z.string().optional(),
  subject: z.string(),
  files: z.number(),
  insertions: z.number(),
  deletions: z.number(),
  /** Counts of uncommitted changes; omitted if there are none. */
  remaining: z.string().optional(),
  notes: z.array(z.string()).optional(),
});
type Committed = z.infer<typeof committed>;

/**
 * Commits the staged changes, or only some files.
 *
 * @throws ToolError `nothing_to_commit`, `conflict`, `hook_needed`, `hook_failed`, `identity_missing`, `signing_failed`
 */
export async function commit(
  repository: Repository,
  query: CommitQuery,
  caller: Caller,
): Promise<Committed> {
  const { message, files, author } = query;
  await repository.worktree();
  if (message.trim() === "" || message.includes("\0"))
    throw failure("bad_message", "The commit message is empty or contains a NUL character.");
  if (author !== undefined && !/^[^<>\n\0-][^<>\n\0]* <[^<>\s\0]+>$/.test(author))
    throw failure(
      "bad_author",
      `The author ${JSON.stringify(author.slice(0, 100))} is not "Name <email>".`,
    );
  if (query.amend && (await headOf(repository)) === undefined) throw noCommits();
  const hooks = await decideHooks(repository, HOOKS.commit, caller, query.skip_hooks, async () => {
    await refuseConflicts(repository);
    if (files === undefined && query.hunks === undefined) await refuseEmpty(repository, query);
  });
  if (query.hunks !== undefined) return commitHunks(repository, query, hooks);
  if (files !== undefined) await stage(repository, files);
  return commitIndex(repository, query, hooks);
}

/**
 * Commits a temporary index: HEAD with the chosen changes. The repository's index gets these changes
 * afterwards.
 */
async function commitHunks(
  repository: Repository,
  { files, hunks = [], ...query }: CommitQuery,
  hooks: HookDecision,
): Promise<Committed> {
  const operation = operationOf(repository);
  if (operation !== undefined) {
    const message = `A ${operation} is in progress, which a commit of single hunks would end without the rest.`;
    throw failure("operation_in_progress", message);
  }
  const chosen = { ids: hunks, from: "unstaged", reverse: false, untracked: true } as const;
  const patch = await selectedPatch(repository, chosen);
  const base = await headOf(repository);
  const made = await inIndexCopy(repository, async (env) => {
    const start = base === undefined ? ["--empty"] : ["--reset", base];
    await repository.output(["read-tree", ...start], "read the last commit", { env });
    if (files !== undefined) await stage(repository, files, env);
    // With other staged changes, these are merged into the files of HEAD.
    if (!(await applyPatch(repository, patch, ["--cached", "--3way"], env))) throw depending();
    return commitIndex(repository, query, hooks, env);
  });
  if (files !== undefined) await stage(repository, files);
  const isStaged = await applyPatch(repository, patch, ["--cached"]);
  const note =
    !isStaged &&
    "The commit was made, but the index could not be updated. git_reset with these files does that.";
  // The number of staged files is that of the repository's index now.
  const remaining = remainingOf(await statusOf(repository));
  return { ...made, remaining, notes: notesFrom(made.notes, note) };
}

const depending = () =>
  failure(
    "conflict",
    "There are staged changes that these hunks depend on. Nothing was committed.",
    {
      hint: "Commit the staged changes first, or stage these with git_add and commit both.",
    },
  );

/** @param env names another index than the repository's */
async function commitIndex(
  repository: Repository,
  query: CommitQuery,
  hooks: HookDecision,
  env: Readonly<Record<string, string>> = {},
): Promise<Committed> {
  const { message, files, author } = query;
  const amended = query.amend ? await headOf(repository) : undefined;
  const paths = await pathsIn(repository, files ?? []);
  // Where a hook runs, paths are not literal by themselves.
  const literal = hooks.config.length > 0 ? ":(literal)" : "";
  const { option, options } = await signing(repository, query.sign, hooks);
  const result = await repository.run(
    [
      ...["commit", "--quiet", "--no-status", "--cleanup=whitespace", "--file=-"],
      query.amend && "--amend",
      query.allow_empty && "--allow-empty",
      option,
      author !== undefined && `--author=${author}`,
      ...(paths.length > 0 ? ["--only", "--", ...paths.map((path) => literal + path)] : []),
    ],
    { ...options, env: { ...options.env, ...env }, input: message },
  );
  if (result.code !== 0) {
    await refuseConflicts(repository);
    // git's own failures end with 128, a hook's rejection with 1, whatever the hook prints.
    if (result.code !== 1) throw failureOf(result, "commit");
    await refuseEmpty(repository, query, paths, env);
    throw hookFailure(hooks, result, true) ?? failureOf(result, "commit");
  }
  const { facts, parent } = await describe(repository);
  const notes = await notesOn(repository, facts.commit, hooks.notes);
  return { ...facts, before: query.amend ? amended : parent, notes };
}

/** The new commit's statistics and first parent. */
async function describe(
  repository: Repository,
): Promise<{ facts: Committed; parent: string | undefined }> {
  const args = [
    ...[
      "log",
      "--no-show-signature",
      "--no-mailmap",
      "--max-count=1",
      "--format=%H%x00%P%x00%s",
      "-z",
    ],
    ...["-m", "--first-parent", ...DIFF_ARGS, ...LIST_CHANGES, "HEAD", "--"],
  ];
  const [output, status] = await together([
    repository.output(args, "read the commit"),
    statusOf(repository),
  ]);
  const [oid = "", parents = "", subject = ""] = records(output).map(textOf);
  const files = parseChanges(records(output).slice(3));
  const facts: Committed = {
    commit: oid,
    branch: status.branch,
    subject: oneLine(subject),
    files: files.length,
    insertions: totalLines(files, "added"),
    deletions: totalLines(files, "deleted"),
    remaining: remainingOf(status),
  };
  return { facts, parent: parents.split(" ", 1)[0] || undefined };
}

function remainingOf(status: Awaited<ReturnType<typeof statusOf>>): string | undefined {
  const counts = (["staged", "unstaged", "untracked"] as const)
    .filter((kind) => status[kind].length > 0)
    .map((kind) => `${status[kind].length} ${kind}`);
  return counts.length === 0 ? undefined : counts.join(", ");
}

async function refuseEmpty(
  repository: Repository,
  query: CommitQuery,
  paths: readonly string[] = [],
  env: Readonly<Record<string, string>> = {},
): Promise<void> {
  if (query.amend || query.allow_empty || operationOf(repository) !== undefined) return;
  const args = [
    "diff",
    "--cached",
    "--quiet",
    "--no-ext-diff",
    "--ignore-submodules=dirty",
    "--",
    ...paths,
  ];
  const result = await repository.run(args, { env });
  if (result.code > 1) throw failureOf(result, "compare the index");
  if (result.code === 1) return;
  throw failure("nothing_to_commit", "There are no staged changes.", {
    hint: "Stage files with git_add or name them in files; allow_empty creates a commit without changes.",
  });
}
