import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { cursorsOf, fitting, oneLine } from "@refmcp/boundary/answer";
import * as z from "zod";
import type { Budget, Repository } from "../open/repository.ts";
import { commitOf, KINDS, type NameKind, shortIds } from "../open/revisions.ts";
import { lastValue, splitKey } from "../run/config.ts";
import { badRevision, failure, failureOf } from "../run/errors.ts";
import { together } from "../run/run-git.ts";
import { groups, linesOf, records, textOf } from "../run/text.ts";
import { LOG_ARGS } from "./commits.ts";

type RefKind = "tags" | "remotes" | "stashes" | "worktrees" | "recovery";

export const refShape = z.object({
  name: z.string(),
  commit: z.string().optional(),
  date: z.string().optional(),
  subject: z.string().optional(),
  /** Of the nearest tag before a revision: how many commits that has in addition. */
  ahead: z.number().optional(),
  /** Of a remote, without a password. */
  url: z.string().optional(),
  push_url: z.string().optional(),
  path: z.string().optional(),
  branch: z.string().optional(),
  /** Of a worktree: "locked" or "prunable" (its directory is missing), with the reason. */
  state: z.string().optional(),
});
type RefEntry = z.infer<typeof refShape>;

interface PageQuery {
  readonly limit: number;
  readonly cursor?: string | undefined;
}

/**
 * Tags (newest first), remotes, stashes, worktrees, or what destructive tools left for recovery; with a revision only the
 * nearest tag that it contains and the oldest that contains it (`git describe`).
 *
 * @throws ToolError `bad_argument` for a revision of another kind, `bad_revision`
 */
export async function listRefs(
  repository: Repository,
  query: PageQuery & { readonly kind: RefKind; readonly revision?: string | undefined },
  { budget }: Budget,
) {
  const { kind, revision } = query;
  if (revision !== undefined && kind !== "tags") {
    const hint = "Omit revision, or pass kind: tags for the nearest tag.";
    throw failure("bad_argument", `A revision does not apply to kind ${kind}.`, { hint });
  }
  const all =
    revision === undefined
      ? await LISTS[kind](repository)
      : await nearestTags(repository, revision);
  const cursors = cursorsOf(
    "git_list_refs",
    [repository.location.commonDir, kind, revision],
    z.string(),
  );
  const after = cursors.decode(query.cursor);
  const at = after === undefined ? 0 : all.findIndex((entry) => entry.name === after) + 1;
  if (after !== undefined && at === 0)
    throw failure(
      "stale_cursor",
      `The list has changed: ${JSON.stringify(after)} is no longer in it.`,
    );
  const wanted = all.slice(at, at + query.limit);
  const refs = wanted.slice(0, fitting(wanted, budget - 300));
  const last = refs.at(-1);
  const isRest = last !== undefined && at + refs.length < all.length;
  return {
    refs: await shortened(repository, refs),
    ...(isRest ? { next_cursor: cursors.encode(last.name) } : {}),
  };
}

const LISTS: Readonly<Record<RefKind, (repository: Repository) => Promise<RefEntry[]>>> = {
  tags: (repository) => refsBelow(repository, "refs/tags/"),
  recovery: (repository) => refsBelow(repository, "refs/refmcp/recovery/"),
  remotes,
  stashes,
  worktrees,
};

/** The tag with the fewest commits between it and a revision, and the oldest that contains it, if there are such tags. */
async function nearestTags(repository: Repository, revision: string): Promise<RefEntry[]> {
  const oid = await commitOf(repository, revision);
  const [before, after] = await together([
    repository.run(["describe", "--tags", "--long", "--abbrev=4", oid]),
    repository.output(["name-rev", "--tags", oid], "find the tags that contain it"),
  ]);
  const [, name, ahead] = /^(.+)-(\d+)-g[0-9a-f]+\n$/.exec(textOf(before.stdout)) ?? [];
  if (
    name === undefined &&
    !/No names found|No tags can describe|No annotated tags/.test(before.stderr)
  )
    throw failureOf(before, "describe the revision");
  const [, later] = / tags\/([^~^\n]+)/.exec(textOf(after)) ?? [];
  const patterns = [name, later].filter(Boolean).map((one) => `refs/tags/${one}`);
  const found = patterns.length === 0 ? [] : await refsBelow(repository, "refs/tags/", patterns);
  const wanted = found.filter((tag) => tag.name === name || tag.name === later);
  return wanted.map((tag) => (tag.name === name ? { ...tag, ahead: Number(ahead) } : tag));
}

/** The same entries with short ids. */
async function shortened<Entry extends { readonly commit?: string | undefined }>(
  repository: Repository,
  entries: readonly Entry[],
): Promise<Entry[]> {
  const oids = entries.flatMap(({ commit }) => (commit === undefined ? [] : [commit]));
  const idOf = await shortIds(repository, oids);
  return entries.map((entry) =>
    entry.commit === undefined ? entry : { ...entry, commit: idOf(entry.commit) },
  );
}

async function refsBelow(
  repository: Repository,
  prefix: string,
  patterns = [prefix],
): Promise<RefEntry[]> {
  const fields = [
    "refname",
    "objectname",
    "*objectname",
    "creatordate:iso-strict",
    "contents:subject",
  ];
  const found = await fieldsOfRefs(repository, fields, [
    "--sort=refname",
    "--sort=-creatordate",
    ...patterns,
  ]);
  return found.map(([ref = "", oid = "", target = "", date = "", subject = ""]) => ({
    name: prefix === "refs/tags/" ? ref.slice(prefix.length) : ref,
    commit: target === "" ? oid : target,
    date: date || undefined,
    subject: oneLine(subject) || undefined,
  }));
}

async function fieldsOfRefs(
  repository: Repository,
  fields: readonly string[],
  which: readonly string[],
  doing = "list the refs",
) {
  const format = `--format=${fields.map((field) => `%(${field})%00`).join("")}`;
  return groups(await repository.refs([format, ...which], doing), fields.length);
}

async function remotes(repository: Repository): Promise<RefEntry[]> {
  const { config } = await repository.prepared();
  const found = new Map<string, RefEntry>();
  for (const { key, value } of config) {
    const [section, name, variable] = splitKey(key);
    if (section !== "remote" || name === "" || (variable !== "url" && variable !== "pushurl"))
      continue;
    const entry = found.get(name) ?? { name };
    entry[variable === "url" ? "url" : "push_url"] ??= withoutPassword(value);
    found.set(name, entry);
  }
  return [...found.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
}

/** A remote's URL without a login that may be secret; an ssh URL keeps the user name. */
export function withoutPassword(url: string): string {
  return url.replace(/^([a-z][a-z0-9+.-]*:\/\/)([^/@]*)@/i, (_, scheme: string, login: string) =>
    /^ssh/i.test(scheme) ? `${scheme}${login.split(":", 1)[0] ?? ""}@` : scheme,
  );
}

async function stashes(repository: Repository): Promise<RefEntry[]> {
  const [stash] = await repository.lookUp(["refs/stash"]);
  if (stash === undefined) return [];
  const args = ["log", "-g", ...LOG_ARGS, "--format=%H%x00%cI%x00%gs", "refs/stash", "--"];
  const output = await repository.output(args, "list the stashes");
  return groups(output, 3).map(([commit = "", date = "", subject = ""], index) => ({
    name: `stash@{${index}}`,
    commit,
    date,
    subject: oneLine(subject),
  }));
}

export async function worktrees(repository: Repository): Promise<RefEntry[]> {
  const output = await repository.output(
    ["worktree", "list", "--porcelain", "-z"],
    "list the worktrees",
  );
  const entries: RefEntry[] = [];
  for (const line of records(output).map(textOf)) {
    const [key, value] = [line.split(" ", 1)[0], line.slice(line.indexOf(" ") + 1)];
    const last = entries.at(-1);
    if (key === "worktree") entries.push({ name: value, path: value });
    else if (key === "HEAD" && last !== undefined) last.commit = value;
    else if ((key === "locked" || key === "prunable") && last !== undefined)
      last.state = value === key ? key : `${key}: ${oneLine(value)}`;
    else if (key === "branch" && last !== undefined) last.branch = value.replace("refs/heads/", "");
  }
  return entries;
}

export const reflogShape = z.object({
  selector: z.string(),
  commit: z.string(),
  /** What happened: "commit: subject", "checkout: moving from a to b". */
  action: z.string(),
  date: z.string(),
});

/** Where a ref pointed before, newest first. */
export async function reflog(
  repository: Repository,
  query: PageQuery & { readonly ref: string },
  { budget }: Budget,
) {
  const full = await fullName(repository, query.ref);
  const state = z.object({ oid: z.string(), skip: z.int().min(0) });
  const cursors = cursorsOf("git_reflog", [repository.location.gitDir, full.name], state);
  const given = cursors.decode(query.cursor);
  if (given !== undefined && given.oid !== full.oid)
    throw failure("stale_cursor", `${query.ref} has moved since the cursor was made.`);
  const skip = given?.skip ?? 0;
  const how = ["-g", ...LOG_ARGS, "--date=iso-strict", "--format=%H%x00%gd%x00%gs"];
  const limits = [`--skip=${skip}`, `--max-count=${query.limit + 1}`];
  const output = await repository.output(
    ["log", ...how, ...limits, full.name, "--"],
    "read the reflog",
  );
  const entries = groups(output, 3).map(([commit = "", selector = "", action = ""], index) => ({
    selector: `${query.ref}@{${skip + index}}`,
    commit,
    action: oneLine(action),
    date: /@\{(.*)\}$/.exec(selector)?.[1] ?? "",
  }));
  const count = Math.min(query.limit, fitting(entries, budget - 300));
  return {
    entries: await shortened(repository, entries.slice(0, count)),
    ...(entries.length > count
      ? { next_cursor: cursors.encode({ oid: full.oid, skip: skip + count }) }
      : {}),
  };
}

/** The full name of a ref, which no option can look like. */
async function fullName(
  repository: Repository,
  ref: string,
): Promise<{ name: string; oid: string }> {
  if (/[\0\n\r]/.test(ref)) throw badRevision(ref);
  const names =
    ref === "HEAD" ? ["HEAD"] : [`refs/heads/${ref}`, `refs/remotes/${ref}`, `refs/${ref}`];
  const found = await repository.lookUp(names);
  const at = found.findIndex((named) => named !== undefined);
  const [name, named] = [names[at], found[at]];
  if (name === undefined || named === undefined) throw badRevision(ref);
  return { name, oid: named.oid };
}

type BranchType = "local" | "remote" | "all";

export const branchShape = z.object({
  name: z.string(),
  commit: z.string(),
  date: z.string(),
  subject: z.string(),
  current: z.boolean().optional(),
  remote: z.boolean().optional(),
  upstream: z.string().optional(),
  ahead: z.number().optional(),
  behind: z.number().optional(),
  upstream_gone: z.boolean().optional(),
});
type Branch = z.infer<typeof branchShape>;

interface BranchQuery extends PageQuery {
  readonly branch_type: BranchType;
  readonly contains?: string | undefined;
  readonly not_contains?: string | undefined;
}

const FIELDS = [
  ...["refname", "objectname", "committerdate:iso-strict", "contents:subject", "HEAD"],
  ...["upstream:short", "upstream:track,nobracket"],
];
const PATTERNS: Readonly<Record<BranchType, readonly string[]>> = {
  local: ["refs/heads/"],
  remote: ["refs/remotes/"],
  all: ["refs/heads/", "refs/remotes/"],
};

/** Branches by name, with their upstream. The cursor is the name of the last one, so that it survives changes. */
export async function branches(repository: Repository, query: BranchQuery, { budget }: Budget) {
  const { cursor, limit, ...rest } = query;
  const cursors = cursorsOf("git_branch", [repository.location.commonDir, rest], z.string());
  const after = cursors.decode(cursor);
  const names = await branchNames(repository, query);
  const start = after === undefined ? 0 : names.findIndex((name) => name > after);
  const wanted = start === -1 ? [] : names.slice(start, start + limit);
  const found = wanted.length === 0 ? [] : await detailsOf(repository, wanted);
  const count = fitting(found, budget - 300);
  const last = wanted[count - 1];
  const isRest = last !== undefined && start + count < names.length;
  return {
    branches: await shortened(repository, found.slice(0, count)),
    ...(isRest ? { next_cursor: cursors.encode(last) } : {}),
  };
}

/** The full names of the wanted refs, sorted. `contains` goes by object ids only. */
async function branchNames(repository: Repository, query: BranchQuery): Promise<string[]> {
  const { contains, not_contains } = query;
  const output = await repository.refs(
    [
      "--format=%(refname)%00%(symref)",
      contains !== undefined && `--contains=${await commitOf(repository, contains)}`,
      not_contains !== undefined && `--no-contains=${await commitOf(repository, not_contains)}`,
      ...PATTERNS[query.branch_type],
    ],
    "list the branches",
  );
  // refs/remotes/origin/HEAD is a name for another branch, not a branch itself.
  const names = linesOf(output).filter((line) => line.endsWith("\0"));
  return names.map((line) => line.slice(0, -1)).sort();
}

async function detailsOf(repository: Repository, names: readonly string[]): Promise<Branch[]> {
  const found = await fieldsOfRefs(
    repository,
    FIELDS,
    ["--sort=refname", ...names],
    "read the branches",
  );
  return found.map(
    ([ref = "", commit = "", date = "", subject = "", head, upstream, track = ""]) => {
      const [ahead, behind] = [/ahead (\d+)/, /behind (\d+)/].map((part) => part.exec(track)?.[1]);
      return {
        name: ref.replace(/^refs\/(heads|remotes)\//, ""),
        commit,
        date,
        subject: oneLine(subject),
        current: head === "*" || undefined,
        remote: ref.startsWith("refs/remotes/") || undefined,
        upstream: upstream || undefined,
        ahead: ahead === undefined ? undefined : Number(ahead),
        behind: behind === undefined ? undefined : Number(behind),
        upstream_gone: track === "gone" || undefined,
      };
    },
  );
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

/**
 * The branch that others start from: what origin calls its HEAD, or the first existing of init.defaultBranch, main and master.
 *
 * @returns its full name
 * @throws ToolError `no_default_branch`
 */
export async function defaultBranch(repository: Repository): Promise<string> {
  const list = ["--format=%(symref)", "refs/remotes/origin/HEAD"];
  const [origin] = linesOf(await repository.refs(list, "read the default branch"));
  const configured = lastValue((await repository.prepared()).config, "init.defaultbranch");
  const names = [configured, "main", "master"].flatMap((name) =>
    name ? [`refs/heads/${name}`] : [],
  );
  const candidates = origin === undefined ? names : [origin, ...names];
  const found = await repository.lookUp(candidates.map((name) => name.replaceAll(/[\n\r\0]/g, "")));
  const first = candidates.find((_, index) => found[index] !== undefined);
  if (first !== undefined) return first;
  const message = "The repository has no default branch: no origin/HEAD, main or master.";
  throw failure("no_default_branch", message);
}

/**
 * Checks the name for a new branch or tag (git-check-ref-format).
 *
 * @throws ToolError `invalid`, code `bad_name`
 */
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
 * Refuses what git could interpret as something other than a name; git's rules are checked by the command
 * that creates the ref.
 */
export function checkRefText(kind: NameKind, name: string): void {
  if (name === "" || name.startsWith("-") || /[\0\n\r]|@\{|^(HEAD|@)$/.test(name))
    throw badName(kind, name);
}

export function badName(kind: NameKind, name: string) {
  return failure("bad_name", `${JSON.stringify(name)} is not a valid ${KINDS[kind]} name.`);
}

/** Whether a branch is checked out, in any worktree. */
export async function isCheckedOut(repository: Repository, branch: string): Promise<boolean> {
  const where = ["for-each-ref", "--format=%(worktreepath)", `refs/heads/${branch}`];
  return (await repository.lines(where, "list the worktrees")).length > 0;
}
