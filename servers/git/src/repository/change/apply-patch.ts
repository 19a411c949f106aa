import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { clip, fitting, oneLine, type ToolError } from "@refmcp/boundary/answer";
import * as z from "zod";
import { refuseFilters } from "../open/filters.ts";
import type { RunOptions } from "../open/machine.ts";
import { pathBytes } from "../open/paths.ts";
import type { Caller, Repository } from "../open/repository.ts";
import { copyIndex, fileLine, inTemporaryFolder, parseChanges } from "../read/changed-files.ts";
import { LOG_ARGS } from "../read/commits.ts";
import { failure } from "../run/errors.ts";
import type { GitResult } from "../run/run-git.ts";
import { pathText, records, textOf, unquotePath } from "../run/text.ts";
import { conflictFields, describeConflicts, parseStages } from "./conflicts.ts";
import { decideHooks, HOOKS, hookFailure, signing } from "./hooks.ts";
import { refuseOperation, runWhole } from "./integrate.ts";
import { keepWorktree, notesOn } from "./recovery.ts";
import { stagedChanges } from "./stage.ts";

interface PatchQuery {
  /** A unified diff, or a mailbox as `git format-patch` writes it. */
  readonly patch: string;
  readonly as: "worktree" | "index" | "commits";
  readonly on_conflict: "abort" | "keep";
  readonly reverse: boolean;
  readonly dry_run: boolean;
  readonly skip_hooks: boolean;
}

export const patched = z.object({
  /** Whether anything was changed; with `conflicts` false, unless they were to be kept. */
  applied: z.boolean(),
  /** `+added -deleted path`. */
  files: z.array(z.string()),
  count: z.number(),
  before: z.string().optional(),
  after: z.string().optional(),
  /** The new commits, oldest first. */
  commits: z.array(z.string()).optional(),
  ...conflictFields,
  recovery: z.string().optional(),
  undo: z.string().optional(),
  notes: z.array(z.string()).optional(),
});
type Patched = z.infer<typeof patched>;

/** What `git apply` and `git am` are never to take from a repository's configuration. */
const SAFE: Required<Pick<RunOptions, "config">> = {
  config: [
    ["core.protectNTFS", "true"],
    ["core.protectHFS", "true"],
    ["apply.ignoreWhitespace", "no"],
  ],
};
const EXACT = ["--whitespace=nowarn"];
const MERGED =
  "Not every file matched the patch, so the changes were merged three-way, and are staged.";

/**
 * Applies a patch to the working tree, to the index or as commits. Either all of it is applied or nothing is changed; only
 * conflicts may be kept in the files.
 *
 * @throws ToolError `bad_patch`, `patch_failed`, `bad_path`, `filter_needed`, `local_changes`, `hook_needed`, `hook_failed`
 */
export async function applyPatch(
  repository: Repository,
  { patch, ...query }: PatchQuery,
  caller: Caller,
): Promise<Patched> {
  await repository.worktree();
  await refuseOperation(repository);
  const input = patch.endsWith("\n") ? patch : `${patch}\n`;
  const isMail = /^(From [0-9a-f]{40,64} |From: |Subject: )/m.test(input.slice(0, 20_000));
  if (query.as === "commits" && (!isMail || query.reverse || query.on_conflict === "keep")) {
    const what = isMail
      ? "cannot be combined with reverse or on_conflict: keep"
      : "needs a mailbox";
    throw failure("bad_patch", `as: commits ${what}. Nothing was changed.`);
  }
  const apply = ["apply", ...EXACT, query.reverse && "--reverse"];
  // What is checked must be what git am reads.
  const diff = isMail && ENCODED.test(input) ? await decoded(repository, input) : input;
  const read = await repository.run([...apply, "--numstat", "-z"], { ...SAFE, input: diff });
  if (read.code !== 0) throw refused(read);
  const files = parseChanges(records(read.stdout));
  const names = await pathBytes(repository, [
    ...files.map(({ path }) => path),
    ...formerPaths(diff.toString()),
  ]);
  await refuseSubmodules(repository, names);
  await refuseFilters(repository, () => names);
  const lines = files.map((file) => clip(fileLine(file), 500));
  const facts = {
    files: lines.slice(0, fitting(lines, Math.floor(caller.budget / 3))),
    count: lines.length,
  };
  const rehearsed = await rehearse(repository, query, apply, diff, caller);
  // git am says in which mail the conflicts are.
  const isOver = query.dry_run || query.as !== "commits";
  if (isOver && rehearsed.conflicts !== undefined && query.on_conflict === "abort") {
    const notes = [
      "Nothing was changed. With as: worktree, on_conflict: keep leaves the conflicts in the files.",
    ];
    return { applied: false, ...facts, conflicts: rehearsed.conflicts, notes };
  }
  if (query.dry_run) return { applied: false, ...facts, ...rehearsed };
  if (query.as === "commits")
    return { ...facts, ...(await applyMails(repository, input, query, caller)) };
  const paths = records(names).map(pathText);
  const recovery = rehearsed.merged
    ? await keepWorktree(repository, "apply-patch", paths)
    : undefined;
  const where = query.as === "index" && "--cached";
  const result = await repository.run([...apply, where, rehearsed.merged && "--3way"], {
    ...SAFE,
    input: diff,
  });
  const { conflicts, notes } = rehearsed;
  // With conflicts that are kept, git ends with 1.
  if (
    result.code !== 0 &&
    (conflicts === undefined ||
      result.code > 1 ||
      /^error: .*does not (match|exist)/m.test(result.stderr))
  )
    throw refused(result);
  const undo =
    conflicts === undefined
      ? "git_apply_patch with the same patch and reverse: true (or false)"
      : undefined;
  return { applied: true, ...facts, conflicts, recovery, undo, notes };
}

/**
 * Applies the patch to a copy of the index; a patch of files also to the files, without writing them.
 *
 * @returns whether it only fits by a three-way merge, and the conflicts of that
 */
async function rehearse(
  repository: Repository,
  { as, on_conflict }: Omit<PatchQuery, "patch">,
  apply: readonly (string | false)[],
  input: string | Buffer,
  { budget }: Caller,
): Promise<{ merged?: true; conflicts?: unknown[]; notes?: string[] }> {
  const isFiles = as === "worktree";
  const plain = await repository.run([...apply, "--check", !isFiles && "--cached"], {
    ...SAFE,
    input,
  });
  if (plain.code === 0) return {};
  if (!DOES_NOT_FIT.test(plain.stderr)) throw refused(plain);
  if (on_conflict === "keep" && !isFiles)
    throw failure("bad_patch", "on_conflict: keep needs as: worktree. Nothing was changed.");
  return inTemporaryFolder(async (folder) => {
    const env = { GIT_INDEX_FILE: join(folder, "index") };
    await copyIndex(repository, env.GIT_INDEX_FILE);
    const result = await repository.run([...apply, "--cached", "--3way"], { ...SAFE, input, env });
    const list = ["ls-files", "--unmerged", "-z"];
    const unmerged = parseStages(
      records(await repository.output(list, "list the conflicts", { env })),
    );
    if (result.code !== 0 && unmerged.length === 0) throw refused(plain);
    const conflicts =
      unmerged.length > 0 && (await describeConflicts(repository, unmerged, budget / 2));
    return { merged: true, ...(conflicts ? { conflicts } : { notes: [MERGED] }) };
  });
}

const DOES_NOT_FIT =
  /does not apply|No such file|does not exist|already exists|does not match index|patch failed/;

/** The error with git's reasons, which name paths and lines of the patch. */
function refused({ stderr }: Pick<GitResult, "stderr">): ToolError {
  const said = stderr.match(/^(error|fatal): .*$/gm)?.join(" ") ?? stderr.trim();
  const code = DOES_NOT_FIT.test(stderr) ? "patch_failed" : "bad_patch";
  return failure(
    code,
    `git does not apply the patch: ${oneLine(clip(said, 1_000))} Nothing was changed.`,
  );
}

/** The paths that a patch renames or copies from, which `--numstat` omits. */
function formerPaths(patch: string): string[] {
  return [...patch.matchAll(/^(?:rename|copy) from (.+?)\r?$/gm)].map(([, path = ""]) =>
    path.startsWith('"') ? pathText(unquotePath(path)) : path,
  );
}

/** Another repository's files are not changed: git would write below a submodule's directory. */
async function refuseSubmodules(repository: Repository, names: Buffer): Promise<void> {
  const { submodules, worktree = "" } = await repository.prepared();
  for (const path of records(names).map(pathText)) {
    const above = path.split("/").map((_, index, parts) => parts.slice(0, index).join("/"));
    const found = above.find(
      (one) => one !== "" && (submodules.includes(one) || existsSync(join(worktree, one, ".git"))),
    );
    if (found === undefined) continue;
    const hint = "Pass the submodule as repo_path, with paths relative to it.";
    const message = `"${oneLine(path)}" is inside the repository "${oneLine(found)}". Nothing was changed.`;
    throw failure("bad_path", message, { hint });
  }
}

/** How mail programs may send a diff, so that `git apply` would see none, or another one than `git am`. */
const ENCODED = /base64|quoted-printable|flowed/i;
const READ_MAIL = ["--no-scissors", "--quoted-cr=nowarn"];

/** The diffs of a mailbox, decoded as `git am` does. */
function decoded(repository: Repository, mailbox: string): Promise<Buffer> {
  return inTemporaryFolder(async (folder) => {
    const split = ["mailsplit", "-b", "--mboxrd", carriageOf(mailbox), `-o${folder}`];
    const count = Number(await repository.value(split, "split the mails", { input: mailbox }));
    const diffs: Buffer[] = [];
    const [message, diff] = [join(folder, "message"), join(folder, "diff")];
    for (let mail = 1; mail <= count; mail++) {
      const input = await readFile(join(folder, String(mail).padStart(4, "0")));
      await repository.output(["mailinfo", ...READ_MAIL, message, diff], "read a mail", { input });
      diffs.push(await readFile(diff));
    }
    return Buffer.concat(diffs);
  });
}

/** A mailbox with CRLF throughout went through a program that writes such lines; otherwise they are the files'. */
const carriageOf = (mailbox: string) => !/^[^\n]*\r\n/.test(mailbox) && "--keep-cr";

/** Makes a commit of each mail. git am has no result halfway: if a mail fails, those before it are undone. */
async function applyMails(
  repository: Repository,
  mailbox: string,
  query: Pick<PatchQuery, "skip_hooks">,
  caller: Caller,
): Promise<Omit<Patched, "files" | "count">> {
  if ((await stagedChanges(repository)).length > 0)
    throw failure(
      "local_changes",
      "There are staged changes, so no mails are applied. Nothing was changed.",
    );
  const hooks = await decideHooks(repository, HOOKS.mail, caller, query.skip_hooks);
  const before = await repository.head();
  const { option, options } = await signing(repository, undefined, hooks);
  const carriage = carriageOf(mailbox) || "--no-keep-cr";
  const plain = [...READ_MAIL, "--no-message-id", "--no-signoff", "--empty=drop"];
  const how = ["--quiet", "--3way", "--patch-format=mboxrd", carriage, ...plain, ...EXACT, option];
  const config = [...SAFE.config, ...(options.config ?? [])];
  const result = await runWhole(repository, ["am", ...how], { ...options, config, input: mailbox });
  if (result.code !== 0) {
    const { gitDir } = repository.location;
    const read = (name: string) =>
      readFile(join(gitDir, "rebase-apply", name), "utf8").catch(() => "");
    const [number, last, message] = [
      await read("next"),
      await read("last"),
      await read("final-commit"),
    ];
    const list = ["ls-files", "--unmerged", "-z"];
    const unmerged = parseStages(records(await repository.output(list, "list the conflicts")));
    const conflicts = await describeConflicts(repository, unmerged, caller.budget / 2);
    if (existsSync(join(gitDir, "rebase-apply")))
      await repository.output(["am", "--abort"], "abandon the mails");
    if (conflicts.length === 0) throw hookFailure(hooks, result) ?? refused(result);
    const applying = `${oneLine(clip(message.split("\n", 1)[0] ?? "", 200))} (${number.trim()} of ${last.trim()})`;
    return { applied: false, conflicts, applying, notes: ["Nothing was changed."] };
  }
  const after = (await repository.head()) ?? "";
  const range = before === undefined ? [after] : [after, `^${before}`];
  const log = ["log", ...LOG_ARGS, "--reverse", "--format=%H %s", ...range, "--"];
  const subjects = records(await repository.output(log, "list the commits")).map((line) =>
    oneLine(clip(textOf(line).trim(), 200)),
  );
  const commits = subjects.slice(0, fitting(subjects, Math.floor(caller.budget / 3)));
  const undo = before === undefined ? undefined : `git_reset_hard with revision ${before}`;
  const notes = await notesOn(repository, after, hooks.notes);
  return { applied: true, before, after, commits, undo, notes };
}
