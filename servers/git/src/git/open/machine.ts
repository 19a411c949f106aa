import type { PathGuard } from "@refmcp/boundary";
import { type ConfigEntry, type ConfigPair, type FilterPolicy, STANDING } from "../run/config.ts";
import { gitEnvironment, withConfig } from "../run/environment.ts";
import { type GitResult, type GitRun, runGit } from "../run/run-git.ts";

/** The user's choices. */
export interface GitOptions {
  readonly guard: PathGuard;
  readonly env: NodeJS.ProcessEnv;
  readonly hooks: "off" | "run" | "ask";
  readonly filters: FilterPolicy;
  /** Whether the user may be asked at all (`--confirm`). */
  readonly mayAsk: boolean;
  readonly protocols: readonly string[];
  /** Hosts that may be contacted even if their address is private. */
  readonly allowedHosts: readonly string[];
}

/** A repository's configuration, with that of the user and the system, and what follows from it. */
export interface Configuration {
  /** In the order that git applies them. */
  readonly entries: readonly ConfigEntry[];
  /** What keeps every command from running a program that it names. */
  readonly overrides: readonly ConfigPair[];
  /** Configured filters that do not run, and whether they are the user's own. */
  readonly filters: ReadonlyMap<string, boolean>;
  /** Whether one of its files has changed since it was read. */
  isStale(): boolean;
}

/** The program, the user's choices, and what was read of repositories, by file or git directory. */
export interface Machine {
  readonly program: string;
  readonly options: GitOptions;
  readonly configurations: Map<string, Configuration>;
  /** Indexes whose paths were checked, and the submodules in them. */
  readonly indexes: Map<string, { state: string; submodules: readonly string[] }>;
}

/** Where git runs, and until when. */
export interface Place {
  readonly cwd: string;
  readonly signal: AbortSignal;
  /** `GIT_DIR` and others that tell git which repository it works on. */
  readonly env?: Readonly<Record<string, string>>;
}

export interface RunOptions
  extends Pick<GitRun, "input" | "silent" | "maxBytes" | "onStdout" | "onStderr"> {
  readonly config?: readonly ConfigPair[] | undefined;
  readonly env?: Readonly<Record<string, string>> | undefined;
  readonly protocols?: readonly string[] | undefined;
}

/** Arguments of a command. Those that don't apply are false or undefined, and are omitted. */
export type Arguments = readonly (string | false | undefined)[];

/**
 * Runs git in the hardened environment. Resolves with any exit code.
 *
 * @param overrides what makes the configuration harmless; `STANDING` before it is known
 */
export function spawnGit(
  { program, options }: Machine,
  place: Place,
  args: Arguments,
  { config = [], env, protocols, ...rest }: RunOptions = {},
  overrides: readonly ConfigPair[] = STANDING,
): Promise<GitResult> {
  const hardened = gitEnvironment(options.env, protocols, options.filters);
  return runGit({
    ...rest,
    program,
    cwd: place.cwd,
    signal: place.signal,
    args: args.filter((arg) => typeof arg === "string"),
    env: withConfig({ ...hardened, ...place.env, ...env }, [...overrides, ...config]),
  });
}

/** The same machine for work in which no filter may run, not even the user's. */
export function withoutFilters(machine: Machine): Machine {
  return { ...machine, options: { ...machine.options, filters: "off" } };
}
