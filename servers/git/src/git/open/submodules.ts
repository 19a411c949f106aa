import { lstat } from "node:fs/promises";
import { join } from "node:path";
import { type ConfigPair, STANDING } from "../run/config.ts";
import { refuseInTree } from "./git-directory.ts";
import { locate } from "./locate.ts";
import { Repository } from "./repository.ts";

/**
 * A submodule as a repository, with its own working tree whatever its configuration says.
 *
 * @returns undefined if it is not checked out
 * @throws ToolError if its git directory is outside the allowed directories
 */
async function submoduleIn(outer: Repository, name: string): Promise<Repository | undefined> {
  const { machine, signal } = outer;
  const worktree = join(await outer.worktree(), name);
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
 * @throws ToolError if a submodule's git directory is outside the allowed directories
 */
export async function submoduleOverrides(repository: Repository): Promise<ConfigPair[]> {
  const root = await repository.worktree();
  const all = new Map<string, string>();
  const waiting = [repository];
  for (let outer = waiting.pop(); outer !== undefined; outer = waiting.pop()) {
    for (const name of (await outer.prepared()).submodules) {
      const submodule = await submoduleIn(outer, name);
      if (submodule === undefined) continue;
      refuseInTree(root, [submodule.location.gitDir, submodule.location.commonDir]);
      for (const [key, value] of (await submodule.prepared()).overrides) all.set(key, value);
      waiting.push(submodule);
    }
  }
  for (const [key] of STANDING) all.delete(key);
  return [...all];
}
