import { cursorsOf, fitting, oneLine } from "@refmcp/boundary/answer";
import * as z from "zod";
import type { Budget, PageQuery, Repository } from "../open/repository.ts";
import { commitOf } from "../open/revisions.ts";
import { splitKey } from "../run/config.ts";
import { failure, failureOf } from "../run/errors.ts";
import { together } from "../run/run-git.ts";
import { groups, records, textOf, withoutPassword } from "../run/text.ts";
import { RECOVERY, reflogOf } from "./reflog.ts";

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

interface RefsQuery extends PageQuery {
  readonly kind: RefKind;
  readonly revision?: string | undefined;
}

/**
 * Tags (newest first), remotes, stashes, worktrees, or what changes left for recovery; with a revision
 * only the nearest tag that it contains and the oldest that contains it (`git describe`).
 *
 * @throws ToolError `bad_argument` for a revision of another kind, `bad_revision`
 */
export async function listRefs(repository: Repository, query: RefsQuery, { budget }: Budget) {
  const { kind, revision, limit } = query;
  if (revision !== undefined && kind !== "tags") {
    const hint = "Omit revision, or pass kind: tags for the nearest tag.";
    throw failure("bad_argument", `A revision does not apply to kind ${kind}.`, { hint });
  }
  const scope = [repository.location.commonDir, kind, revision];
  const cursors = cursorsOf("git_list_refs", scope, z.string());
  const after = cursors.decode(query.cursor);
  const all = await (revision === undefined
    ? LISTS[kind](repository)
    : nearestTags(repository, revision));
  const at = after === undefined ? 0 : all.findIndex((entry) => entry.name === after) + 1;
  if (after !== undefined && at === 0) {
    const message = `The list has changed: ${JSON.stringify(after)} is no longer in it.`;
    throw failure("stale_cursor", message);
  }
  const wanted = all.slice(at, at + limit);
  const refs = wanted.slice(0, fitting(wanted, budget - 300));
  const last = refs.at(-1);
  const isRest = last !== undefined && at + refs.length < all.length;
  return { refs, ...(isRest ? { next_cursor: cursors.encode(last.name) } : {}) };
}

const LISTS: Readonly<Record<RefKind, (repository: Repository) => Promise<RefEntry[]>>> = {
  tags: (repository) => tagsIn(repository),
  recovery: (repository) => entriesOf(repository, RECOVERY, "recovery"),
  stashes: (repository) => entriesOf(repository, "refs/stash", "stash"),
  remotes,
  worktrees,
};

/** The tag with the fewest commits between it and a revision, and the oldest that contains it. */
async function nearestTags(repository: Repository, revision: string): Promise<RefEntry[]> {
  const oid = await commitOf(repository, revision);
  const [before, after] = await together([
    repository.run(["describe", "--tags", "--long", "--abbrev=4", oid]),
    repository.output(["name-rev", "--tags", oid], "find the tags that contain it"),
  ]);
  const [, name, ahead] = /^(.+)-(\d+)-g[0-9a-f]+\n$/.exec(textOf(before.stdout)) ?? [];
  const isNone = /No names found|No tags can describe|No annotated tags/.test(before.stderr);
  if (name === undefined && !isNone) throw failureOf(before, "describe the revision");
  const [, later] = / tags\/([^~^\n]+)/.exec(textOf(after)) ?? [];
  const names = [name, later].filter((tag) => tag !== undefined);
  const tags = names.length === 0 ? [] : await tagsIn(repository, names);
  const wanted = tags.filter((tag) => names.includes(tag.name));
  return wanted.map((tag) => (tag.name === name ? { ...tag, ahead: Number(ahead) } : tag));
}

async function tagsIn(repository: Repository, names = [""]): Promise<RefEntry[]> {
  const fields = [
    ...["refname", "objectname:short=10", "*objectname:short=10"],
    ...["creatordate:iso-strict", "contents:subject"],
  ];
  const patterns = names.map((name) => `refs/tags/${name}`);
  const sorts = ["--sort=refname", "--sort=-creatordate"];
  const rows = await refFields(repository, fields, [...sorts, ...patterns]);
  return rows.map(([ref = "", oid = "", target = "", date = "", subject = ""]) => ({
    name: ref.slice("refs/tags/".length),
    commit: target === "" ? oid : target,
    date: date || undefined,
    subject: oneLine(subject) || undefined,
  }));
}

/** These fields of refs, in rows (`git for-each-ref`). */
export async function refFields(
  repository: Repository,
  fields: readonly string[],
  which: readonly string[],
): Promise<string[][]> {
  const format = `--format=${fields.map((field) => `%(${field})%00`).join("")}`;
  const output = await repository.output(["for-each-ref", format, ...which], "list the refs");
  return groups(output, fields.length);
}

async function remotes(repository: Repository): Promise<RefEntry[]> {
  const { config } = await repository.prepared();
  const entries = new Map<string, RefEntry>();
  for (const { key, value } of config) {
    const [section, name, variable] = splitKey(key);
    if (section !== "remote" || name === "" || (variable !== "url" && variable !== "pushurl"))
      continue;
    const entry = entries.get(name) ?? { name };
    entry[variable === "url" ? "url" : "push_url"] ??= withoutPassword(value);
    entries.set(name, entry);
  }
  return [...entries.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
}

/** A ref's reflog, as stashes and kept states are listed. */
async function entriesOf(repository: Repository, ref: string, name: string): Promise<RefEntry[]> {
  const entries = await reflogOf(repository, ref);
  return entries.map(({ commit, action, date }, index) => {
    return { name: `${name}@{${index}}`, commit, date, subject: action };
  });
}

export async function worktrees(repository: Repository): Promise<RefEntry[]> {
  const list = ["worktree", "list", "--porcelain", "-z"];
  const output = await repository.output(list, "list the worktrees");
  const entries: RefEntry[] = [];
  for (const line of records(output).map(textOf)) {
    const [key, value] = [line.split(" ", 1)[0], oneLine(line.slice(line.indexOf(" ") + 1))];
    const last = entries.at(-1);
    if (key === "worktree") entries.push({ name: value, path: value });
    else if (key === "HEAD" && last !== undefined) last.commit = value.slice(0, 10);
    else if ((key === "locked" || key === "prunable") && last !== undefined)
      last.state = value === key ? key : `${key}: ${value}`;
    else if (key === "branch" && last !== undefined) last.branch = value.replace("refs/heads/", "");
  }
  return entries;
}
