import { cursorsOf, fitting, oneLine } from "@refmcp/boundary/answer";
import * as z from "zod";
import type { Repository } from "../open/repository.ts";
import { splitKey } from "../run/config.ts";
import { badRevision, staleCursor } from "../run/failures.ts";
import { groups, records, textOf } from "../run/text.ts";
import { LOG_ARGS } from "./log.ts";

type RefKind = "tags" | "remotes" | "stashes" | "worktrees" | "recovery";

export const refShape = z.object({
  name: z.string(),
  commit: z.string().optional(),
  /** ISO 8601. */
  date: z.string().optional(),
  subject: z.string().optional(),
  /** Of a remote, without a password. */
  url: z.string().optional(),
  push_url: z.string().optional(),
  /** Of a worktree. */
  path: z.string().optional(),
  branch: z.string().optional(),
});
type RefEntry = z.infer<typeof refShape>;

interface PageQuery {
  readonly limit: number;
  readonly cursor?: string | undefined;
}

/** Tags (newest first), remotes, stashes, worktrees, or what destructive tools left for recovery. */
export async function listRefs(
  repository: Repository,
  query: PageQuery & { readonly kind: RefKind },
  budget: number,
): Promise<{ refs: RefEntry[]; next_cursor?: string }> {
  const all = await LISTS[query.kind](repository);
  const scope = [repository.location.commonDir, query.kind];
  const cursors = cursorsOf("git_list_refs", scope, z.string());
  const after = cursors.decode(query.cursor);
  const at = after === undefined ? 0 : all.findIndex((entry) => entry.name === after) + 1;
  if (after !== undefined && at === 0)
    throw staleCursor(`The list has changed: ${JSON.stringify(after)} is no longer in it.`);
  const wanted = all.slice(at, at + query.limit);
  const refs = wanted.slice(0, fitting(wanted, budget - 300));
  const last = refs.at(-1);
  const isRest = last !== undefined && at + refs.length < all.length;
  return { refs, ...(isRest ? { next_cursor: cursors.encode(last.name) } : {}) };
}

const LISTS: Readonly<Record<RefKind, (repository: Repository) => Promise<RefEntry[]>>> = {
  tags: (repository) => refsBelow(repository, "refs/tags/"),
  recovery: (repository) => refsBelow(repository, "refs/refmcp/"),
  remotes,
  stashes,
  worktrees,
};

async function refsBelow(repository: Repository, prefix: string): Promise<RefEntry[]> {
  const fields = [
    "%(refname)",
    "%(objectname)",
    "%(*objectname)",
    "%(creatordate:iso-strict)",
    "%(contents:subject)",
  ];
  const output = await repository.output(
    ["for-each-ref", `--format=${fields.join("%00")}%00`, "--sort=refname", "--sort=-creatordate", prefix],
    "list the refs",
  );
  return groups(output, fields.length).map(([ref = "", oid = "", target = "", date = "", subject = ""]) => ({
    name: prefix === "refs/tags/" ? ref.slice(prefix.length) : ref,
    commit: target === "" ? oid : target,
    date: date || undefined,
    subject: oneLine(subject) || undefined,
  }));
}

async function remotes(repository: Repository): Promise<RefEntry[]> {
  const { config } = await repository.prepared();
  const found = new Map<string, RefEntry>();
  for (const { key, value } of config) {
    const [section, name, variable] = splitKey(key);
    if (section !== "remote" || name === "" || (variable !== "url" && variable !== "pushurl")) continue;
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
  const output = await repository.output(
    ["log", "-g", ...LOG_ARGS, "--format=%H%x00%cI%x00%gs", "refs/stash", "--"],
    "list the stashes",
  );
  return groups(output, 3).map(([commit = "", date = "", subject = ""], index) => ({
    name: `stash@{${index}}`,
    commit,
    date,
    subject: oneLine(subject),
  }));
}

async function worktrees(repository: Repository): Promise<RefEntry[]> {
  const output = await repository.output(["worktree", "list", "--porcelain", "-z"], "list the worktrees");
  const entries: RefEntry[] = [];
  for (const line of records(output).map(textOf)) {
    const [key, value] = [line.split(" ", 1)[0], line.slice(line.indexOf(" ") + 1)];
    const last = entries.at(-1);
    if (key === "worktree") entries.push({ name: value, path: value });
    else if (key === "HEAD" && last !== undefined) last.commit = value;
    else if (key === "branch" && last !== undefined) last.branch = value.replace("refs/heads/", "");
  }
  return entries;
}

export const reflogShape = z.object({
  selector: z.string(),
  commit: z.string(),
  /** What happened: "commit: subject", "checkout: moving from a to b". */
  action: z.string(),
  /** ISO 8601, when it happened. */
  date: z.string(),
});

/** Where a ref pointed before, newest first. */
export async function reflog(
  repository: Repository,
  query: PageQuery & { readonly ref: string },
  budget: number,
): Promise<{ entries: z.infer<typeof reflogShape>[]; next_cursor?: string }> {
  const full = await fullName(repository, query.ref);
  const state = z.object({ oid: z.string(), skip: z.int().min(0) });
  const cursors = cursorsOf("git_reflog", [repository.location.gitDir, full.name], state);
  const given = cursors.decode(query.cursor);
  if (given !== undefined && given.oid !== full.oid)
    throw staleCursor(`${query.ref} has moved since the cursor was made.`);
  const skip = given?.skip ?? 0;
  const output = await repository.output(
    [
      ...["log", "-g", ...LOG_ARGS, "--date=iso-strict", "--format=%H%x00%gd%x00%gs"],
      ...[`--skip=${skip}`, `--max-count=${query.limit + 1}`, full.name, "--"],
    ],
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
    entries: entries.slice(0, count),
    ...(entries.length > count ? { next_cursor: cursors.encode({ oid: full.oid, skip: skip + count }) } : {}),
  };
}

/** The full name of a ref, which no option can look like. */
async function fullName(repository: Repository, ref: string): Promise<{ name: string; oid: string }> {
  if (/[\0\n\r]/.test(ref)) throw badRevision(ref);
  const names = ref === "HEAD" ? ["HEAD"] : [`refs/heads/${ref}`, `refs/remotes/${ref}`, `refs/${ref}`];
  const found = await repository.lookUp(names);
  for (const [index, name] of names.entries()) {
    const named = found[index];
    if (named !== undefined) return { name, oid: named.oid };
  }
  throw badRevision(ref);
}
