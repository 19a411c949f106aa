import { cursorsOf, fitting, oneLine } from "@refmcp/boundary/answer";
import * as z from "zod";
import type { Budget, PageQuery, Repository } from "../open/repository.ts";
import { commitOf } from "../open/revisions.ts";
import { linesOf } from "../run/text.ts";
import { refFields } from "./refs.ts";

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
  readonly branch_type: "local" | "remote" | "all";
  readonly contains?: string | undefined;
  readonly not_contains?: string | undefined;
}

const FIELDS = [
  ...["refname", "objectname:short=10", "committerdate:iso-strict", "contents:subject", "HEAD"],
  ...["upstream:short", "upstream:track,nobracket"],
];
const PATTERNS = {
  local: ["refs/heads/"],
  remote: ["refs/remotes/"],
  all: ["refs/heads/", "refs/remotes/"],
};

/**
 * Branches by name, with their upstream. The cursor is the name of the last one, so that it survives
 * changes.
 */
export async function branches(repository: Repository, query: BranchQuery, { budget }: Budget) {
  const { cursor, limit, ...rest } = query;
  const cursors = cursorsOf("git_branch", [repository.location.commonDir, rest], z.string());
  const after = cursors.decode(cursor);
  const names = await branchNames(repository, query);
  const start = after === undefined ? 0 : names.findIndex((name) => name > after);
  const wanted = start === -1 ? [] : names.slice(start, start + limit);
  const shown = wanted.length === 0 ? [] : await detailsOf(repository, wanted);
  const count = fitting(shown, budget - 300);
  const last = wanted[count - 1];
  const isRest = last !== undefined && start + count < names.length;
  return {
    branches: shown.slice(0, count),
    ...(isRest ? { next_cursor: cursors.encode(last) } : {}),
  };
}

/**
 * The full names of the wanted refs, sorted. How far each is from its upstream takes long to find out,
 * so it is asked for those on the page only.
 */
async function branchNames(repository: Repository, query: BranchQuery): Promise<string[]> {
  const { contains, not_contains } = query;
  const output = await repository.output(
    [
      ...["for-each-ref", "--format=%(refname)%00%(symref)"],
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
  const rows = await refFields(repository, FIELDS, ["--sort=refname", ...names]);
  return rows.map(
    ([ref = "", commit = "", date = "", subject = "", head, upstream, track = ""]): Branch => {
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
