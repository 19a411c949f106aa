import { realpath } from "node:fs/promises";
import { join, resolve } from "node:path";
import { startDeadline } from "@refmcp/boundary";
import { type ConfigEntry, type ConfigPair, isTrue, lastValue } from "../run/config.ts";
import { failure, failureOf, outside } from "../run/errors.ts";
import type { GitResult } from "../run/run-git.ts";
import { linesOf, pathText, records } from "../run/text.ts";
import { configurationOf, realOf } from "./configuration.ts";
import { refuseInTree } from "./git-directory.ts";
import { submodulesIn } from "./index-paths.ts";
import type { Location } from "./locate.ts";
import {
  type Arguments,
  type GitOptions,
  type Machine,
  type Place,
  type RunOptions,
  spawnGit,
} from "./machine.ts";

export interface Caller {
  readonly signal: AbortSignal;
  /** How many characters the response should stay within. */
  readonly budget: number;
  /** Asks the user; rejects if they do not agree. */
  confirm(question: string): Promise<void>;
  /** Reports progress: how much of `total` is done, and what git is doing. */
  progress(done: number, total: number, note: string): void;
}

export type Budget = Pick<Caller, "budget">;

/** A page of a list. */
export interface PageQuery {
  readonly limit: number;
  readonly cursor?: string | undefined;
}

/** What is known about a repository after its configuration was read. */
interface Prepared {
  readonly config: readonly ConfigEntry[];
  readonly overrides: readonly ConfigPair[];
  /** Configured filters that do not run, and whether they are the user's own. */
  readonly filters: ReadonlyMap<string, boolean>;
  readonly worktree: string | undefined;
  /** The paths of the submodules in the index. */
  readonly submodules: readonly string[];
}

interface Opening {
  /** The working tree, regardless of the configuration. */
  readonly worktree?: string;
  /** More overrides, for the submodules that a command may look into. */
  secure?(root: string, names: readonly string[], of: Repository): Promise<readonly ConfigPair[]>;
}

const UNDO_MS = 20_000;

/**
 * A repository during one call. Its git processes run in the hardened environment, on exactly this
 * git directory, and end with the call.
 */
export class Repository {
  readonly machine: Machine;
  readonly location: Location;
  readonly signal: AbortSignal;
  readonly #opening: Opening;
  readonly #prepared: Promise<Prepared>;

  constructor(machine: Machine, location: Location, signal: AbortSignal, opening: Opening = {}) {
    this.machine = machine;
    this.location = location;
    this.signal = signal;
    this.#opening = opening;
    this.#prepared = this.#prepare();
    // The caller of a command gets the error.
    this.#prepared.catch(() => undefined);
  }

  get options(): GitOptions {
    return this.machine.options;
  }

  /** @throws ToolError `unsafe_config`, `outside_roots`, `corrupt_index` */
  prepared(): Promise<Prepared> {
    return this.#prepared;
  }

  /**
   * The working tree's root.
   *
   * @throws ToolError `bare_repository`
   */
  async worktree(): Promise<string> {
    const { worktree } = await this.prepared();
    if (worktree !== undefined) return worktree;
    const message = "This is a bare repository: it has no working tree and no index.";
    throw failure("bare_repository", message);
  }

  /** Runs git; resolves with any exit code. */
  async run(args: Arguments, options: RunOptions = {}): Promise<GitResult> {
    const { worktree, overrides } = await this.prepared();
    return spawnGit(this.machine, this.#place(worktree), args, options, overrides);
  }

  /**
   * Runs git to undo unfinished work, even if the call was cancelled; resolves with any exit code.
   */
  async undo(args: Arguments): Promise<GitResult> {
    const { signal, end } = startDeadline(UNDO_MS);
    const { worktree, overrides } = await this.prepared();
    const place = { ...this.#place(worktree), signal };
    return spawnGit(this.machine, place, args, {}, overrides).finally(end);
  }

  /**
   * Runs git and returns its stdout.
   *
   * @param doing for the error, "git could not …": `read the log`
   * @throws ToolError if the exit code is not 0 (unless the output was cut)
   */
  async output(args: Arguments, doing: string, options: RunOptions = {}): Promise<Buffer> {
    const result = await this.run(args, options);
    if (result.code !== 0 && !result.cut) throw failureOf(result, doing);
    return result.stdout;
  }

  /** The lines that git prints, without empty ones. */
  async lines(args: Arguments, doing: string): Promise<string[]> {
    return linesOf(await this.output(args, doing));
  }

  /** The NUL-separated paths that git prints. */
  async paths(args: Arguments, doing: string, options: RunOptions = {}): Promise<string[]> {
    return records(await this.output(args, doing, options)).map(pathText);
  }

  /** What git prints as one value, such as an object id. */
  async value(args: Arguments, doing: string, options: RunOptions = {}): Promise<string> {
    return (await this.output(args, doing, options)).toString("utf8").trim();
  }

  /** Reads the configuration, which itself runs nothing, and checks where it leads. */
  async #prepare(): Promise<Prepared> {
    const { gitDir, commonDir } = this.location;
    const own = [join(commonDir, "config"), join(gitDir, "config.worktree")];
    const place = this.#place(this.location.worktree);
    const { entries, overrides, filters } = await configurationOf(this.machine, place, own);
    const worktree = this.#opening.worktree ?? (await this.#worktreeOf(entries));
    if (worktree !== undefined) refuseInTree(worktree, [gitDir, commonDir]);
    this.#checkRefStorage(entries);
    const list = () => spawnGit(this.machine, place, ["ls-files", "--stage", "-z"]);
    const submodules =
      worktree === undefined ? [] : await submodulesIn(this.machine, join(gitDir, "index"), list);
    const plain = { config: entries, overrides, filters, worktree, submodules };
    const { secure } = this.#opening;
    if (secure === undefined || worktree === undefined || submodules.length === 0) return plain;
    const more = await secure(worktree, submodules, this);
    return { ...plain, overrides: [...overrides, ...more] };
  }

  /** From git 2.54 on the refs may be elsewhere: `reftable:///path`. */
  #checkRefStorage(entries: readonly ConfigEntry[]): void {
    const storage = lastValue(entries, "extensions.refstorage") ?? "";
    const [, path] = /^[^:]*:\/\/(.*)$/s.exec(storage) ?? [];
    const { guard } = this.options;
    if (path !== undefined && !guard.contains(realOf(resolve(this.location.gitDir, path))))
      throw outside("ref storage (extensions.refStorage)", guard);
  }

  /**
   * The working tree according to `core.worktree` and `core.bare`; its real path must be inside the
   * allowed directories.
   */
  async #worktreeOf(entries: readonly ConfigEntry[]): Promise<string | undefined> {
    const { gitDir, commonDir, worktree } = this.location;
    if (gitDir !== commonDir) return worktree;
    const elsewhere = lastValue(entries, "core.worktree");
    if (elsewhere === undefined)
      return isTrue(lastValue(entries, "core.bare")) ? undefined : worktree;
    const real = await realpath(resolve(gitDir, elsewhere)).catch(() => undefined);
    if (real !== undefined && this.options.guard.contains(real)) return real;
    throw outside("working tree (core.worktree)", this.options.guard);
  }

  #place(worktree: string | undefined): Place {
    const { gitDir, commonDir } = this.location;
    const env = {
      GIT_DIR: gitDir,
      // If set to the git directory itself, git would take it for that of a linked worktree.
      ...(commonDir === gitDir ? {} : { GIT_COMMON_DIR: commonDir }),
      ...(worktree === undefined ? {} : { GIT_WORK_TREE: worktree }),
    };
    return { cwd: worktree ?? gitDir, signal: this.signal, env };
  }
}
