import { oneLine, ToolError } from "@refmcp/core/answer";
import { decideHooks, HOOKS } from "../change/hooks.ts";
import { type Integrated, merge } from "../change/integrate.ts";
import { checkedOutNote, newDirectory, ownConfig } from "../change/new-repository.ts";
import type { Git } from "../open/git.ts";
import type { Repository } from "../open/repository.ts";
import { headOf } from "../open/revisions.ts";
import { checkRefName, currentBranch } from "../read/branches.ts";
import { withoutPassword } from "../read/refs.ts";
import { gitEnvironment, withConfig } from "../run/environment.ts";
import { runGit, together } from "../run/run-git.ts";
import { type Progress, remoteFailure, remoteOptions, remoteUrls } from "./remote.ts";

/** A ref that a fetch or push has moved. */
export interface MovedRef {
  ref: string;
  before?: string;
  after?: string;
}

const PLAIN = ["--no-recurse-submodules", "--progress"];
/**
 * The far side's programs, said on the command line: of several remote.<name>.uploadpack git takes the first, so no
 * override could replace the repository's.
 */
const UPLOAD_PACK = "--upload-pack=git-upload-pack";
const RECEIVE_PACK = "--receive-pack=git-receive-pack";

/** Clones into a new directory inside the bound: no submodules, no template, no hooks. A failed clone leaves nothing. */
export async function clone(
  git: Git,
  query: { url: string; path: string; branch?: string | undefined; depth?: number | undefined },
  signal: AbortSignal,
  progress: Progress,
): Promise<{ repository: string; url: string; branch?: string; commit?: string; notes?: string[] }> {
  const { path, undo, done } = await newDirectory(git, query.path);
  try {
    const { entries, overrides } = await ownConfig(git, path, signal);
    const {
      config = [],
      env = {},
      protocols,
      onStderr,
    } = await remoteOptions(git, entries, [query.url], progress);
    const { program, env: own } = await git.machine();
    const result = await runGit({
      program,
      args: [
        ...["clone", "--progress", "--template=", "--origin=origin", "--no-reject-shallow"],
        ...(query.branch === undefined ? [] : [`--branch=${query.branch}`]),
        ...(query.depth === undefined ? [] : [`--depth=${query.depth}`, "--no-single-branch"]),
        ...["--", query.url, path],
      ],
      cwd: path,
      signal,
      env: withConfig({ ...gitEnvironment(own, "remote", protocols), ...env }, [...overrides, ...config]),
      ...(onStderr === undefined ? {} : { onStderr }),
    });
    if (/already exists and is not an empty directory/.test(result.stderr)) {
      throw new ToolError("conflict", `"${oneLine(path)}" is not empty.`, {
        code: "path_exists",
        hint: "Choose a directory that does not exist yet.",
      });
    }
    if (result.code !== 0) throw remoteFailure(result, "clone");
    done();
    const repository = await git.open(path, signal);
    const [branch, commit] = await together([currentBranch(repository), headOf(repository)]);
    return {
      repository: path,
      url: withoutPassword(query.url),
      ...(branch === undefined ? {} : { branch }),
      ...(commit === undefined ? {} : { commit }),
      ...(await checkedOutNote(git, path, signal)),
    };
  } catch (error) {
    await undo();
    throw error;
  }
}

export interface FetchQuery {
  readonly remote: string;
  readonly branch?: string | undefined;
  readonly prune: boolean;
  readonly tags: boolean;
}

/** Fetches a remote's branches into `refs/remotes/<remote>/`, whatever the configured refspecs say. */
export async function fetch(
  git: Git,
  repository: Repository,
  query: FetchQuery,
  progress: Progress,
): Promise<{ remote: string; updated: MovedRef[]; count: number }> {
  const { config } = await repository.prepared();
  const { remote } = query;
  const urls = remoteUrls(config, remote, false);
  const options = await remoteOptions(git, config, urls, progress);
  if (query.branch !== undefined) await checkRefName(repository, "heads", query.branch);
  const branch = query.branch ?? "*";
  const before = await refsOf(repository, remote);
  const result = await repository.run(
    [
      ...[
        "fetch",
        ...PLAIN,
        UPLOAD_PACK,
        "--no-auto-gc",
        "--no-write-commit-graph",
        "--refmap=",
        "--no-write-fetch-head",
      ],
      query.prune ? "--prune" : "--no-prune",
      query.tags ? "--tags" : "--no-tags",
      ...["--", remote, `+refs/heads/${branch}:refs/remotes/${remote}/${branch}`],
    ],
    options,
  );
  if (result.code !== 0) throw remoteFailure(result, "fetch");
  const updated = movedRefs(before, await refsOf(repository, remote));
  return { remote, updated: updated.slice(0, 100), count: updated.length };
}

/** Fetches a branch and moves the current one to it, if that loses nothing (fast-forward). */
export async function pull(
  git: Git,
  repository: Repository,
  query: { remote: string; branch?: string | undefined },
  confirm: (question: string) => Promise<void>,
  progress: Progress,
  budget: number,
): Promise<Integrated> {
  const branch = query.branch ?? (await currentBranch(repository));
  if (branch === undefined) throw detached();
  await fetch(git, repository, { remote: query.remote, branch, prune: false, tags: false }, progress);
  const revision = `refs/remotes/${query.remote}/${branch}`;
  return merge(git, repository, { revision, fastForward: "only", onConflict: "abort" }, confirm, budget);
}

export interface PushQuery {
  readonly remote: string;
  readonly branch?: string | undefined;
  readonly setUpstream: boolean;
  readonly tag?: string | undefined;
}

/**
 * Pushes one branch (and one tag) under the same name. It never forces, except where a lease names the commit that may be replaced.
 *
 * @param lease the commit that the remote's branch must still be at to be replaced
 */
export async function push(
  git: Git,
  repository: Repository,
  query: PushQuery,
  progress: Progress,
  lease?: string,
): Promise<{ remote: string; pushed: MovedRef[]; notes?: string[] }> {
  const { config } = await repository.prepared();
  const { remote, tag } = query;
  const options = await remoteOptions(git, config, remoteUrls(config, remote, true), progress);
  const branch = query.branch ?? (await currentBranch(repository));
  if (branch === undefined) throw detached();
  const refs = [`refs/heads/${branch}`, ...(tag === undefined ? [] : [`refs/tags/${tag}`])];
  await checkRefName(repository, "heads", branch);
  if (tag !== undefined) await checkRefName(repository, "tags", tag);
  const found = await repository.lookUp(refs);
  const missing = refs.find((_, index) => found[index] === undefined);
  if (missing !== undefined) {
    throw new ToolError("not_found", `${oneLine(missing)} does not exist locally.`, {
      code: "bad_revision",
      hint: "git_branch and git_list_refs show what can be pushed.",
    });
  }
  const tracking = `refs/remotes/${remote}/${branch}`;
  const [before] = await repository.lookUp([tracking]);
  const hooks = await decideHooks(git, repository, HOOKS.push);
  const result = await repository.run(
    [
      ...["push", "--porcelain", "--progress", RECEIVE_PACK, "--recurse-submodules=no", "--no-follow-tags"],
      "--no-signed",
      ...(query.setUpstream ? ["--set-upstream"] : []),
      ...(lease === undefined ? [] : [`--force-with-lease=refs/heads/${branch}:${lease}`]),
      ...["--", remote, ...refs.map((ref) => `${ref}:${ref}`)],
    ],
    options,
  );
  if (result.code !== 0) throw pushFailure(result, remote, branch);
  const pushed = refs.map((ref, index): MovedRef => {
    const after = found[index]?.oid;
    const was = index === 0 ? before?.oid : undefined;
    return { ref, ...(was === undefined ? {} : { before: was }), ...(after === undefined ? {} : { after }) };
  });
  return { remote, pushed, ...(hooks.note === undefined ? {} : { notes: [hooks.note] }) };
}

function pushFailure(result: Parameters<typeof remoteFailure>[0], remote: string, branch: string): ToolError {
  const report = `${result.stdout.toString("utf8")}${result.stderr}`;
  if (!/\[(remote )?rejected\]/.test(report)) return remoteFailure(result, "push");
  const cause = report;
  if (/stale info/.test(report)) {
    return new ToolError(
      "conflict",
      `${oneLine(remote)} has a newer ${oneLine(branch)} than the one last fetched. Nothing was pushed.`,
      {
        code: "stale_lease",
        hint: "Run git_fetch, check the new commits with git_log, then decide again.",
        cause,
      },
    );
  }
  if (/non-fast-forward|fetch first|needs force/.test(report)) {
    return new ToolError(
      "conflict",
      `${oneLine(remote)} has commits on ${oneLine(branch)} that the local repository lacks. Nothing was pushed.`,
      {
        code: "not_fast_forward",
        hint: "git_pull (or git_fetch and git_merge) first, then push again.",
        cause,
      },
    );
  }
  return new ToolError("denied", `${oneLine(remote)} rejected the push of ${oneLine(branch)}.`, {
    code: "push_rejected",
    hint: "The branch may be protected. Push another branch and open a pull request.",
    cause,
  });
}

async function refsOf(repository: Repository, remote: string): Promise<Map<string, string>> {
  const output = await repository.output(
    ["for-each-ref", "--format=%(objectname) %(refname) %(symref)", `refs/remotes/${remote}/`, "refs/tags/"],
    "list the refs",
  );
  const found = new Map<string, string>();
  for (const line of output.toString("utf8").split("\n")) {
    const [oid, ref, link] = line.split(" ");
    if (oid !== undefined && ref !== undefined && link === "") found.set(ref, oid);
  }
  return found;
}

function movedRefs(before: ReadonlyMap<string, string>, after: ReadonlyMap<string, string>): MovedRef[] {
  const moved: MovedRef[] = [];
  for (const ref of [...new Set([...before.keys(), ...after.keys()])].sort()) {
    const [was, is] = [before.get(ref), after.get(ref)];
    if (was === is) continue;
    moved.push({
      ref,
      ...(was === undefined ? {} : { before: was }),
      ...(is === undefined ? {} : { after: is }),
    });
  }
  return moved;
}

function detached(): ToolError {
  return new ToolError("invalid", "HEAD is detached, so there is no current branch.", {
    code: "detached_head",
    hint: "Pass branch_name, or switch to a branch with git_checkout.",
  });
}
