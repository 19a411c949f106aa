import { lstat } from "node:fs/promises";
import { join } from "node:path";
import { type ConfigPair, STANDING } from "../run/config.ts";
import { failure } from "../run/errors.ts";
import { locate, refuseInTree } from "./locate.ts";
import { Repository } from "./repository.ts";

const MAX_SUBMODULES = 500;

/**
 * A submodule as a repository, with its own working tree whatever its configuration says.
 *
 * @returns undefined if it is not checked out
 * @throws ToolError if its git directory is outside the allowed directories
 */
export async function submoduleIn(
  outer: Repository,
  name: string,
): Promise<Repository | undefined> {
  const { machine, signal } = outer;
  const path = join((await outer.prepared()).worktree ?? "", name);
  if ((await lstat(join(path, ".git")).catch(() => undefined)) === undefined) return undefined;
  return new Repository(machine, await locate(path, machine.options.guard), signal, {
    worktree: path,
  });
}

/**
 * The overrides for every checked-out submodule, including nested ones. Commands that examine the working tree (`add`, `stash`,
 * `commit`) run `git status` inside submodules, with the submodule's own configuration. They pass GIT_CONFIG_COUNT on, so the
 * overrides of the outer command apply there too.
 *
 * @throws ToolError if a submodule's git directory is outside the allowed directories
 */
export async function submoduleOverrides(repository: Repository): Promise<ConfigPair[]> {
  const found = new Map<string, string>();
  const waiting = [repository];
  let count = 0;
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    for (const name of (await next.prepared()).submodules) {
      const submodule = await submoduleIn(next, name);
      if (submodule === undefined) continue;
      if (++count > MAX_SUBMODULES) {
        const message = `The repository has more than ${MAX_SUBMODULES} checked-out submodules.`;
        const hint = "Reading works; make changes in a clone without submodules.";
        throw failure("too_large", message, { hint });
      }
      const { overrides, includes } = await submodule.prepared();
      refuseInTree(await repository.worktree(), submodule.location, includes);
      for (const [key, value] of overrides) found.set(key, value);
      waiting.push(submodule);
    }
  }
  for (const [key] of STANDING) found.delete(key);
  return [...found];
}
