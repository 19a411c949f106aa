import { join } from "node:path";
import type { PathGuard } from "@refmcp/boundary";
import { ToolError } from "@refmcp/boundary/answer";
import { type ConfigEntry, lastValue } from "../run/config.ts";
import { type ConfigPair, gitEnvironment, withConfig } from "../run/environment.ts";
import { failureOf } from "../run/failures.ts";
import { type GitResult, type GitRun, runGit, together } from "../run/run-git.ts";
import { type FilterPolicy, STANDING } from "../run/safe-config.ts";
import { refuseAmbiguous } from "./ambiguous.ts";
import { submodulesInIndex } from "./index-file.ts";
import type { Location } from "./locate.ts";
import { type Configuration, readConfig } from "./read-config.ts";

/** Shared by every git process of this server. */
export interface Machine {
  readonly program: string;
  /** The server's environment, of which little is passed on. */
  readonly env: NodeJS.ProcessEnv;
  /** The user's filters may need to reach a server. */
  readonly filters: FilterPolicy;
}

/** What is known about a repository after its configuration was read. */
export interface Prepared extends Pick<Configuration, "includes" | "isStale"> {
  readonly config: readonly ConfigEntry[];
  readonly overrides: readonly ConfigPair[];
  /** Configured filters that do not run, and whether they are the user's own. */
  readonly filters: ReadonlyMap<string, boolean>;
  /** The working tree's root; undefined for a bare repository. */
  readonly worktree: string | undefined;
  /** Paths of the index's submodules. */
  readonly submodules: readonly string[];
  /** Whether a file that the configuration names may be read. */
  isInside(path: string): boolean;
}

/** How one command runs, apart from its arguments. */
export interface RunOptions extends Pick<GitRun, "input" | "maxBytes" | "onStdout" | "onStderr"> {
  /** Further configuration, after the overrides. */
  readonly config?: readonly ConfigPair[];
  /** Further environment, such as GIT_INDEX_FILE. */
  readonly env?: Readonly<Record<string, string>>;
  /** Allowed transports, for a command that contacts a remote. */
  readonly protocols?: readonly string[];
}

/** An object that a name refers to. */
export interface Named {
  readonly oid: string;
  readonly type: string;
  /** Bytes. */
  readonly size: number;
}

/**
 * A repository during one call. Its git processes run in the hardened environment, on exactly this git directory, and end
 * with the call.
 */
export class Repository {
  readonly location: Location;
  readonly signal: AbortSignal;
  readonly machine: Machine;
  readonly #prepare: (repository: Repository) => Promise<Prepared>;
  #prepared: Promise<Prepared>;

  /** @param prepare reads the configuration; commands that don't need it don't wait for it */
  constructor(
    machine: Machine,
    location: Location,
    prepare: (repository: Repository) => Promise<Prepared>,
    signal: AbortSignal,
  ) {
    this.machine = machine;
    this.location = location;
    this.signal = signal;
    this.#prepare = prepare;
    this.#prepared = prepare(this);
    // The caller of a command gets the error.
    this.#prepared.catch(() => undefined);
  }

  /** The current configuration, overrides and working tree. */
  async prepared(): Promise<Prepared> {
    if ((await this.#prepared).isStale()) this.#prepared = this.#prepare(this);
    return this.#prepared;
  }

  /**
   * The working tree's root.
   *
   * @throws ToolError `invalid`, code `bare_repository`
   */
  async worktree(): Promise<string> {
    const { worktree } = await this.prepared();
    if (worktree !== undefined) return worktree;
    throw new ToolError("invalid", "This is a bare repository: it has no working tree and no index.", {
      code: "bare_repository",
      hint: "git_log, git_show, git_diff, git_grep and git_list_files with a revision work here.",
    });
  }

  /** Runs git; resolves with any exit code. */
  async run(args: readonly string[], options: RunOptions = {}): Promise<GitResult> {
    const prepared = await this.prepared();
    return this.#spawn(args, options, prepared.worktree, prepared.overrides);
  }

  /**
   * Runs git and returns its stdout.
   *
   * @param doing for the error, "git could not …": `read the log`
   * @throws ToolError if the exit code is not 0 (unless the output was cut)
   */
  async output(args: readonly string[], doing: string, options: RunOptions = {}): Promise<Buffer> {
    const result = await this.run(args, options);
    if (result.code !== 0 && !result.cut) throw failureOf(result, doing);
    return result.stdout;
  }

  /** The lines that git prints, without empty ones. */
  async lines(args: readonly string[], doing: string): Promise<string[]> {
    return (await this.output(args, doing)).toString("utf8").split("\n").filter(Boolean);
  }

  /**
   * Looks names up with `git cat-file --batch-check`. Names are passed on stdin, so none can be an option. It runs before the
   * configuration is known, because it only reads objects and refs.
   *
   * @returns in order; undefined for an unknown name
   * @throws ToolError `ambiguous_name` if one is a branch and a tag
   */
  async lookUp(names: readonly string[]): Promise<(Named | undefined)[]> {
    const { found, stderr } = await this.#lookUp(names);
    await refuseAmbiguous(stderr, async (more) => (await this.#lookUp(more)).found);
    return found;
  }

  async #lookUp(names: readonly string[]): Promise<{ found: (Named | undefined)[]; stderr: string }> {
    const result = await this.#spawn(
      ["cat-file", "--batch-check"],
      { input: `${names.join("\n")}\n` },
      this.location.worktree,
      STANDING,
    );
    if (result.code !== 0) {
      // git exits if a name goes beyond the end of a reflog: the names are then looked up one by one.
      if (names.length > 1) {
        const each = await together(names.map((name) => this.#lookUp([name])));
        return {
          found: each.flatMap(({ found }) => found),
          stderr: each.map(({ stderr }) => stderr).join(""),
        };
      }
      if (/^fatal: log for .* only (has|goes)/m.test(result.stderr))
        return { found: [undefined], stderr: result.stderr };
      throw failureOf(result, "look up a revision");
    }
    const lines = result.stdout.toString("utf8").split("\n");
    const found = names.map((_, index) => {
      const [, oid, type, size] = /^([0-9a-f]{40,64}) (\w+) (\d+)$/.exec(lines[index] ?? "") ?? [];
      if (oid === undefined || type === undefined) return undefined;
      return { oid, type, size: Number(size) };
    });
    return { found, stderr: result.stderr };
  }

  /** Reads the configuration, which itself runs nothing. */
  readConfig(guard: PathGuard): Promise<Configuration> {
    const { gitDir, commonDir, worktree } = this.location;
    const files = [join(commonDir, "config"), join(gitDir, "config.worktree")];
    return readConfig((args) => this.#spawn(args, {}, worktree, STANDING), guard, files);
  }

  /** Checks the index and finds its submodules; `corrupt_index` if one of its paths leads out of the working tree. */
  readIndex(config: readonly ConfigEntry[]): Promise<string[]> {
    const { gitDir, worktree } = this.location;
    const oidBytes = lastValue(config, "extensions.objectformat") === "sha256" ? 32 : 20;
    return submodulesInIndex(join(gitDir, "index"), oidBytes, () =>
      this.#spawn(["ls-files", "--stage", "-z"], {}, worktree, STANDING),
    );
  }

  #spawn(
    args: readonly string[],
    options: RunOptions,
    worktree: string | undefined,
    overrides: readonly ConfigPair[],
  ): Promise<GitResult> {
    const { gitDir } = this.location;
    const env = { GIT_DIR: gitDir, ...(worktree === undefined ? {} : { GIT_WORK_TREE: worktree }) };
    const place = { cwd: worktree ?? gitDir, signal: this.signal, env };
    return spawnGit(this.machine, place, overrides, args, options);
  }
}

/** Runs git in the hardened environment; the options add to the configuration and the environment given before. */
export function spawnGit(
  { program, env: from, filters }: Machine,
  place: Pick<GitRun, "cwd" | "signal"> & Partial<Pick<GitRun, "env">>,
  overrides: readonly ConfigPair[],
  args: readonly string[],
  { config = [], env, protocols, ...rest }: RunOptions = {},
): Promise<GitResult> {
  const base = gitEnvironment(from, protocols, filters);
  const all = withConfig({ ...base, ...place.env, ...env }, [...overrides, ...config]);
  return runGit({ ...rest, ...place, program, args, env: all });
}
