import { oneLine, ToolError } from "@refmcp/boundary/answer";
import * as z from "zod";
import type { Caller, Git } from "../open/git.ts";
import { pathsIn } from "../open/paths.ts";
import type { Repository } from "../open/repository.ts";
import { headOf, noCommits } from "../open/revisions.ts";
import { DIFF_ARGS, linesOf, parseChanges } from "../read/changed-files.ts";
import { operationOf, statusOf } from "../read/status.ts";
import { failureOf } from "../run/failures.ts";
import { together } from "../run/run-git.ts";
import { records, textOf } from "../run/text.ts";
import { decideHooks, deciding, HOOKS, hookFailure } from "./hooks.ts";
import { notesOn } from "./recovery.ts";
import { signing } from "./signing.ts";
import { stage } from "./stage.ts";

interface CommitQuery {
  readonly message: string;
  /** Commit only these (and stage them first). */
  readonly files?: readonly string[] | undefined;
  readonly amend: boolean;
  readonly allow_empty: boolean;
  /** `Name <email>`. */
  readonly author?: string | undefined;
  /** Default: the user's commit.gpgSign. */
  readonly sign?: boolean | undefined;
  readonly skip_hooks: boolean;
}

export const committed = z.object({
  commit: z.string(),
  branch: z.string().optional(),
  /** HEAD before this commit. */
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
 * @param caller decides whether hooks may run
 * @throws ToolError `nothing_to_commit`, `conflict`, `hook_needed`, `hook_failed`, `identity_missing`, `signing_failed`
 */
export async function commit(
  git: Git,
  repository: Repository,
  query: CommitQuery,
  caller: Caller,
): Promise<Committed> {
  await repository.worktree();
  checkMessage(query.message);
  const author = query.author === undefined ? [] : [`--author=${checkAuthor(query.author)}`];
  if (query.amend && (await headOf(repository)) === undefined) throw noCommits();
  const hooks = await decideHooks(git, repository, HOOKS.commit, {
    ...deciding(caller, query.skip_hooks),
    async ready() {
      await refuseConflicts(repository);
      if (query.files === undefined) await refuseEmpty(repository, query);
    },
  });
  const [before] = query.amend ? await repository.lookUp(["HEAD^{commit}"]) : [];
  if (query.files !== undefined) await stage(repository, query.files);
  const paths = await pathsIn(repository, query.files ?? []);
  // Where a hook runs, paths are not literal by themselves.
  const literal = hooks.config.length > 0 ? ":(literal)" : "";
  const { option, options } = await signing(repository, query.sign, hooks);
  const result = await repository.run(
    [
      "commit",
      ...["--quiet", "--no-status", "--cleanup=whitespace", "--file=-"],
      ...(query.amend ? ["--amend"] : []),
      ...(query.allow_empty ? ["--allow-empty"] : []),
      option,
      ...author,
      ...(paths.length > 0 ? ["--only", "--", ...paths.map((path) => literal + path)] : []),
    ],
    { ...options, input: query.message },
  );
  if (result.code !== 0) {
    await refuseConflicts(repository);
    // git's own failures end with 128, a hook's rejection with 1, whatever the hook prints.
    if (result.code !== 1) throw failureOf(result, "commit");
    await refuseEmpty(repository, query, paths);
    throw hookFailure(hooks, result, true) ?? failureOf(result, "commit");
  }
  const made = await describe(repository);
  const notes = await notesOn(repository, made.facts.commit, hooks.notes);
  return { ...made.facts, before: query.amend ? before?.oid : made.parent, notes };
}

/** The new commit's statistics and first parent. */
async function describe(repository: Repository): Promise<{ facts: Committed; parent: string | undefined }> {
  const [output, status] = await together([
    repository.output(
      [
        ...["log", "--no-show-signature", "--no-mailmap", "--max-count=1", "--format=%H%x00%P%x00%s", "-z"],
        ...["-m", "--first-parent", ...DIFF_ARGS, "--raw", "--no-abbrev", "--numstat", "HEAD", "--"],
      ],
      "read the commit",
    ),
    statusOf(repository),
  ]);
  const [oid = "", parents = "", subject = ""] = records(output).map(textOf);
  const files = parseChanges(records(output).slice(3));
  const remaining = (["staged", "unstaged", "untracked"] as const)
    .filter((kind) => status[kind].length > 0)
    .map((kind) => `${status[kind].length} ${kind}`)
    .join(", ");
  const facts: Committed = {
    commit: oid,
    branch: status.branch,
    subject: oneLine(subject),
    files: files.length,
    insertions: linesOf(files, "added"),
    deletions: linesOf(files, "deleted"),
    remaining: remaining === "" ? undefined : remaining,
  };
  return { facts, parent: parents.split(" ", 1)[0] || undefined };
}

function checkMessage(message: string): void {
  if (message.trim() === "" || message.includes("\0")) {
    throw new ToolError("invalid", "The commit message is empty or contains a NUL character.", {
      code: "bad_message",
      hint: "Pass one line that summarizes the commit, then an empty line and details if needed.",
    });
  }
}

function checkAuthor(author: string): string {
  if (/^[^<>\n\0-][^<>\n\0]* <[^<>\s\0]+>$/.test(author)) return author;
  throw new ToolError(
    "invalid",
    `The author ${JSON.stringify(author.slice(0, 100))} is not "Name <email>".`,
    {
      code: "bad_author",
      hint: 'For example "Ada Lovelace <ada@example.org>"; omit author to use the user\'s identity.',
    },
  );
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
  throw new ToolError(
    "conflict",
    `There are unresolved conflicts in ${paths.slice(0, 10).map(oneLine).join(", ")}.`,
    {
      code: "conflict",
      hint: "Edit these files, git_add them, then commit.",
    },
  );
}

async function refuseEmpty(
  repository: Repository,
  query: CommitQuery,
  paths: readonly string[] = [],
): Promise<void> {
  if (query.amend || query.allow_empty || operationOf(repository) !== undefined) return;
  const args = ["diff", "--cached", "--quiet", "--no-ext-diff", "--ignore-submodules=dirty", "--", ...paths];
  const result = await repository.run(args);
  if (result.code > 1) throw failureOf(result, "compare the index");
  if (result.code === 1) return;
  throw new ToolError("conflict", "There are no staged changes.", {
    code: "nothing_to_commit",
    hint: "Stage files with git_add or name them in files; allow_empty creates a commit without changes.",
  });
}
