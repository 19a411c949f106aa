import * as z from "zod";
import { decideHooks, HOOKS, type HookDecision, hookFailure } from "../change/hooks.ts";
import { newDirectory, withoutRepository } from "../change/new-repository.ts";
import type { Integrated } from "../integrate/end-operation.ts";
import { merge } from "../integrate/integrate.ts";
import type { Git } from "../open/git.ts";
import type { Caller, Repository } from "../open/repository.ts";
import { headOf, lookUp } from "../open/revisions.ts";
import { checkRefName, currentBranch } from "../read/refs.ts";
import { failure, remoteFailure } from "../run/errors.ts";
import { withoutPassword } from "../run/text.ts";
import { remoteOptions, remoteUrls } from "./address.ts";

/** Refs that a fetch or push has moved. */
export const movedRefs = z.array(
  z.object({ ref: z.string(), before: z.string().optional(), after: z.string().optional() }),
);
type MovedRef = z.infer<typeof movedRefs>[number];

/**
 * The remote's programs, set on the command line: of several remote.<name>.uploadpack git uses the
 * first, so an override could not replace the repository's.
 */
const UPLOAD_PACK = "--upload-pack=git-upload-pack";
const RECEIVE_PACK = "--receive-pack=git-receive-pack";

export const cloned = z.object({
  repository: z.string(),
  url: z.string(),
  branch: z.string().optional(),
  commit: z.string().optional(),
});

/**
 * Clones into a new directory inside the allowed ones: no submodules, no template, no hooks. A failed
 * clone leaves nothing.
 */
export async function clone(
  git: Git,
  query: { url: string; path: string; branch?: string | undefined; depth?: number | undefined },
  caller: Caller,
): Promise<z.infer<typeof cloned>> {
  const { path, undo, done } = await newDirectory(git, query.path);
  try {
    const { entries, run } = await withoutRepository(git, path, caller.signal);
    const args = [
      ...["clone", "--progress", "--template=", "--origin=origin", "--no-reject-shallow"],
      ...(query.branch === undefined ? [] : [`--branch=${query.branch}`]),
      ...(query.depth === undefined ? [] : [`--depth=${query.depth}`, "--no-single-branch"]),
      ...["--", query.url, path],
    ];
    const result = await run(args, await remoteOptions(git.options, entries, [query.url], caller));
    if (result.code !== 0) throw remoteFailure(result, "clone");
    done();
    const repository = await git.open(path, caller.signal);
    const [branch, commit] = [await currentBranch(repository), await headOf(repository)];
    return { repository: path, url: withoutPassword(query.url), branch, commit };
  } catch (error) {
    await undo();
    throw error;
  }
}

interface FetchQuery {
  readonly remote: string;
  readonly branch_name?: string | undefined;
  readonly prune: boolean;
  readonly tags: boolean;
}

/** Fetches a remote's branches into `refs/remotes/<remote>/`, regardless of the configured refspecs. */
export async function fetch(repository: Repository, query: FetchQuery, caller: Caller) {
  const { config } = await repository.prepared();
  const { remote, branch_name: branch = "*" } = query;
  const urls = remoteUrls(config, remote, false);
  const options = await remoteOptions(repository.options, config, urls, caller);
  if (branch !== "*") await checkRefName(repository, "heads", branch);
  const before = await refsOf(repository, remote);
  const args = [
    ...["fetch", "--no-recurse-submodules", "--progress", UPLOAD_PACK, "--no-auto-gc"],
    ...["--no-write-commit-graph", "--no-write-fetch-head", "--refmap="],
    query.prune ? "--prune" : "--no-prune",
    query.tags ? "--tags" : "--no-tags",
    ...["--", remote, `+refs/heads/${branch}:refs/remotes/${remote}/${branch}`],
  ];
  const result = await repository.run(args, options);
  if (result.code !== 0) throw remoteFailure(result, "fetch");
  const after = await refsOf(repository, remote);
  const updated = [...new Set([...before.keys(), ...after.keys()])]
    .sort()
    .map((ref) => ({ ref, before: before.get(ref), after: after.get(ref) }))
    .filter((moved) => moved.before !== moved.after);
  return { remote, updated: updated.slice(0, 100), count: updated.length };
}

/** Fetches a branch and fast-forwards the current one to it. */
export async function pull(
  repository: Repository,
  query: { remote: string; branch_name?: string | undefined; skip_hooks: boolean },
  caller: Caller,
): Promise<Integrated> {
  const { remote, branch_name, skip_hooks } = query;
  const branch = branch_name ?? (await currentBranch(repository));
  if (branch === undefined) throw detached();
  await fetch(repository, { remote, branch_name: branch, prune: false, tags: false }, caller);
  const revision = `refs/remotes/${remote}/${branch}`;
  const how = { fast_forward: "only", on_conflict: "abort", action: "start", skip_hooks } as const;
  return merge(repository, { revision, ...how }, caller);
}

interface PushQuery {
  readonly remote: string;
  readonly branch_name?: string | undefined;
  readonly set_upstream: boolean;
  readonly tag?: string | undefined;
  readonly skip_hooks: boolean;
}

/** What allows a push to replace a remote branch. */
interface Lease {
  /** The commit that the remote's branch must still be at. */
  readonly commit: string;
  /** Decided before anything was kept for recovery. */
  readonly hooks: HookDecision;
  /** Deletes the branch instead of replacing it. */
  readonly deletes: boolean;
}

/**
 * Pushes a branch (and a tag) under the same name. It never forces, unless a lease names the commit
 * that may be replaced.
 */
export async function push(
  repository: Repository,
  query: PushQuery,
  caller: Caller,
  lease?: Lease,
) {
  const { config: entries } = await repository.prepared();
  const { remote, tag } = query;
  const urls = remoteUrls(entries, remote, true);
  const options = await remoteOptions(repository.options, entries, urls, caller);
  const branch = query.branch_name ?? (await currentBranch(repository));
  if (branch === undefined) throw detached();
  const refs = [`refs/heads/${branch}`, ...(tag === undefined ? [] : [`refs/tags/${tag}`])];
  await checkRefName(repository, "heads", branch);
  if (tag !== undefined) await checkRefName(repository, "tags", tag);
  const tracking = `refs/remotes/${remote}/${branch}`;
  const [before, ...objects] = await lookUp(repository, [tracking, ...refs]);
  const hooks =
    lease?.hooks ?? (await decideHooks(repository, HOOKS.push, caller, query.skip_hooks));
  const args = [
    ...["push", "--porcelain", "--progress", RECEIVE_PACK, "--recurse-submodules=no"],
    ...["--no-follow-tags", "--no-signed", query.set_upstream && "--set-upstream"],
    lease !== undefined && `--force-with-lease=refs/heads/${branch}:${lease.commit}`,
    ...["--", remote, ...refs.map((ref) => `${lease?.deletes ? "" : ref}:${ref}`)],
  ];
  const config = [...(options.config ?? []), ...hooks.config];
  const env = { ...options.env, ...hooks.env };
  const result = await repository.run(args, { ...options, config, env });
  if (result.code !== 0) {
    // A line for each ref shows that the remote has answered, so the hook had agreed.
    const isByHook = !/^!\t/m.test(result.stdout.toString("utf8"));
    const stderr = `${result.stdout.toString("utf8")}${result.stderr}`;
    throw (isByHook && hookFailure(hooks, result)) || remoteFailure({ ...result, stderr }, "push");
  }
  const pushed = refs.map((ref, index): MovedRef => {
    return { ref, before: index === 0 ? before?.oid : undefined, after: objects[index]?.oid };
  });
  return { remote, pushed, notes: hooks.notes };
}

async function refsOf(repository: Repository, remote: string): Promise<Map<string, string>> {
  const format = "--format=%(objectname) %(refname) %(symref)";
  const below = [`refs/remotes/${remote}/`, "refs/tags/"];
  const lines = await repository.lines(["for-each-ref", format, ...below], "list the refs");
  const refs = lines.map((line) => line.split(" "));
  return new Map(refs.flatMap(([oid = "", ref = "", link]) => (link === "" ? [[ref, oid]] : [])));
}

const detached = () => failure("detached_head", "HEAD is detached, so there is no current branch.");
