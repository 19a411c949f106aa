import { access, constants, readdir, realpath } from "node:fs/promises";
import { join, resolve } from "node:path";
import { oneLine, ToolError } from "@refmcp/boundary/answer";
import type { RunOptions } from "../open/machine.ts";
import type { Caller, Repository } from "../open/repository.ts";
import { type ConfigPair, isOwn, isTrue, lastValue } from "../run/config.ts";
import { variables } from "../run/environment.ts";
import { failure } from "../run/errors.ts";
import type { GitResult } from "../run/run-git.ts";

/** How one command treats a repository's hooks. */
export interface HookDecision {
  /** What makes git run them; empty if it runs none. */
  readonly config: readonly ConfigPair[];
  readonly env: Readonly<Record<string, string>>;
  /** For the response: which hooks ran or were skipped. */
  readonly notes: string[] | undefined;
}

const NO_HOOKS = { config: [], env: {} };

/** Hooks that any change to refs or the index calls. */
const ANY = ["post-index-change", "reference-transaction"];
const MESSAGE = ["prepare-commit-msg", "commit-msg"];

/** The hooks that each kind of command would call (githooks). */
export const HOOKS = {
  commit: ["pre-commit", ...MESSAGE, "post-commit", "post-rewrite", ...ANY],
  merge: ["pre-merge-commit", ...MESSAGE, "post-merge", ...ANY],
  fastForward: ["post-merge", ...ANY],
  replay: ["prepare-commit-msg", "post-commit", "post-rewrite", ...ANY],
  rebase: ["pre-rebase", ...MESSAGE, "post-checkout", "post-commit", "post-rewrite", ...ANY],
  checkout: ["post-checkout", ...ANY],
  push: ["pre-push"],
} as const;

/**
 * Hooks that check or complete what a command does. Without them it could do what the repository's
 * owners forbid; the others only follow what has happened.
 */
const CHECKS = /^(pre-|prepare-|commit-)/;

/**
 * Finds the hooks that a command would call and decides by `--hooks`: `run` runs them, `off` skips
 * them, `ask` asks the user. If nobody can be asked, a command that a hook would check is refused
 * unless the call accepts that; other hooks are skipped. The response reports what was skipped.
 *
 * @param skip the call's `skip_hooks`: what to do if the user cannot be asked
 * @throws ToolError `hook_needed`
 */
export async function decideHooks(
  repository: Repository,
  names: readonly string[],
  caller: Pick<Caller, "confirm">,
  skip = false,
): Promise<HookDecision> {
  const hookFiles = await presentHooks(repository, names);
  if (hookFiles === undefined) return { ...NO_HOOKS, notes: undefined };
  const list = hookFiles.names.join(", ");
  const run: HookDecision = {
    config: [["core.hooksPath", hookFiles.directory]],
    // Hooks pass patterns to git ("*.ts"), which would otherwise match nothing, so that checks would pass.
    env: { GIT_LITERAL_PATHSPECS: "0" },
    notes: [`Ran the hooks ${list}.`],
  };
  const skipped = (why: string): HookDecision => ({
    ...NO_HOOKS,
    notes: [`Did not run the hooks ${list}: ${why}.`],
  });
  const { hooks, mayAsk } = repository.options;
  if (hooks === "run") return run;
  if (hooks === "off") return skipped("--hooks off");
  if (mayAsk) {
    try {
      await caller.confirm(
        `Run the hooks ${list} of ${oneLine(hookFiles.directory)}? They are programs in this repository. If you decline, the command continues without them.`,
      );
      return run;
    } catch (error) {
      if (!(error instanceof ToolError)) throw error;
      if (error.code === "declined") return skipped("the user declined");
    }
  }
  if (skip) return skipped("skip_hooks");
  const checks = hookFiles.names.filter((name) => CHECKS.test(name));
  if (checks.length === 0) return skipped("nobody could be asked; --hooks run would run them");
  const message = `The repository has the hooks ${checks.join(", ")} for this command, and nobody can be asked whether to run them. Nothing was changed.`;
  throw failure("hook_needed", message);
}

/** The hooks that exist, can be run and have something to run. */
async function presentHooks(repository: Repository, names: readonly string[]) {
  const { config, worktree } = await repository.prepared();
  const { commonDir, gitDir } = repository.location;
  const setting = config.findLast(({ key }) => key === "core.hookspath");
  const path =
    setting === undefined ? join(commonDir, "hooks") : resolve(worktree ?? gitDir, setting.value);
  const directory = await realpath(path).catch(() => undefined);
  if (directory === undefined) return undefined;
  // A directory set by the repository must be inside it; one chosen by the user may be anywhere.
  if (!repository.options.guard.contains(directory) && setting?.own !== true) return undefined;
  const entries = await readdir(directory).catch(() => [] as string[]);
  const programs: string[] = [];
  for (const name of names.filter((hook) => entries.includes(hook)))
    await access(join(directory, name), constants.X_OK).then(
      () => programs.push(name),
      () => undefined,
    );
  return programs.length === 0 ? undefined : { directory, names: programs };
}

/** What git prints after a hook has rejected a command. */
const REJECTED =
  /^(error: '[a-z-]+' hook failed|fatal: (cherry-pick|revert) failed|fatal: The pre-rebase hook refused to rebase\.|Not committing merge; .*|error: failed to push some refs to .*)$/gm;

/**
 * The error with the output of a hook that rejected the command; undefined if no hook ran or git failed by itself.
 *
 * @param isCertain whether nothing else can have failed; otherwise git's messages decide
 */
export function hookFailure(
  { config }: HookDecision,
  { stdout, stderr }: Pick<GitResult, "stdout" | "stderr">,
  isCertain = false,
): ToolError | undefined {
  const output = stderr.replace(REJECTED, "");
  const isRejected = isCertain || output !== stderr || !/^(fatal|error): /m.test(stderr);
  if (config.length === 0 || !isRejected) return undefined;
  const said = oneLine(`${stdout.toString("utf8")}${output}`.trim().slice(0, 2_000));
  const message = `A hook rejected the command. Its output: ${said === "" ? "none" : said}`;
  return failure("hook_failed", message);
}

/**
 * Whether commits are signed: by the user's configuration (commit.gpgSign), never by the repository's.
 * Signing needs the user's key agent.
 *
 * @param further configuration and environment of the command, for its hooks
 * @returns the option of the command, and how it runs
 */
export async function signing(
  repository: Repository,
  { config: configured = [], env = {} }: Pick<RunOptions, "config" | "env"> = {},
): Promise<{ option: string; options: RunOptions }> {
  const { config } = await repository.prepared();
  if (!isTrue(lastValue(config, "commit.gpgsign", isOwn)))
    return { option: "--no-gpg-sign", options: { config: configured, env } };
  const agent = variables(repository.options.env, "GNUPGHOME GPG_AGENT_INFO SSH_AUTH_SOCK");
  const options: RunOptions = {
    config: [...configured, ["commit.gpgSign", "true"]],
    env: { ...env, ...agent },
  };
  return { option: "--gpg-sign", options };
}
