import { basename, dirname, isAbsolute, join, resolve, sep } from "node:path";
import { describeAllowed, type PathGuard } from "@refmcp/boundary";
import { oneLine, type ToolError } from "@refmcp/boundary/answer";
import { failure, outside } from "../run/errors.ts";
import { realOf, statsOf } from "./configuration.ts";
import { entriesOf, isGitDirectory, plainTextIn, refuseLinks, unusual } from "./git-directory.ts";

/** The real paths of a repository's parts, all inside the allowed directories. */
export interface Location {
  /** The working tree's root; undefined for a bare repository. */
  readonly worktree: string | undefined;
  readonly gitDir: string;
  /** Where refs and objects are; differs from `gitDir` in a linked worktree. */
  readonly commonDir: string;
  /** Whether all of it belongs to the user of this process; undefined on Windows. */
  readonly owned: boolean | undefined;
}

/**
 * Entries of a git directory that git does not read, such as locks of Emacs, and those that are
 * checked when they are used: hooks, and the git directories of submodules.
 */
const NOT_READ = /^(hooks|modules|lfs|annex|\.#.*)$/;
const MAX_ALTERNATES = 100;

/**
 * Finds the repository that `start` is in. Like git it walks up, but never above the allowed
 * directory, and every part must be inside: the git directory that a `.git` file or link names, the
 * common directory, the objects and their alternates. What git never makes there is refused.
 *
 * @param start a real directory inside the allowed ones
 * @throws ToolError `not_a_repository`, `outside_roots`, `unsafe_git_directory`
 */
export async function locate(start: string, guard: PathGuard): Promise<Location> {
  const { worktree, entry, ...named } = findGitDirectory(start, guard);
  const gitDir = inside(named.gitDir, "git directory", guard);
  refuseLinks(gitDir, NOT_READ);
  const commonDir = commonDirectoryOf(gitDir, guard);
  if (commonDir !== gitDir) refuseLinks(commonDir, NOT_READ);
  checkWorktrees(commonDir, guard);
  checkObjects(join(commonDir, "objects"), guard);
  const owned = isOwned([worktree ?? gitDir, entry, gitDir]);
  return { worktree, gitDir, commonDir, owned };
}

function commonDirectoryOf(gitDir: string, guard: PathGuard): string {
  const file = join(gitDir, "commondir");
  const line = plainTextIn(file);
  return line === undefined ? gitDir : target(file, gitDir, line, "common directory", guard);
}

/** The working tree, the git directory, and the entry that names it, usually `.git`. */
function findGitDirectory(start: string, guard: PathGuard) {
  // The git directory itself means the working tree around it.
  const from =
    basename(start) === ".git" && guard.contains(dirname(start)) ? dirname(start) : start;
  for (let directory = from; guard.contains(directory); directory = dirname(directory)) {
    const entry = join(directory, ".git");
    const stats = statsOf(entry);
    if (stats?.isFile()) {
      const [, line] = /^gitdir: (.+)$/s.exec(plainTextIn(entry) ?? "") ?? [];
      if (line === undefined) throw notARepository(start, guard, "its .git file is damaged");
      const gitDir = target(entry, directory, line, "git directory", guard);
      return { worktree: directory, gitDir, entry };
    }
    if (stats !== undefined && (stats.isSymbolicLink() || isGitDirectory(entry)))
      return { worktree: directory, gitDir: entry, entry };
    if (isGitDirectory(directory)) {
      if (directory === start) return { worktree: undefined, gitDir: directory, entry: directory };
      // safe.bareRepository=explicit: a bare repository on the path is not used by accident.
      throw notARepository(start, guard, `it is inside the git directory "${oneLine(directory)}"`);
    }
    if (dirname(directory) === directory) break;
  }
  throw notARepository(start, guard);
}

/** git also resolves the HEAD of every linked worktree. */
function checkWorktrees(commonDir: string, guard: PathGuard): void {
  for (const { name } of entriesOf(join(commonDir, "worktrees"))) {
    const linked = join(commonDir, "worktrees", name);
    const leads = commonDirectoryOf(linked, guard);
    if (leads !== commonDir && leads !== linked)
      throw unusual(join(linked, "commondir"), "leads to another repository");
  }
}

/** The objects and every alternate object directory that they name, however long the chain. */
function checkObjects(objects: string, guard: PathGuard): void {
  const waiting = [inside(objects, "object directory", guard)];
  const visited = new Set<string>();
  for (let directory = waiting.pop(); directory !== undefined; directory = waiting.pop()) {
    if (visited.has(directory)) continue;
    const file = join(directory, "info", "alternates");
    if (visited.size === MAX_ALTERNATES) throw unusual(file, "leads to too many directories");
    // The repository's own objects were checked with it.
    if (visited.size > 0) refuseLinks(directory);
    visited.add(directory);
    for (const line of (plainTextIn(file) ?? "").split("\n")) {
      if (line === "" || line.startsWith("#")) continue;
      if (line.startsWith('"')) throw unusual(file, "has a line in quotes");
      waiting.push(target(file, directory, line, "alternate object directory", guard));
    }
  }
}

/** The real path that a line in a file names. */
function target(
  file: string,
  directory: string,
  line: string,
  what: string,
  guard: PathGuard,
): string {
  const path = isAbsolute(line) ? line : `${directory}${sep}${line}`;
  const plain = inside(resolve(path), what, guard);
  // The system follows a link before a ".." behind it.
  if ([plain, path].includes(realOf(path))) return plain;
  throw unusual(file, "leads through a link and back");
}

function inside(path: string, what: string, guard: PathGuard): string {
  // A missing file cannot lead anywhere; git will report it.
  const real = realOf(path);
  if (!guard.contains(real)) throw outside(what, guard);
  return real;
}

/** Whether everything belongs to this process' user (CVE-2022-24765); git is asked if not. */
function isOwned(paths: readonly string[]): boolean | undefined {
  const user = process.geteuid?.();
  if (user === undefined) return undefined;
  return paths.every((path) => (statsOf(path)?.uid ?? user) === user);
}

function notARepository(start: string, guard: PathGuard, why?: string): ToolError {
  const reason = why === undefined ? "" : `: ${why}`;
  return failure("not_a_repository", `"${oneLine(start)}" is not in a git repository${reason}.`, {
    hint: `Pass the repository's directory as repo_path; ${describeAllowed(guard.allowed)}. A repository whose root is above an allowed directory is not opened. git_init creates a new one.`,
  });
}
