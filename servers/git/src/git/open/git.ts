import { readdir } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { describeAllowed, Line, type PathGuard } from "@refmcp/boundary";
import { oneLine, ToolError } from "@refmcp/boundary/answer";
import { LIST_SYSTEM, STANDING, systemFile } from "../run/config.ts";
import { failure, failureOf } from "../run/errors.ts";
import { endKept } from "../run/kept-cat-file.ts";
import { findGit } from "../run/run-git.ts";
import { type Location, locate } from "./locate.ts";
import { type GitOptions, type Machine, spawnGit, withoutFilters } from "./machine.ts";
import { Repository } from "./repository.ts";

/** How many levels below an allowed directory to search for repositories. */
const MAX_SCOPE_DEPTH = 2;
const MAX_SCOPE_ENTRIES = 500;
/** Calls that read at the same time: more would only take memory, for their git processes and their answers. */
const MAX_READS = 16;

export class Git {
  readonly options: GitOptions;
  readonly guard: PathGuard;
  readonly #changing = new Line();
  readonly #reading = new Line(MAX_READS);
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
    return this.#changing.run(location.commonDir, async () => {
      signal.throwIfAborted();
      const plain = new Repository(await this.machine(), location, signal);
      const repository = new Repository(plain.machine, location, signal, { plain });
      return inOffered(this.options, () => work(repository));
    });
  }

  async #locate(path: string | undefined, signal: AbortSignal): Promise<Location> {
    const machine = await this.machine();
    const find = async () => locate(await this.directoryOf(path), this.guard);
    const location = await inOffered(this.options, find);
    if (location.owned !== true) {
      // git knows whether the user trusts a repository of another owner (safe.directory).
      const place = { cwd: location.worktree ?? location.gitDir, signal };
      const result = await spawnGit(withoutFilters(machine), place, STANDING, [
        "rev-parse",
        "--git-dir",
      ]);
      if (result.code !== 0) throw failureOf(result, "open the repository");
    }
    return location;
  }

  machine(): Promise<Machine> {
    this.#machine ??= this.#find().catch((error: unknown) => {
      this.#machine = undefined;
      throw error;
    });
    return this.#machine;
  }

  async #find(): Promise<Machine> {
    const { options } = this;
    const program = await findGit(options.env);
    const place = { cwd: dirname(program), signal: new AbortController().signal };
    const system = systemFile(await spawnGit({ program, options }, place, STANDING, LIST_SYSTEM));
    const [indexes, configurations, listings] = [new Map(), new Map(), new Map()];
    return { program, options, system, indexes, configurations, listings };
  }

  /** Ends what was started for later calls. */
  close(): void {
    endKept();
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
      // An allowed directory may be a repository with parts elsewhere, such as a linked worktree: say so, rather than "none".
      for (const { realPath, unavailable } of this.guard.allowed.directories())
        if (unavailable === undefined)
          await locate(realPath, this.guard).catch((error: unknown) => {
            if (!(error instanceof ToolError && error.code === "not_a_repository")) throw error;
          });
      const hint = "Pass repo_path, a directory inside a repository, or create one with git_init.";
      throw failure("not_a_repository", `No git repository was found; ${allowed}.`, { hint });
    }
    const names = repositories.slice(0, 10).map((one) => `"${oneLine(one)}"`);
    throw failure(
      "repository_needed",
      `There are ${repositories.length} repositories: ${names.join(", ")}.`,
    );
  }

  /** The repository that a resource's name refers to: its directory's name where that is unique, else its path. */
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

/** The git commands of tools whose names differ from them. */
const COMMANDS: Readonly<Record<string, string>> = {
  git_create_branch: "git branch",
  git_create_tag: "git tag",
  git_delete_branch: "git branch -D",
  git_delete_tag: "git tag -d",
  git_diff_staged: "git diff --staged",
  git_diff_unstaged: "git diff",
  git_drop_stash: "git stash drop",
  git_list_files: "git ls-files",
  git_list_refs: "git for-each-ref",
  git_push_force_with_lease: "git push --force-with-lease",
  git_rename_branch: "git branch -m",
  git_reset_hard: "git reset --hard",
  git_rewrite: "git rebase -i",
  git_set_remote: "git remote set-url",
  git_stash_apply: "git stash apply",
  git_worktree_add: "git worktree add",
  git_worktree_remove: "git worktree remove",
};

/** A hint with terminal commands instead of tools that are not offered. */
function withOffered(text: string, { offers }: GitOptions): string {
  const replaced = text.replaceAll(/\bgit_[a-z_]+\b/g, (name) =>
    offers(name) ? name : (COMMANDS[name] ?? name.replace("_", " ").replaceAll("_", "-")),
  );
  return replaced === text ? text : `${replaced.replace(/\.$/, "")} (in a terminal).`;
}

/** Runs some work. The hint of its error and the `undo` of its answer mention only tools that are offered. */
async function inOffered<Value>(options: GitOptions, work: () => Promise<Value>): Promise<Value> {
  try {
    const value = await work();
    if (
      typeof value === "object" &&
      value !== null &&
      "undo" in value &&
      typeof value.undo === "string"
    )
      return { ...value, undo: withOffered(value.undo, options) };
    return value;
  } catch (error) {
    if (!(error instanceof ToolError) || error.hint === undefined) throw error;
    const { kind, message, code, data, cause } = error;
    throw new ToolError(kind, message, {
      hint: withOffered(error.hint, options),
      code,
      data,
      cause,
    });
  }
}
