import { lstat } from "node:fs/promises";
import { join, resolve } from "node:path";
import { ToolError } from "@refmcp/boundary/answer";
import type { ConfigPair } from "../run/environment.ts";
import { STANDING } from "../run/safe-config.ts";
import type { Git } from "./git.ts";
import { locate } from "./locate.ts";
import { type Prepared, Repository } from "./repository.ts";

const MAX_SUBMODULES = 500;

/**
 * The overrides for every checked-out submodule, including nested ones. Commands that examine the working tree (`add`, `stash`,
 * `commit`) run `git status` inside submodules, with the submodule's own configuration. They pass GIT_CONFIG_COUNT on, so the
 * overrides of the outer command apply there too.
 *
 * @throws ToolError if a submodule's git directory is outside the bound
 */
export async function submoduleOverrides(repository: Repository, git: Git): Promise<ConfigPair[]> {
  const { guard } = git;
  const found = new Map<string, string>();
  const waiting: Repository[] = [repository];
  let count = 0;
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    for (const path of await checkedOutSubmodules(next)) {
      if (++count > MAX_SUBMODULES) {
        throw new ToolError(
          "too_large",
          `The repository has more than ${MAX_SUBMODULES} checked-out submodules.`,
          {
            code: "too_large",
            hint: "Reading works; make changes in a clone without submodules.",
          },
        );
      }
      const location = await locate(path, guard);
      const { machine, signal } = repository;
      const prepare = async (submodule: Repository): Promise<Prepared> => {
        const { entries: config, dormant, ...rest } = await submodule.readConfig(guard);
        const isInside = (file: string) => guard.contains(resolve(path, file));
        return {
          ...rest,
          config,
          overrides: git.overrides(config, dormant),
          filters: new Map(),
          worktree: path,
          submodules: await submodule.readIndex(config),
          isInside,
        };
      };
      const submodule = new Repository(machine, location, prepare, signal);
      for (const [key, value] of (await submodule.prepared()).overrides) found.set(key, value);
      waiting.push(submodule);
    }
  }
  for (const [key] of STANDING) found.delete(key);
  return [...found];
}

async function checkedOutSubmodules(repository: Repository): Promise<string[]> {
  const { worktree, submodules } = await repository.prepared();
  const paths = submodules.map((path) => join(worktree ?? "", path));
  const found = await Promise.all(paths.map((path) => lstat(join(path, ".git")).catch(() => undefined)));
  return paths.filter((_, index) => found[index] !== undefined);
}
