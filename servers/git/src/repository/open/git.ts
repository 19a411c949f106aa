import { readdir, realpath } from "node:fs/promises";
import { basename, join, resolve } from "node:path";
import { describeAllowed, keyedLock, type PathGuard } from "@refmcp/boundary";
import { oneLine, ToolError } from "@refmcp/boundary/answer";
import { type ConfigEntry, isTrue, lastValue } from "../run/config.ts";
import type { ConfigPair } from "../run/environment.ts";
import { failureOf } from "../run/failures.ts";
import { findGit } from "../run/git-program.ts";
import {
  type FilterPolicy,
  filtersNotRun,
  overridesFor,
  ownCredentialHelpers,
  STANDING,
} from "../run/safe-config.ts";
import { type Location, locate, outside } from "./locate.ts";
import { inOffered, type Offers } from "./offered.ts";
import { realOf, stateOf } from "./read-config.ts";
import { type Machine, type Prepared, Repository, spawnGit } from "./repository.ts";
import { submoduleOverrides } from "./submodules.ts";

/** How the user wants hooks treated. */
type HookPolicy = "off" | "run" | "ask";

/** Who called the tool. */
export interface Caller {
  /** Aborts when the call is cancelled. */
  readonly signal: AbortSignal;
  /** How many characters the response should stay within. */
  readonly budget: number;
  /** Asks the user; rejects if they do not agree. */
  confirm(question: string): Promise<void>;
  /** Reports progress: how much of `total` is done, and what git is doing. */
  progress(done: number, total: number, note: string): void;
}

export interface GitOptions {
  readonly guard: PathGuard;
  readonly env: NodeJS.ProcessEnv;
  readonly hooks: HookPolicy;
  readonly filters: FilterPolicy;
  /** Whether the user may be asked at all (`--confirm`). */
  readonly mayAsk: boolean;
  /** URL schemes that remotes may use. */
  readonly protocols: readonly string[];
  /** Hosts that may be contacted even if their address is private. */
  readonly allowedHosts: readonly string[];
  /** Which tools responses may mention. */
  readonly offers: Offers;
}

/** How many levels below an allowed directory to search for repositories. */
const MAX_SCOPE_DEPTH = 2;
const MAX_SCOPE_ENTRIES = 500;

/** The repositories below the allowed directories. */
export class Git {
  readonly options: GitOptions;
  readonly guard: PathGuard;
  readonly #changing = keyedLock();
  /** The submodules of checked indexes, by their file, with the state of that file. */
  readonly #indexes = new Map<string, { state: string; submodules: readonly string[] }>();
  #machine: Promise<Machine> | undefined;

  constructor(options: GitOptions) {
    this.options = options;
    this.guard = options.guard;
  }

  /**
   * Opens a repository for reading.
   *
   * @param path its directory or one below; if omitted, the only repository in scope
   * @throws ToolError `not_a_repository`, `outside_roots`, `dubious_ownership`, `unsafe_config`
   */
  async open(path: string | undefined, signal: AbortSignal): Promise<Repository> {
    const machine = await this.machine();
    const find = async () => locate(await this.directoryOf(path), this.guard);
    const location = await inOffered(this.options.offers, find);
    if (location.owned !== true) await askForOwnership(machine, location, signal);
    return new Repository(machine, location, (repository) => this.#prepare(repository), signal);
  }

  /**
   * Opens a repository and changes it when no other change by this server is in progress there.
   * Commands that change the working tree may look into submodules, so those are secured as well.
   */
  async change<Value>(
    path: string | undefined,
    signal: AbortSignal,
    work: (repository: Repository) => Promise<Value>,
  ): Promise<Value> {
    const plain = await this.open(path, signal);
    return this.#changing(plain.location.commonDir, async () => {
      signal.throwIfAborted();
      const prepare = async (): Promise<Prepared> => {
        const prepared = await plain.prepared();
        const extra = await submoduleOverrides(plain, this);
        return { ...prepared, overrides: [...prepared.overrides, ...extra] };
      };
      const repository = new Repository(plain.machine, plain.location, prepare, signal);
      return inOffered(this.options.offers, () => work(repository));
    });
  }

  /** The git program and the server's environment. */
  machine(): Promise<Machine> {
    this.#machine ??= findGit(this.options.env).then(
      (program) => ({ program, env: this.options.env, filters: this.options.filters }),
      (error: unknown) => {
        this.#machine = undefined;
        throw error;
      },
    );
    return this.#machine;
  }

  /** What makes a configuration harmless; the user's filters, if they run, may need credentials. */
  overrides(entries: readonly ConfigEntry[], dormant: readonly ConfigEntry[]): ConfigPair[] {
    const { filters } = this.options;
    const pairs = overridesFor(entries, dormant, filters);
    return filters === "own" ? [...pairs, ...ownCredentialHelpers(entries)] : pairs;
  }

  /** The repositories in scope: the allowed directories, or those just below them. Sorted. */
  async repositories(): Promise<string[]> {
    const found = new Set<string>();
    let looked = 0;
    const search = async (directory: string, depth: number): Promise<void> => {
      if (looked++ > MAX_SCOPE_ENTRIES) return;
      const location = await locate(directory, this.guard).catch(() => undefined);
      if (location !== undefined) {
        found.add(location.worktree ?? location.gitDir);
        return;
      }
      if (depth === MAX_SCOPE_DEPTH) return;
      const entries = await readdir(directory, { withFileTypes: true }).catch(() => []);
      for (const entry of entries) {
        if (entry.isDirectory() && !entry.name.startsWith(".") && entry.name !== "node_modules")
          await search(join(directory, entry.name), depth + 1);
      }
    };
    for (const { realPath, unavailable } of this.guard.allowed.directories())
      if (unavailable === undefined) await search(realPath, 0);
    return [...found].sort();
  }

  /** The repositories in scope that have a working tree, at most 100. */
  async worktrees(): Promise<string[]> {
    const found: string[] = [];
    for (const path of (await this.repositories()).slice(0, 100)) {
      const location = await locate(path, this.guard);
      if (location.worktree !== undefined) found.push(path);
    }
    return found;
  }

  /** The real directory that a `repo_path` names; without one, the only repository in scope. */
  async directoryOf(path: string | undefined): Promise<string> {
    if (path !== undefined) {
      const directory = await this.guard.openDirectory(path);
      await directory.close();
      return directory.realPath;
    }
    const repositories = await this.repositories();
    const [only] = repositories;
    if (only !== undefined && repositories.length === 1) return only;
    const allowed = describeAllowed(this.guard.allowed);
    if (only === undefined) {
      throw new ToolError("not_found", `No git repository was found; ${allowed}.`, {
        code: "not_a_repository",
        hint: "Pass repo_path, a directory inside a repository, or create one with git_init.",
      });
    }
    const names = repositories.slice(0, 10).map((one) => `"${oneLine(one)}"`);
    throw new ToolError("invalid", `There are ${repositories.length} repositories: ${names.join(", ")}.`, {
      code: "repository_needed",
      hint: "Pass one of them as repo_path.",
    });
  }

  /**
   * The repository that a resource's name refers to: its directory's name where that is unique, else its
   * path.
   */
  async named(name: string): Promise<string> {
    const repositories = await this.repositories();
    const [only, another] = repositories.filter((path) => basename(path) === name);
    return only !== undefined && another === undefined ? only : name;
  }

  /** The name under which a repository in scope appears in URIs. */
  async nameOf(path: string): Promise<string> {
    return (await this.named(basename(path))) === path ? basename(path) : path;
  }

  async #prepare(repository: Repository): Promise<Prepared> {
    const { location } = repository;
    const { entries, dormant, ...rest } = await repository.readConfig(this.guard);
    const worktree = await this.#worktreeOf(location, (key) => lastValue(entries, key));
    // From git 2.54 on the refs may be elsewhere: reftable:///path.
    const [, refs] = /^[^:]*:\/\/(.*)$/s.exec(lastValue(entries, "extensions.refstorage") ?? "") ?? [];
    if (refs !== undefined && !this.guard.contains(realOf(resolve(location.gitDir, refs))))
      throw outside("ref storage (extensions.refStorage)", this.guard);
    const base = worktree ?? location.gitDir;
    const isInside = (path: string) => this.guard.contains(realOf(resolve(base, path)));
    const submodules = worktree === undefined ? [] : await this.#submodules(repository, entries);
    return {
      ...rest,
      submodules,
      config: entries,
      overrides: this.overrides(entries, dormant),
      filters: filtersNotRun(entries, this.options.filters),
      worktree,
      isInside,
    };
  }

  /** The submodules of an index, which is read again if it has changed. */
  async #submodules(repository: Repository, config: readonly ConfigEntry[]): Promise<readonly string[]> {
    const file = join(repository.location.gitDir, "index");
    const state = stateOf(file);
    const known = this.#indexes.get(file);
    if (known?.state === state) return known.submodules;
    const submodules = await repository.readIndex(config);
    this.#indexes.set(file, { state, submodules });
    return submodules;
  }

  /** The working tree according to `core.worktree` and `core.bare`; its real path must be inside the bound. */
  async #worktreeOf(
    location: Location,
    value: (key: string) => string | undefined,
  ): Promise<string | undefined> {
    const linked = location.gitDir !== location.commonDir;
    if (linked) return location.worktree;
    const elsewhere = value("core.worktree");
    if (elsewhere !== undefined) {
      const worktree = await realpath(resolve(location.gitDir, elsewhere)).catch(() => undefined);
      if (worktree !== undefined && this.guard.contains(worktree)) return worktree;
      throw outside("working tree (core.worktree)", this.guard);
    }
    return isTrue(value("core.bare")) ? undefined : location.worktree;
  }
}

/** Asks git whether it trusts a repository of another owner (safe.directory). */
async function askForOwnership(machine: Machine, location: Location, signal: AbortSignal): Promise<void> {
  const place = { cwd: location.worktree ?? location.gitDir, signal };
  const plain = { ...machine, filters: "off" } as const;
  const result = await spawnGit(plain, place, STANDING, ["rev-parse", "--git-dir"]);
  if (result.code !== 0) throw failureOf(result, "open the repository");
}
