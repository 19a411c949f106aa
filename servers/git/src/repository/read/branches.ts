import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { cursorsOf, fitting, oneLine, ToolError } from "@refmcp/boundary/answer";
import * as z from "zod";
import type { Repository } from "../open/repository.ts";
import { commitOf } from "../open/revisions.ts";
import { lastValue } from "../run/config.ts";
import { groups } from "../run/text.ts";

type BranchType = "local" | "remote" | "all";

export const branchShape = z.object({
  name: z.string(),
  commit: z.string(),
  /** ISO 8601, of the last commit. */
  date: z.string(),
  subject: z.string(),
  current: z.boolean().optional(),
  remote: z.boolean().optional(),
  upstream: z.string().optional(),
  ahead: z.number().optional(),
  behind: z.number().optional(),
  /** The upstream branch was deleted. */
  upstream_gone: z.boolean().optional(),
});
type Branch = z.infer<typeof branchShape>;

interface BranchQuery {
  readonly branch_type: BranchType;
  readonly contains?: string | undefined;
  readonly not_contains?: string | undefined;
  readonly limit: number;
  readonly cursor?: string | undefined;
}

const FIELDS = [
  "%(refname)",
  "%(objectname)",
  "%(committerdate:iso-strict)",
  "%(contents:subject)",
  "%(HEAD)",
  "%(upstream:short)",
  "%(upstream:track,nobracket)",
];
const PATTERNS: Readonly<Record<BranchType, readonly string[]>> = {
  local: ["refs/heads/"],
  remote: ["refs/remotes/"],
  all: ["refs/heads/", "refs/remotes/"],
};

/**
 * Branches by name, with their upstream. The cursor is the name of the last one, so that it survives changes.
 */
export async function branches(
  repository: Repository,
  query: BranchQuery,
  budget: number,
): Promise<{ branches: Branch[]; next_cursor?: string }> {
  const { cursor, limit, ...rest } = query;
  const cursors = cursorsOf("git_branch", [repository.location.commonDir, rest], z.string());
  const after = cursors.decode(cursor);
  const names = await namesOf(repository, query);
  const start = after === undefined ? 0 : names.findIndex((name) => name > after);
  const wanted = start === -1 ? [] : names.slice(start, start + limit);
  const found = wanted.length === 0 ? [] : await detailsOf(repository, wanted);
  const count = fitting(found, budget - 300);
  const last = wanted[count - 1];
  const isRest = last !== undefined && start + count < names.length;
  return { branches: found.slice(0, count), ...(isRest ? { next_cursor: cursors.encode(last) } : {}) };
}

/** The full names of the wanted refs, sorted. `contains` goes by object ids only. */
async function namesOf(repository: Repository, query: BranchQuery): Promise<string[]> {
  const { contains, not_contains } = query;
  const lines = await repository.lines(
    [
      "for-each-ref",
      "--format=%(refname)%00%(symref)",
      ...(contains === undefined ? [] : [`--contains=${await commitOf(repository, contains)}`]),
      ...(not_contains === undefined ? [] : [`--no-contains=${await commitOf(repository, not_contains)}`]),
      ...PATTERNS[query.branch_type],
    ],
    "list the branches",
  );
  // refs/remotes/origin/HEAD is a name for another branch, not a branch itself.
  const names = lines.filter((line) => line.endsWith("\0"));
  return names.map((line) => line.slice(0, -1)).sort();
}

async function detailsOf(repository: Repository, names: readonly string[]): Promise<Branch[]> {
  const output = await repository.output(
    ["for-each-ref", `--format=${FIELDS.join("%00")}%00`, "--sort=refname", ...names],
    "read the branches",
  );
  return groups(output, FIELDS.length).map(
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
  const list = ["for-each-ref", "--format=%(symref)", "refs/remotes/origin/HEAD"];
  const [origin] = await repository.lines(list, "read the default branch");
  const configured = lastValue((await repository.prepared()).config, "init.defaultbranch");
  const names = [configured, "main", "master"].flatMap((name) => (name ? [`refs/heads/${name}`] : []));
  const candidates = origin === undefined ? names : [origin, ...names];
  const found = await repository.lookUp(candidates.map((name) => name.replaceAll(/[\n\r\0]/g, "")));
  const first = candidates.find((_, index) => found[index] !== undefined);
  if (first !== undefined) return first;
  throw new ToolError("not_found", "The repository has no default branch: no origin/HEAD, main or master.", {
    code: "no_default_branch",
    hint: "Pass base, a branch or commit; git_branch lists the branches.",
  });
}

/**
 * Checks the name for a new branch or tag (git-check-ref-format).
 *
 * @throws ToolError `invalid`, code `bad_name`
 */
export async function checkRefName(
  repository: Repository,
  kind: "heads" | "tags",
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
export function checkRefText(kind: "heads" | "tags", name: string): void {
  if (name === "" || name.startsWith("-") || /[\0\n\r]|@\{|^(HEAD|@)$/.test(name)) throw badName(kind, name);
}

export function badName(kind: "heads" | "tags", name: string): ToolError {
  return new ToolError(
    "invalid",
    `${JSON.stringify(name)} is not a valid ${kind === "heads" ? "branch" : "tag"} name.`,
    {
      code: "bad_name",
      hint: "No spaces, no ~ ^ : ? * [ or backslash, no .. and no - at the start; for example feature/login or v1.2.0.",
    },
  );
}
