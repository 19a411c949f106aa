import { oneLine, ToolError } from "@refmcp/boundary/answer";
import * as z from "zod";
import { pathsIn } from "../open/paths.ts";
import type { Caller, Repository } from "../open/repository.ts";
import {
  copyIndex,
  DIFF_ARGS,
  inTemporaryIndex,
  linesOf,
  parseChanges,
} from "../read/changed-files.ts";
import { operationOf } from "../read/operation.ts";
import { statusOf } from "../read/status.ts";
import { failure, failureOf, noCommits } from "../run/errors.ts";
import { together } from "../run/run-git.ts";
import { firstNames, notesFrom, pathText, records, stagedEntry, textOf } from "../run/text.ts";
import { mergedPieces } from "./conflicts.ts";
import { decideHooks, HOOKS, type HookDecision, hookFailure, signing } from "./hooks.ts";
import { type Entry, entriesOf, writeBlob, writeEntries } from "./hunks.ts";
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
  if (query.amend && (await repository.head()) === undefined) throw noCommits();
  const hooks = await decideHooks(repository, HOOKS.commit, caller, query.skip_hooks, async () => {
    await refuseConflicts(repository);
    if (files === undefined && query.hunks === undefined) await refuseEmpty(repository, query);
  });
  if (query.hunks !== undefined)
    return inTemporaryIndex((env) => commitHunks(repository, query, hooks, env));
  if (files !== undefined) await stage(repository, files);
  return commitIndex(repository, query, hooks);
}

/** Commits a temporary index: HEAD with the chosen changes. The repository's index gets these changes afterwards. */
async function commitHunks(
  repository: Repository,
  { files, hunks = [], ...query }: CommitQuery,
  hooks: HookDecision,
  env: { GIT_INDEX_FILE: string },
): Promise<Committed> {
  const operation = operationOf(repository);
  if (operation !== undefined) {
    const message = `A ${operation} is in progress, which a commit of single hunks would end without the rest.`;
    throw failure("operation_in_progress", message);
  }
  const chosen = { ids: hunks, from: "unstaged", take: true, untracked: true } as const;
  const entries = await entriesOf(repository, chosen);
  await copyIndex(repository, env.GIT_INDEX_FILE);
  const isBorn = (await repository.head()) !== undefined;
  const empty = isBorn ? ["read-tree", "--reset", "HEAD"] : ["read-tree", "--empty"];
  await repository.output(empty, "read the last commit", { env });
  const based = await ontoHead(repository, entries, env);
  if (files !== undefined) await stage(repository, files, env);
  await writeEntries(repository, based, env);
  const made = await commitIndex(repository, query, hooks, env);
  try {
    if (files !== undefined) await stage(repository, files);
    await writeEntries(repository, entries);
    // The number of staged files is that of the repository's index now.
    return { ...made, remaining: remainingOf(await statusOf(repository)) };
  } catch (error) {
    if (!(error instanceof ToolError)) throw error;
    const note = `The commit was made, but the index could not be updated: ${error.message} git_reset with these files does that.`;
    return { ...made, notes: notesFrom(made.notes, note) };
  }
}

/** Changes of files that also have staged changes, without those: merged into the files of HEAD. */
async function ontoHead(
  repository: Repository,
  entries: readonly Entry[],
  env: Readonly<Record<string, string>>,
): Promise<Entry[]> {
  const [head, index] = await together([
    indexedFiles(repository, env),
    indexedFiles(repository, {}),
  ]);
  const based: Entry[] = [];
  for (const entry of entries) {
    const [ours, base] = [head.get(entry.path), index.get(entry.path)];
    if (ours?.oid === base?.oid && ours?.mode === base?.mode) {
      based.push(entry);
      continue;
    }
    const sides = { ours, base, theirs: entry.mode === "0" ? undefined : entry };
    const [merged, ...others] = (base && (await mergedPieces(repository, sides))) ?? [];
    if (typeof merged !== "string" || others.length > 0) {
      const message = `"${oneLine(entry.path)}" has staged changes that these hunks depend on. Nothing was committed.`;
      const hint = "Commit the staged changes first, or stage these with git_add and commit both.";
      throw failure("conflict", message, { hint });
    }
    based.push({ ...entry, oid: await writeBlob(repository, Buffer.from(merged, "latin1")) });
  }
  return based;
}

/** Mode and id of each file in an index. */
async function indexedFiles(repository: Repository, env: Readonly<Record<string, string>>) {
  const listing = await repository.output(["ls-files", "--stage", "-z"], "read the index", { env });
  return new Map(
    records(listing)
      .map(stagedEntry)
      .map(({ path, mode, oid }) => [pathText(path), { mode, oid }]),
  );
}

/** @param env names another index than the repository's */
async function commitIndex(
  repository: Repository,
  query: CommitQuery,
  hooks: HookDecision,
  env: Readonly<Record<string, string>> = {},
): Promise<Committed> {
  const { message, files, author } = query;
  const amended = query.amend ? await repository.head() : undefined;
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
    ...["-m", "--first-parent", ...DIFF_ARGS, "--raw", "--no-abbrev", "--numstat", "HEAD", "--"],
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
    insertions: linesOf(files, "added"),
    deletions: linesOf(files, "deleted"),
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

/** Paths with conflicts, sorted. */
export async function conflictedPaths(repository: Repository): Promise<string[]> {
  const how = ["--no-ext-diff", "--ignore-submodules=dirty", "--no-relative"];
  const output = await repository.run(["diff", "--name-only", "--diff-filter=U", "-z", ...how]);
  return [...new Set(records(output.stdout).map((path) => path.toString("utf8")))].sort();
}

/** @throws ToolError `conflict` naming the files */
export async function refuseConflicts(repository: Repository): Promise<void> {
  const paths = await conflictedPaths(repository);
  if (paths.length === 0) return;
  throw failure("conflict", `There are unresolved conflicts in ${firstNames(paths)}.`, {
    hint: "Edit these files, git_add them, then commit.",
  });
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
