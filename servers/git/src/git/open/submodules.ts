import { lstat } from "node:fs/promises";
import { join } from "node:path";
import { type ConfigPair, STANDING } from "../run/config.ts";
import { refuseInTree } from "./git-directory.ts";
import { locate } from "./locate.ts";
import { Repository } from "./repository.ts";

/**
 * A submodule as a repository, with its own working tree, regardless of its configuration.
 *
 * @returns undefined if it is not checked out
 * @throws ToolError if its git directory is outside the allowed directories
 */
async function submoduleAt(worktree: string, { machine, signal }: Repository) {
  const entry = await lstat(join(worktree, ".git")).catch(() => undefined);
  if (entry === undefined) return undefined;
  const location = await locate(worktree, machine.options.guard);
  return new Repository(machine, location, signal, { worktree });
}

/**
 * The overrides for every checked-out submodule, including nested ones. Commands that examine the
 * working tree (`add`, `stash`, `commit`) run `git status` inside submodules, with the submodule's own
 * configuration. They pass GIT_CONFIG_COUNT on, so the overrides of the outer command apply there.
 *
 * @param root the working tree
 * @param names the paths of its submodules
 * @param outer whose machine is used; it is still being prepared
 * @throws ToolError if a submodule's git directory is outside the allowed directories
 */
export async function submoduleOverrides(
  root: string,
  names: readonly string[],
  outer: Repository,
): Promise<ConfigPair[]> {
  const all = new Map<string, string>();
  const waiting = names.map((name) => join(root, name));
  for (let path = waiting.pop(); path !== undefined; path = waiting.pop()) {
    const submodule = await submoduleAt(path, outer);
    if (submodule === undefined) continue;
    refuseInTree(root, [submodule.location.gitDir, submodule.location.commonDir]);
    const { overrides, submodules } = await submodule.prepared();
    for (const [key, value] of overrides) all.set(key, value);
    for (const name of submodules) waiting.push(join(path, name));
  }
  for (const [key] of STANDING) all.delete(key);
  return [...all];
}
