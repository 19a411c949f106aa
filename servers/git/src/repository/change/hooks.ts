import { access, constants, readdir, realpath } from "node:fs/promises";
import { join, resolve } from "node:path";
import { oneLine, ToolError } from "@refmcp/core/answer";
import type { Caller, Git } from "../open/git.ts";
import type { Repository } from "../open/repository.ts";
import type { ConfigPair } from "../run/environment.ts";

/** How one command treats a repository's hooks. */
interface HookDecision {
  readonly config: readonly ConfigPair[];
  /** For the response: which hooks ran or were skipped. */
  readonly notes: string[] | undefined;
}

/** Hooks that any change to refs or the index calls. */
const ANY = ["post-index-change", "reference-transaction"];

/** The hooks that each kind of command would call (githooks). */
export const HOOKS = {
  commit: ["pre-commit", "prepare-commit-msg", "commit-msg", "post-commit", "post-rewrite", ...ANY],
  merge: ["pre-merge-commit", "prepare-commit-msg", "commit-msg", "post-merge", ...ANY],
  checkout: ["post-checkout", ...ANY],
  push: ["pre-push"],
} as const;

/**
 * Finds the hooks that a command would call and decides by `--hooks`: `run` runs them, `ask` asks the user, `off`
 * (and `ask` if nobody can be asked) skips them and reports it, whereas the official server does so silently.
 *
 * @param caller is asked; if omitted, hooks do not run whatever the option says
 */
export async function decideHooks(
  git: Git,
  repository: Repository,
  names: readonly string[],
  caller?: Pick<Caller, "confirm">,
): Promise<HookDecision> {
  const found = await presentHooks(git, repository, names);
  if (found === undefined) return { config: [], notes: undefined };
  const list = found.names.join(", ");
  const run: HookDecision = {
    config: [["core.hooksPath", found.directory]],
    notes: [`Ran the hooks ${list}.`],
  };
  const skipped = (why: string): HookDecision => ({
    config: [],
    notes: [`Did not run the hooks ${list}: ${why}.`],
  });
  const { hooks, mayAsk } = git.options;
  if (caller === undefined) return skipped("this tool does not run hooks");
  if (hooks === "run") return run;
  if (hooks === "off") return skipped("--hooks off");
  if (!mayAsk) return skipped("--confirm never disables questions; --hooks run would run them");
  try {
    await caller.confirm(
      `Run the hooks ${list} of ${oneLine(found.directory)}? They are programs in this repository. If you decline, the command continues without them.`,
    );
    return run;
  } catch (error) {
    if (!(error instanceof ToolError)) throw error;
    return skipped("the user did not agree, or could not be asked");
  }
}

async function presentHooks(
  git: Git,
  repository: Repository,
  names: readonly string[],
): Promise<{ directory: string; names: string[] } | undefined> {
  const { config, worktree } = await repository.prepared();
  const { commonDir, gitDir } = repository.location;
  const chosen = config.findLast(({ key }) => key === "core.hookspath");
  const named = chosen === undefined ? join(commonDir, "hooks") : resolve(worktree ?? gitDir, chosen.value);
  const directory = await realpath(named).catch(() => undefined);
  if (directory === undefined) return undefined;
  // A directory set by the repository must be inside it; one chosen by the user may be anywhere.
  if (!git.guard.contains(directory) && chosen?.own !== true) return undefined;
  const entries = await readdir(directory).catch(() => [] as string[]);
  const present: string[] = [];
  for (const name of names) {
    if (!entries.includes(name)) continue;
    const isProgram = await access(join(directory, name), constants.X_OK).then(
      () => true,
      () => false,
    );
    if (isProgram) present.push(name);
  }
  return present.length === 0 ? undefined : { directory, names: present };
}
