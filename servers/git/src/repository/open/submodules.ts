import { lstat, readFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { ToolError } from "@refmcp/core/answer";
import type { ConfigPair } from "../run/environment.ts";
import { standingOverrides } from "../run/safe-config.ts";
import { records } from "../run/text.ts";
import type { Git } from "./git.ts";
import { locate } from "./locate.ts";
import { type Prepared, Repository } from "./repository.ts";

const MOST_SUBMODULES = 500;

/**
 * The overrides for every checked-out submodule, nested ones too. git runs `git status` inside of them from commands
 * that look at the working tree (`add`, `stash`, `commit`), with the submodule's own configuration; it passes
 * GIT_CONFIG_COUNT on, so what is set for the outer command holds there as well.
 *
 * @throws ToolError where a submodule's git directory lies outside the bound
 */
export async function submoduleOverrides(repository: Repository, git: Git): Promise<ConfigPair[]> {
  const { guard } = git;
  const found = new Map<string, string>();
  const waiting: Repository[] = [repository];
  let count = 0;
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    for (const path of await checkedOutSubmodules(next)) {
      if (++count > MOST_SUBMODULES) {
        throw new ToolError(
          "too_large",
          `The repository has more than ${MOST_SUBMODULES} checked-out submodules.`,
          {
            code: "too_large",
            hint: "Reading works; make the change in a clone without submodules.",
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
          isInside,
        };
      };
      const submodule = new Repository(machine, location, prepare, signal);
      for (const [key, value] of (await submodule.prepared()).overrides) found.set(key, value);
      waiting.push(submodule);
    }
  }
  for (const [key] of standingOverrides()) found.delete(key);
  return [...found];
}

async function checkedOutSubmodules(repository: Repository): Promise<string[]> {
  const { worktree } = await repository.prepared();
  if (worktree === undefined || !(await mayHoldSubmodules(repository))) return [];
  const listing = await repository.run(["ls-files", "-s", "-z"]);
  const paths: string[] = [];
  if (!listing.stdout.includes("160000 ")) return paths;
  for (const record of records(listing.stdout)) {
    if (record.toString("latin1", 0, 7) !== "160000 ") continue;
    const path = join(worktree, record.subarray(record.indexOf(9) + 1).toString("utf8"));
    if ((await lstat(join(path, ".git")).catch(() => undefined)) !== undefined) paths.push(path);
  }
  return paths;
}

/** The mode of a submodule in an index, and extensions under which its entries are elsewhere (split and sparse index). */
const SIGNS = [Buffer.from([0, 0, 0xe0, 0]), Buffer.from("link"), Buffer.from("sdir")];

/** Whether the index can hold a submodule at all; by chance other bytes look alike, and then git lists it. */
async function mayHoldSubmodules(repository: Repository): Promise<boolean> {
  const index = await readFile(join(repository.location.gitDir, "index")).catch(() => undefined);
  return index !== undefined && SIGNS.some((sign) => index.includes(sign));
}
