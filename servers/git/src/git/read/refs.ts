import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { cursorsOf, fitCount, oneLine } from "@refmcp/boundary/answer";
import * as z from "zod";
import type { Budget, PageQuery, Repository } from "../open/repository.ts";
import { checked, commitOf, KINDS, lookUp, type NameKind } from "../open/revisions.ts";
import { splitKey } from "../run/config.ts";
import { badRevision, failure } from "../run/errors.ts";
import { groups, textOf, withoutPassword } from "../run/text.ts";
import { LOG_PLAIN } from "./commits.ts";

/** The ref under which changes keep what they overwrite; its reflog has all of it, until it expires. */
export const RECOVERY = "refs/refmcp/recovery";

/** A branch, tag, remote, stash, worktree, or an entry of a reflog. */
export const refShape = z.object({
  /** Of a stash or reflog entry what git calls it: `stash@{1}`. */
  name: z.string(),
  commit: z.string().optional(),
  date: z.string().optional(),
  /** Of a reflog entry what happened: "commit: subject", "checkout: moving from a to b". */
  subject: z.string().optional(),
  current: z.boolean().optional(),
  upstream: z.string().optional(),
  ahead: z.number().optional(),
  behind: z.number().optional(),
  /** Whether the upstream was deleted. */
  gone: z.boolean().optional(),
  /** Of a remote, without a password. */
  url: z.string().optional(),
  push_url: z.string().optional(),
  path: z.string().optional(),
  branch: z.string().optional(),
  /** Of a worktree: "locked" or "prunable" (its directory is missing), with the reason. */
  state: z.string().optional(),
});
type RefEntry = z.infer<typeof refShape>;

/** Of a list of stashes. */
const MAX_ENTRIES = 10_000;
const skipped = z.object({ skip: z.int().min(0) });

/** The entries of a list after those of earlier pages, as many as are wanted and fit. */
async function pageOf<Entry>(
  tool: string,
  bound: readonly unknown[],
  { limit, cursor }: PageQuery,
  budget: number,
  list: (skip: number, count: number) => Promise<readonly Entry[]>,
) {
  const cursors = cursorsOf(tool, bound, skipped);
  const skip = cursors.decode(cursor)?.skip ?? 0;
  const entries = await list(skip, limit + 1);
  const count = Math.min(limit, fitCount(entries, budget - 300));
  const next = entries.length > count ? cursors.encode({ skip: skip + count }) : undefined;
  return { entries: entries.slice(0, count), next_cursor: next };
}

const LISTS = { tags, remotes, stashes, worktrees };

/** Tags (newest first; those that contain a commit oldest first), remotes, stashes or worktrees. */
export async function listRefs(
  repository: Repository,
  query: PageQuery & { kind: keyof typeof LISTS; contains?: string | undefined },
  { budget }: Budget,
) {
  const { kind, contains } = query;
  if (contains !== undefined && kind !== "tags")
    throw failure("bad_argument", "contains is only for tags.", { hint: "Omit it." });
  const bound = [repository.location.commonDir, kind, contains];
  const all = await LISTS[kind](repository, contains);
  const part = async (skip: number, count: number) => all.slice(skip, skip + count);
  const { entries, ...rest } = await pageOf("git_list_refs", bound, query, budget, part);
  return { refs: entries, ...rest };
}

/** These fields of refs, in rows (`git for-each-ref`). */
async function refFields(
  repository: Repository,
  fields: readonly string[],
  which: readonly string[],
): Promise<string[][]> {
  const format = `--format=${fields.map((field) => `%(${field})%00`).join("")}`;
  const output = await repository.output(["for-each-ref", format, ...which], "list the refs");
  return groups(output, fields.length);
}

async function tags(repository: Repository, contains?: string): Promise<RefEntry[]> {
  const ids = ["refname", "objectname:short=10", "*objectname:short=10"];
  const fields = [...ids, "creatordate:iso-strict", "contents:subject"];
  const which = contains ? [`--contains=${await commitOf(repository, contains)}`] : [];
  const sorted = ["--sort=refname", `--sort=${contains ? "" : "-"}creatordate`, "refs/tags/"];
  const rows = await refFields(repository, fields, [...which, ...sorted]);
  return rows.map(([ref = "", oid = "", target = "", date = "", subject = ""]) => ({
    name: ref.slice("refs/tags/".length),
    commit: target === "" ? oid : target,
    date: date || undefined,
    subject: oneLine(subject) || undefined,
  }));
}

async function remotes(repository: Repository): Promise<RefEntry[]> {
  const entries = new Map<string, RefEntry>();
  for (const { key, value } of (await repository.prepared()).config) {
    const [section, name, variable] = splitKey(key);
    if (section !== "remote" || name === "" || !/^(push)?url$/.test(variable)) continue;
    const entry = entries.get(name) ?? { name };
    entry[variable === "url" ? "url" : "push_url"] ??= withoutPassword(value);
    entries.set(name, entry);
  }
  return [...entries.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
}

async function stashes(repository: Repository): Promise<RefEntry[]> {
  const [newest] = await lookUp(repository, ["refs/stash"]);
  return newest === undefined ? [] : reflogOf(repository, "refs/stash", "stash");
}

async function worktrees(repository: Repository): Promise<RefEntry[]> {
  const list = ["worktree", "list", "--porcelain", "-z"];
  const output = await repository.output(list, "list the worktrees");
  const blocks = textOf(output).split("\0\0").filter(Boolean);
  return blocks.map((block) => {
    const lines = block.split("\0").map(oneLine);
    const value = (key: string) =>
      lines.find((line) => line.startsWith(`${key} `))?.slice(key.length + 1);
    const path = value("worktree") ?? "";
    const branch = value("branch")?.replace("refs/heads/", "");
    const state = lines.find((line) => /^(locked|prunable)( |$)/.test(line));
    return { name: path, path, commit: value("HEAD")?.slice(0, 10), branch, state };
  });
}

interface BranchQuery extends PageQuery {
  readonly branch_type: "local" | "remote" | "all";
  readonly contains?: string | undefined;
}

const BRANCH_FIELDS = [
  ...["refname", "objectname:short=10", "committerdate:iso-strict", "contents:subject", "HEAD"],
  ...["upstream:short", "upstream:track,nobracket", "symref"],
];

/** Branches by name, with their upstream. */
export async function branches(repository: Repository, query: BranchQuery, { budget }: Budget) {
  const { contains, branch_type } = query;
  const which = [
    ...(branch_type === "remote" ? [] : ["refs/heads/"]),
    ...(branch_type === "local" ? [] : ["refs/remotes/"]),
    ...(contains ? [`--contains=${await commitOf(repository, contains)}`] : []),
  ];
  const bound = [repository.location.commonDir, contains, branch_type];
  // refs/remotes/origin/HEAD is a name for another branch, not a branch itself; a symbolic branch is the user's own.
  const list = async (skip: number, count: number) => {
    const limit = branch_type === "local" ? [`--count=${skip + count}`] : [];
    const rows = await refFields(repository, BRANCH_FIELDS, [...limit, ...which]);
    return rows
      .filter(([ref = "", ...row]) => row.at(-1) === "" || ref.startsWith("refs/heads/"))
      .slice(skip)
      .map(branchOf);
  };
  const { entries, ...rest } = await pageOf("git_branch", bound, query, budget, list);
  return { branches: entries, ...rest };
}

function branchOf([ref = "", commit = "", date = "", subject = "", ...rest]: string[]): RefEntry {
  const [head, upstream, track = ""] = rest;
  const [ahead, behind] = [/ahead (\d+)/, /behind (\d+)/].map((part) => part.exec(track)?.[1]);
  return {
    name: ref.replace(/^refs\/(heads|remotes)\//, ""),
    commit,
    date,
    subject: oneLine(subject),
    current: head === "*" || undefined,
    upstream: upstream || undefined,
    ahead: ahead === undefined ? undefined : Number(ahead),
    behind: behind === undefined ? undefined : Number(behind),
    gone: track === "gone" || undefined,
  };
}

/** Where a ref pointed before, newest first; of HEAD, a branch, or `recovery`. */
export async function reflog(
  repository: Repository,
  query: PageQuery & { readonly ref: string },
  { budget }: Budget,
) {
  const ref = checked(query.ref);
  const folders = ["refs/heads/", "refs/remotes/", "refs/"].map((folder) => folder + ref);
  const names = ref === "HEAD" ? [ref] : ref === "recovery" ? [RECOVERY] : folders;
  const objects = await lookUp(repository, names);
  const at = objects.findIndex((object) => object !== undefined);
  const [name, object] = [names[at], objects[at]];
  if (name === undefined || /[~^:{]/.test(ref)) throw badRevision(ref);
  const bound = [repository.location.gitDir, name, object?.oid];
  return pageOf("git_reflog", bound, query, budget, (skip, count) =>
    reflogOf(repository, name, ref, skip, count),
  );
}

/** The entries of a full ref's reflog, under a shorter name. */
async function reflogOf(
  repository: Repository,
  ref: string,
  name: string,
  skip = 0,
  count = MAX_ENTRIES,
): Promise<RefEntry[]> {
  const how = ["-g", ...LOG_PLAIN, "--no-patch", "-z", "--date=iso-strict"];
  const part = ["--format=%h%x00%gd%x00%gs", `--skip=${skip}`, `--max-count=${count}`];
  const args = ["log", ...how, ...part, ref, "--"];
  const rows = groups(await repository.output(args, "read the reflog"), 3);
  return rows.map(([commit = "", selector = "", action = ""], index) => ({
    name: `${name}@{${skip + index}}`,
    commit,
    date: /@\{(.*)\}$/.exec(selector)?.[1] ?? "",
    subject: oneLine(action),
  }));
}

/** The name of the current branch; undefined if HEAD is detached. */
export async function currentBranch(repository: Repository): Promise<string | undefined> {
  const head = await readFile(join(repository.location.gitDir, "HEAD"), "utf8").catch(() => "");
  if (/^[0-9a-f]{40,64}\n?$/.test(head)) return undefined;
  const [, name] = /^ref: refs\/heads\/(.+?)\n?$/.exec(head) ?? [];
  // Repositories with a reftable have this instead of a branch.
  if (name !== undefined && name !== ".invalid") return name;
  const result = await repository.run(["symbolic-ref", "--quiet", "--short", "HEAD"]);
  return result.code === 0 ? result.stdout.toString("utf8").trim() : undefined;
}

/** The branch that others start from. @throws ToolError `no_default_branch` */
export async function defaultBranch(repository: Repository): Promise<string> {
  const names = ["refs/remotes/origin/HEAD", "refs/heads/main", "refs/heads/master"];
  const objects = await lookUp(repository, names);
  const name = names.find((_, index) => objects[index] !== undefined);
  if (name === undefined)
    throw failure("no_default_branch", "There is no origin/HEAD, main or master.");
  return name;
}

/** Checks the name for a new branch or tag (git-check-ref-format). @throws ToolError `bad_name` */
export async function checkRefName(
  repository: Repository,
  kind: NameKind,
  name: string,
): Promise<void> {
  checkRefText(kind, name);
  const result = await repository.run(["check-ref-format", `refs/${kind}/${name}`]);
  if (result.code !== 0) throw badName(kind, name);
}

/**
 * Refuses what git could interpret as something other than a name; the command that creates the ref
 * checks git's rules.
 */
export function checkRefText(kind: NameKind, name: string): void {
  if (name === "" || name.startsWith("-") || /[\0\n\r]|@\{|^(HEAD|@)$/.test(name))
    throw badName(kind, name);
}

function badName(kind: NameKind, name: string) {
  return failure("bad_name", `${JSON.stringify(name)} is not a valid ${KINDS[kind]} name.`);
}

/** Whether a branch is checked out, in any worktree. */
export async function isCheckedOut(repository: Repository, branch: string): Promise<boolean> {
  const where = ["for-each-ref", "--format=%(worktreepath)", `refs/heads/${branch}`];
  return (await repository.lines(where, "list the worktrees")).length > 0;
}
