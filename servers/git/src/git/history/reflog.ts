import { cursorsOf, fitting, oneLine } from "@refmcp/boundary/answer";
import * as z from "zod";
import type { Budget, PageQuery, Repository } from "../open/repository.ts";
import { lookUp } from "../open/revisions.ts";
import { LOG_PLAIN } from "../read/commits.ts";
import { badRevision, failure } from "../run/errors.ts";
import { groups } from "../run/text.ts";

/** The ref under which changes keep what they overwrite; its reflog has all of it, until it expires. */
export const RECOVERY = "refs/refmcp/recovery";

export const reflogShape = z.object({
  selector: z.string(),
  commit: z.string(),
  /** What happened: "commit: subject", "checkout: moving from a to b". */
  action: z.string(),
  date: z.string(),
});
type ReflogEntry = z.infer<typeof reflogShape>;

/** Where a ref pointed before, newest first; of HEAD, a branch, or `recovery`. */
export async function reflog(
  repository: Repository,
  query: PageQuery & { readonly ref: string },
  { budget }: Budget,
) {
  const { name, oid } = await fullName(repository, query.ref);
  const state = z.object({ oid: z.string(), skip: z.int().min(0) });
  const cursors = cursorsOf("git_reflog", [repository.location.gitDir, name], state);
  const start = cursors.decode(query.cursor);
  if (start !== undefined && start.oid !== oid)
    throw failure("stale_cursor", `${query.ref} has moved since the cursor was made.`);
  const skip = start?.skip ?? 0;
  const limits = [`--skip=${skip}`, `--max-count=${query.limit + 1}`];
  const entries = (await reflogOf(repository, name, limits)).map((entry, index) => ({
    ...entry,
    selector: `${query.ref}@{${skip + index}}`,
  }));
  const count = Math.min(query.limit, fitting(entries, budget - 300));
  const isRest = entries.length > count;
  return {
    entries: entries.slice(0, count),
    ...(isRest ? { next_cursor: cursors.encode({ oid, skip: skip + count }) } : {}),
  };
}

/**
 * The entries of a full ref's reflog; none if there is no such ref.
 *
 * @param limits arguments for `git log`
 */
export async function reflogOf(
  repository: Repository,
  ref: string,
  limits: readonly string[] = [],
): Promise<ReflogEntry[]> {
  const [existing] = await lookUp(repository, [ref]);
  if (existing === undefined) return [];
  const how = ["-g", ...LOG_PLAIN, "--no-patch", "-z", "--date=iso-strict"];
  const args = ["log", ...how, "--format=%h%x00%gd%x00%gs", ...limits, ref, "--"];
  const rows = groups(await repository.output(args, "read the reflog"), 3);
  return rows.map(([commit = "", selector = "", action = ""]) => ({
    selector,
    commit,
    action: oneLine(action),
    date: /@\{(.*)\}$/.exec(selector)?.[1] ?? "",
  }));
}

/** The full name of a ref, which no option can look like. */
async function fullName(
  repository: Repository,
  ref: string,
): Promise<{ name: string; oid: string }> {
  if (/[\0\n\r]/.test(ref)) throw badRevision(ref);
  const branches = [`refs/heads/${ref}`, `refs/remotes/${ref}`, `refs/${ref}`];
  const names = ref === "HEAD" ? [ref] : ref === "recovery" ? [RECOVERY, ...branches] : branches;
  const existing = await lookUp(repository, names);
  const at = existing.findIndex((object) => object !== undefined);
  const [name, object] = [names[at], existing[at]];
  if (name === undefined || object === undefined) throw badRevision(ref);
  return { name, oid: object.oid };
}
