import { readdir } from "node:fs/promises";
import { basename, join } from "node:path";
import { describeAllowed, Line, type PathGuard } from "@refmcp/boundary";
import { oneLine } from "@refmcp/boundary/answer";
import { findGit } from "../run/environment.ts";
import { failure, failureOf } from "../run/errors.ts";
import { type Location, locate } from "./locate.ts";
import { type GitOptions, type Machine, spawnGit, withoutFilters } from "./machine.ts";
import { Repository } from "./repository.ts";
import { submoduleOverrides } from "./submodules.ts";

/** How many levels below an allowed directory to search for repositories. */
const MAX_SCOPE_DEPTH = 2;
const MAX_SCOPE_ENTRIES = 500;
/** Calls that read at the same time: more would only take memory, for their processes and answers. */
const MAX_READS = 16;

/** The repositories in the allowed directories. */
export class Git {
  readonly options: GitOptions;
  readonly guard: PathGuard;
  readonly #changing = new Line();
  readonly #reading = new Line(MAX_READS);
  #machine: Machine | undefined;

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
    return new Repository(await this.machine(), await this.#locate(path, signal), signal);
  }

  /** Opens a repository and reads it, when few enough other calls are reading. */
  read<Value>(
    path: string | undefined,
    signal: AbortSignal,
    work: (repository: Repository) => Promise<Value>,
  ): Promise<Value> {
    return this.#reading.run("", async () => work(await this.open(path, signal)), signal);
  }

  /** Opens a repository and changes it when no other change by this server is in progress there. */
  async change<Value>(
    path: string | undefined,
    signal: AbortSignal,
    work: (repository: Repository) => Promise<Value>,
  ): Promise<Value> {
    const location = await this.#reading.run("", () => this.#locate(path, signal), signal);
    const machine = await this.machine();
    return this.#changing.run(location.commonDir, async () => {
      signal.throwIfAborted();
      return work(new Repository(machine, location, signal, { secure: submoduleOverrides }));
    });
  }

  async #locate(path: string | undefined, signal: AbortSignal): Promise<Location> {
    const location = await locate(await this.directoryOf(path), this.guard);
    if (location.owned === true) return location;
    // git knows whether the user trusts a repository of another owner (safe.directory).
    const place = { cwd: location.worktree ?? location.gitDir, signal };
    const machine = withoutFilters(await this.machine());
    const result = await spawnGit(machine, place, ["rev-parse", "--git-dir"]);
    if (result.code !== 0) throw failureOf(result, "open the repository");
    return location;
  }

  /** Finds git, once. @throws ToolError `git_missing` */
  async machine(): Promise<Machine> {
    const program = this.#machine?.program ?? (await findGit(this.options.env));
    const { options } = this;
    this.#machine ??= { program, options, configurations: new Map(), indexes: new Map() };
    return this.#machine;
  }

  /** The repositories in scope: the allowed directories, or those just below them. Sorted. */
  async repositories(): Promise<string[]> {
    const roots = new Set<string>();
    let entriesLeft = MAX_SCOPE_ENTRIES;
    const search = async (directory: string, depth: number): Promise<void> => {
      if (entriesLeft-- < 0) return;
      const location = await locate(directory, this.guard).catch(() => undefined);
      if (location !== undefined) {
        roots.add(location.worktree ?? location.gitDir);
        return;
      }
      if (depth === MAX_SCOPE_DEPTH) return;
      const entries = await readdir(directory, { withFileTypes: true }).catch(() => []);
      for (const entry of entries)
        if (entry.isDirectory() && !entry.name.startsWith(".") && entry.name !== "node_modules")
          await search(join(directory, entry.name), depth + 1);
    };
    for (const directory of this.#allowed()) await search(directory, 0);
    return [...roots].sort();
  }

  #allowed(): string[] {
    const directories = this.guard.allowed.directories();
    return directories.flatMap(({ realPath, unavailable }) =>
      unavailable === undefined ? [realPath] : [],
    );
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
    if (only === undefined) {
      // Such as a linked worktree, whose error names the directory to allow.
      for (const directory of this.#allowed())
        await locate(directory, this.guard).catch((error) => {
          if (error.code === "outside_roots") throw error;
        });
      const message = `No git repository was found; ${describeAllowed(this.guard.allowed)}.`;
      throw failure("not_a_repository", message, { hint: "Pass repo_path, or call git_init." });
    }
    if (repositories.length === 1) return only;
    const names = repositories.slice(0, 10).map((name) => `"${oneLine(name)}"`);
    const message = `There are ${repositories.length} repositories: ${names.join(", ")}.`;
    throw failure("repository_needed", message);
  }

  /**
   * The repository that a resource's name refers to: its directory's name where that is unique, else
   * its path.
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
}

/**
 * Opens the repository that a URI or a prompt names; without a name, the only one in scope.
 *
 * @returns also the first part of its URIs, `git://name`
 */
export async function openNamed(git: Git, name: string | undefined, signal: AbortSignal) {
  const repository = await git.open(name === undefined ? undefined : await git.named(name), signal);
  const { worktree, gitDir } = repository.location;
  const uri = `git://${encodeURIComponent(await git.nameOf(worktree ?? gitDir))}`;
  return { repository, uri };
}

export async function completeRepository(value: string, git: Git): Promise<string[]> {
  const names = await Promise.all((await git.repositories()).map((path) => git.nameOf(path)));
  return names.filter((name) => name.startsWith(value));
}
