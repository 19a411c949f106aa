import type { PathGuard } from "@refmcp/boundary";
import {
  type ConfigEntry,
  type ConfigPair,
  type Configuration,
  type FilterPolicy,
  overridesFor,
  ownCredentialHelpers,
} from "../run/config.ts";
import { type GitResult, type GitRun, gitEnvironment, runGit, withConfig } from "../run/run-git.ts";
import type { Listing } from "./refs-listing.ts";

/** The user's choices, and what the repositories share. */
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
  /** Whether a tool is offered, so that responses may mention it; true for names that are not tools. */
  offers(tool: string): boolean;
}

export interface Machine {
  readonly program: string;
  readonly options: GitOptions;
  /** The submodules of checked indexes, by their file, with the state of that file. */
  readonly indexes: Map<string, { state: string; submodules: readonly string[] }>;
  /** Configurations that other calls read, and what they make of git's settings, by git directory. */
  readonly configurations: Map<string, Settings>;
  /** What `git for-each-ref` printed, by git directory and arguments. */
  readonly listings: Map<string, Listing>;
  /** Where git looks for the system's configuration. */
  readonly system: string;
}

/** A configuration and what follows from it. */
export interface Settings {
  readonly configuration: Configuration;
  readonly overrides: readonly ConfigPair[];
  /** Configured filters that do not run, and whether they are the user's own. */
  readonly filters: ReadonlyMap<string, boolean>;
}

export interface RunOptions
  extends Pick<GitRun, "input" | "silent" | "maxBytes" | "onStdout" | "onStderr"> {
  readonly config?: readonly ConfigPair[];
  readonly env?: Readonly<Record<string, string>>;
  readonly protocols?: readonly string[];
}

/** Arguments of a command. Those that don't apply are false or undefined, and are omitted. */
export type Arguments = readonly (string | false | undefined)[];

/** Runs git in the hardened environment; the options add to the configuration and the environment given before. */
export function spawnGit(
  machine: Pick<Machine, "program" | "options">,
  place: Pick<GitRun, "cwd" | "signal"> & Partial<Pick<GitRun, "env">>,
  overrides: readonly ConfigPair[],
  args: readonly string[],
  { config = [], env, protocols, ...rest }: RunOptions = {},
): Promise<GitResult> {
  const all = environmentOf(
    machine,
    { ...place.env, ...env },
    [...overrides, ...config],
    protocols,
  );
  return runGit({ ...rest, ...place, program: machine.program, args, env: all });
}

/** The hardened environment with these variables and this configuration. */
export function environmentOf(
  { options }: Pick<Machine, "options">,
  env: Readonly<Record<string, string>>,
  overrides: readonly ConfigPair[],
  protocols?: readonly string[],
): Record<string, string> {
  return withConfig(
    { ...gitEnvironment(options.env, protocols, options.filters), ...env },
    overrides,
  );
}

export function withoutFilters(machine: Machine): Machine {
  return { ...machine, options: { ...machine.options, filters: "off" } };
}

/** What makes a configuration harmless; the user's filters, if they run, may need credentials. */
export function harmless(
  { filters }: GitOptions,
  entries: readonly ConfigEntry[],
  dormant: readonly ConfigEntry[],
): ConfigPair[] {
  const pairs = overridesFor(entries, dormant, filters);
  return filters === "own" ? [...pairs, ...ownCredentialHelpers(entries)] : pairs;
}
