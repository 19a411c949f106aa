import { lstat, readdir, realpath, rm, writeFile } from "node:fs/promises";
import { dirname, join, relative } from "node:path";
import { ensureDirectory } from "@refmcp/boundary";
import { oneLine, type ToolError } from "@refmcp/boundary/answer";
import * as z from "zod";
import { checkedOutNotes, withoutRepository } from "../change/new-repository.ts";
import { keepAbandoned } from "../change/recovery.ts";
import { differing, refuseFilters } from "../open/filters.ts";
import type { Git } from "../open/git.ts";
import { isGitName } from "../open/locate.ts";
import { pathIn } from "../open/paths.ts";
import type { Caller, Repository } from "../open/repository.ts";
import { withoutPassword } from "../read/refs.ts";
import { type ConfigEntry, lastValue, parseFile } from "../run/config.ts";
import { failure, failureOf, remoteFailure } from "../run/errors.ts";
import { firstNames, notesFrom, records, stagedEntry } from "../run/text.ts";
import { remoteOptions, remoteUrls } from "./remote.ts";
import { UPLOAD_PACK } from "./transfer.ts";

export const updatedSubmodules = z.object({
  submodules: z.array(
    z.object({
      path: z.string(),
      /** Where it was cloned from. */
      url: z.string().optional(),
      before: z.string().optional(),
      commit: z.string(),
      cloned: z.boolean().optional(),
      recovery: z.string().optional(),
    }),
  ),
  notes: z.array(z.string()).optional(),
});
type Updated = z.infer<typeof updatedSubmodules>["submodules"][number];

interface Submodule {
  readonly name: string;
  readonly path: string;
  readonly url: string;
  readonly commit: string;
  /** Its git directory, below the repository's. */
  readonly gitDir: string;
}

const MAX_UPDATED = 100;

/**
 * Checks out submodules at the commits that the index records, and clones those that are missing, without the help of `git
 * submodule`: every name, path and URL comes from a file that anyone can commit. Nested submodules are separate calls.
 *
 * @throws ToolError `bad_path`, `unsafe_submodule`, `local_changes`, and those of a clone; earlier submodules stay updated
 */
export async function updateSubmodules(
  repository: Repository,
  query: { paths?: readonly string[] | undefined },
  caller: Caller,
  git: Git,
): Promise<z.infer<typeof updatedSubmodules>> {
  const found = await submodulesOf(repository, query.paths);
  const { signal, budget } = caller;
  const one = { signal, budget, confirm: (question: string) => caller.confirm(question) };
  const submodules: Updated[] = [];
  const notes: string[] = [];
  for (const [index, submodule] of found.entries()) {
    const progress: Caller["progress"] = (done, total, note) =>
      caller.progress(
        index * total + done,
        found.length * total,
        `${oneLine(submodule.path)}: ${note}`,
      );
    const done = await update(repository, submodule, { ...one, progress }, git);
    submodules.push(done.updated);
    notes.push(...(done.notes ?? []).map((note) => `${oneLine(submodule.path)}: ${note}`));
  }
  return { submodules, notes: notesFrom(notes) };
}

/** The submodules of the index at these paths (all by default), each checked. */
async function submodulesOf(
  repository: Repository,
  paths: readonly string[] | undefined,
): Promise<Submodule[]> {
  const root = await repository.worktree();
  const index = await repository.output(["ls-files", "--stage", "-z"], "list the submodules");
  const staged = records(index).map(stagedEntry);
  const commits = new Map(
    staged.flatMap(({ mode, oid, stage, path }) =>
      mode === "160000" && stage === "0" ? [[path.toString("utf8"), oid] as const] : [],
    ),
  );
  const wanted = paths?.map((path) => pathIn(root, path)) ?? [...commits.keys()];
  const unknown = wanted.find((path) => !commits.has(path));
  if (unknown !== undefined || wanted.length === 0) {
    const known = firstNames([...commits.keys()]);
    const what =
      unknown === undefined
        ? "The repository has no submodules"
        : `"${oneLine(unknown)}" is not a submodule`;
    throw failure("bad_path", `${what}.`, {
      hint: known === "" ? undefined : `Its submodules are: ${known}.`,
    });
  }
  if (wanted.length > MAX_UPDATED) {
    const hint = `Pass at most ${MAX_UPDATED} of them as paths.`;
    throw failure("too_large", `The repository has ${wanted.length} submodules.`, { hint });
  }
  const [file] = await repository.lookUp([":.gitmodules"]);
  if (file === undefined) throw unsafe("", "The index has no .gitmodules file");
  const listing = await repository.run([
    "config",
    "--no-includes",
    "--blob",
    file.oid,
    "--list",
    "-z",
  ]);
  if (listing.code !== 0) throw failureOf(listing, "read .gitmodules");
  const entries = parseFile(listing.stdout, false, ".gitmodules");
  const { config } = await repository.prepared();
  return wanted.map((path) => {
    const isPath = ({ key, value }: ConfigEntry) =>
      value === path && /^submodule\..*\.path$/s.test(key);
    const name = entries.findLast(isPath)?.key.slice("submodule.".length, -".path".length) ?? "";
    const parts = name.split(/[/\\]/);
    const isPlain = parts.every(
      (part) => part !== "" && part !== "." && part !== ".." && !isGitName(part),
    );
    // CVE-2018-11235, CVE-2019-1387, CVE-2025-48384.
    if (!isPlain || /^-|[\p{Cc}:]/u.test(name) || /^-|\p{Cc}/u.test(path))
      throw unsafe(path, "Its name or path is not safe");
    const [own, listed = ""] = [config, entries].map((from) =>
      lastValue(from, `submodule.${name}.url`),
    );
    const url = own ?? resolvedUrl(listed, () => remoteUrls(config, "origin", false)[0] ?? "");
    const gitDir = join(repository.location.gitDir, "modules", ...parts);
    return { path, name, commit: commits.get(path) ?? "", url, gitDir };
  });
}

/** A URL that begins with ./ or ../ is relative to the repository's own. */
function resolvedUrl(url: string, base: () => string): string {
  if (!/^\.\.?\//.test(url)) return url;
  let [at, rest, between] = [base().replace(/\/+$/, ""), url, "/"];
  for (let step = /^(\.\.?)\/+/.exec(rest); step !== null; step = /^(\.\.?)\/+/.exec(rest)) {
    rest = rest.slice(step[0].length);
    const [, above, separator] = /^(.*[^/:])([/:])[^/:]*$/s.exec(at) ?? [];
    if (step[1] === ".." && above !== undefined) [at, between] = [above, separator ?? "/"];
  }
  return `${at}${between}${rest}`;
}

async function update(repository: Repository, submodule: Submodule, caller: Caller, git: Git) {
  const root = await repository.worktree();
  const { path, url, commit, gitDir } = submodule;
  const directory = join(root, path);
  await refuseLinks(root, directory, path);
  await refuseLinks(repository.location.gitDir, gitDir, path);
  const isCheckedOut = await exists(join(directory, ".git"));
  const isNew = !isCheckedOut && !(await exists(gitDir));
  if (!isCheckedOut) {
    // As git does: nothing is checked out over other files.
    if ((await readdir(directory).catch(() => [])).length > 0) {
      const hint = "Move the files away; git_status and git_list_files show them.";
      const message = `The directory of the submodule "${oneLine(path)}" is not empty.`;
      throw failure("path_exists", message, { hint });
    }
    if (isNew) await cloneModule(repository, submodule, caller, git);
    ensureDirectory(directory);
    await refuseLinks(root, directory, path);
    const link = `gitdir: ${slashed(relative(directory, gitDir))}\n`;
    await writeFile(join(directory, ".git"), link, { flag: "wx" });
    const back = ["core.worktree", slashed(relative(gitDir, directory))];
    await repository.output(
      ["config", "--file", join(gitDir, "config"), ...back],
      "connect the submodule",
    );
  }
  // With its own configuration, checked and overridden like that of any repository.
  const { location } = await git.open(directory, caller.signal);
  if (location.commonDir === repository.location.commonDir || location.worktree !== directory)
    throw unsafe(path, "Its git directory is another one");
  return git.change(directory, caller.signal, async (inner) => {
    if ((await inner.worktree()) !== directory) throw unsafe(path, "Its working tree is elsewhere");
    let [head, wanted] = await inner.lookUp(["HEAD^{commit}", `${commit}^{commit}`]);
    if (wanted === undefined) {
      await fetchCommit(inner, commit, caller);
      [wanted] = await inner.lookUp([`${commit}^{commit}`]);
    }
    if (wanted === undefined)
      throw failure(
        "missing_object",
        `The submodule's remote does not have the commit ${commit}.`,
        {
          hint: "Somebody has to push it there first.",
        },
      );
    const cloned = isNew ? { url: withoutPassword(url), cloned: true } : {};
    const updated = { path, commit, ...cloned };
    const before = isCheckedOut ? head?.oid : undefined;
    if (before === commit) return { updated: { ...updated, before } };
    for (const [key, value] of Object.entries({ url, active: "true" })) {
      const args = ["config", `submodule.${submodule.name}.${key}`, value];
      await repository.output(args, "register the submodule");
    }
    if (before !== undefined)
      await refuseFilters(inner, () => differing(inner, before, commit), commit);
    const plain = ["--quiet", "--no-recurse-submodules"];
    const move = ["switch", ...plain, "--detach", "--no-overwrite-ignore", commit];
    // In a new working tree there is nothing to lose. HEAD is written last: it says that the files are there.
    const create = [
      ["read-tree", "--reset", "-u", "--no-recurse-submodules", commit],
      ["update-ref", "--no-deref", "HEAD", commit],
    ];
    for (const args of before === undefined ? create : [move])
      await inner.output(args, "check out the submodule");
    const left = head === undefined ? undefined : await keepAbandoned(inner, head.oid, commit);
    const notes = notesFrom(
      isNew && (await checkedOutNotes(git, directory, caller.signal)),
      left?.note,
    );
    return { updated: { ...updated, before, recovery: left?.recovery }, notes };
  });
}

/** Clones into the submodule's git directory, without a working tree; a failure leaves nothing. */
async function cloneModule(
  repository: Repository,
  { url, gitDir }: Submodule,
  caller: Caller,
  git: Git,
) {
  const { entries, run } = await withoutRepository(git, repository.location.gitDir, caller.signal);
  const options = await remoteOptions(git.options, entries, [url], caller);
  try {
    const args = [
      "clone",
      "--bare",
      "--progress",
      "--template=",
      "--origin=origin",
      "--",
      url,
      gitDir,
    ];
    const result = await run(args, options);
    if (result.code !== 0) throw remoteFailure(result, "clone the submodule");
    const config = ["config", "--file", join(gitDir, "config")];
    await run([...config, "core.bare", "false"]);
    await run([...config, "remote.origin.fetch", "+refs/heads/*:refs/remotes/origin/*"]);
    // A bare clone has the remote's branches as its own.
    const refs = await run([
      "--git-dir",
      gitDir,
      "for-each-ref",
      "--format=%(refname)",
      "refs/heads/",
    ]);
    const heads = refs.stdout.toString("utf8").split("\n").filter(Boolean);
    const moves = heads.flatMap((ref) => [
      `create refs/remotes/origin/${ref.slice("refs/heads/".length)} ${ref}`,
      `delete ${ref}`,
    ]);
    await run(["--git-dir", gitDir, "update-ref", "--stdin"], { input: `${moves.join("\n")}\n` });
  } catch (error) {
    await rm(gitDir, { recursive: true, force: true });
    throw error;
  }
}

/** Fetches the branches of a submodule's remote, and the commit itself if no branch has it. */
async function fetchCommit(inner: Repository, commit: string, caller: Caller): Promise<void> {
  const { config } = await inner.prepared();
  const options = await remoteOptions(
    inner.options,
    config,
    remoteUrls(config, "origin", false),
    caller,
  );
  const how = ["--no-recurse-submodules", "--progress", UPLOAD_PACK, "--no-auto-gc", "--no-tags"];
  const none = ["--no-write-commit-graph", "--no-write-fetch-head", "--refmap="];
  for (const what of ["+refs/heads/*:refs/remotes/origin/*", commit]) {
    const result = await inner.run(["fetch", ...how, ...none, "--", "origin", what], options);
    if (result.code !== 0 && what !== commit) throw remoteFailure(result, "fetch the submodule");
    const [found] = await inner.lookUp([`${commit}^{commit}`]);
    if (found !== undefined) return;
  }
}

/**
 * Refuses a path whose directories are links, or git directories of other submodules: git would write through them, for example
 * a hook (CVE-2019-1387, CVE-2021-21300, CVE-2024-32002).
 */
async function refuseLinks(root: string, directory: string, path: string): Promise<void> {
  const start = await realpath(root);
  for (let at = directory; at !== root; at = dirname(at)) {
    const stats = await lstat(at).catch(() => undefined);
    if (stats === undefined) continue;
    // Case and normal forms may differ on some file systems; then the real path differs from the name.
    const real = join(start, relative(root, at));
    if (!stats.isDirectory() || (await realpath(at)) !== real)
      throw unsafe(path, "A link or a file is on the way to it");
    if (at !== directory && (await exists(join(at, "HEAD"))) && (await exists(join(at, "objects"))))
      throw unsafe(path, "It would be inside another git directory");
  }
}

const exists = async (path: string) => (await lstat(path).catch(() => undefined)) !== undefined;
const slashed = (path: string) => path.replaceAll("\\", "/");

function unsafe(path: string, why: string): ToolError {
  return failure("unsafe_submodule", `The submodule "${oneLine(path)}" was not updated. ${why}.`);
}
