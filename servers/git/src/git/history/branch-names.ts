import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { Repository } from "../open/repository.ts";
import { KINDS, lookUp, type NameKind } from "../open/revisions.ts";
import { lastValue } from "../run/config.ts";
import { failure } from "../run/errors.ts";

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
 * The branch that others start from: what origin calls its HEAD, or the first existing of
 * init.defaultBranch, main and master.
 *
 * @returns its full name
 * @throws ToolError `no_default_branch`
 */
export async function defaultBranch(repository: Repository): Promise<string> {
  const list = ["for-each-ref", "--format=%(symref)", "refs/remotes/origin/HEAD"];
  const [origin] = await repository.lines(list, "read the default branch");
  const configured = lastValue((await repository.prepared()).config, "init.defaultbranch");
  const names = [configured, "main", "master"].flatMap((name) =>
    name ? [`refs/heads/${name}`] : [],
  );
  const candidates = origin === undefined ? names : [origin, ...names];
  const existing = await lookUp(repository, candidates);
  const first = candidates.find((_, index) => existing[index] !== undefined);
  if (first !== undefined) return first;
  const message = "The repository has no default branch: no origin/HEAD, main or master.";
  throw failure("no_default_branch", message);
}

/**
 * Checks the name for a new branch or tag (git-check-ref-format).
 *
 * @throws ToolError `bad_name`
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
 * Refuses what git could interpret as something other than a name; the command that creates the ref
 * checks git's rules.
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
