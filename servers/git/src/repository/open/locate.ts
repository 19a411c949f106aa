import { lstat, readdir, readFile, readlink, realpath, stat } from "node:fs/promises";
import { basename, dirname, join, resolve } from "node:path";
import { describeAllowed, type PathGuard } from "@refmcp/boundary";
import { oneLine, ToolError } from "@refmcp/boundary/answer";

/** The real paths of a repository's parts, all inside the allowed directories. */
export interface Location {
  /** The working tree's root; undefined for a bare repository. */
  readonly worktree: string | undefined;
  readonly gitDir: string;
  /** Where refs and objects are; differs from `gitDir` in a linked worktree. */
  readonly commonDir: string;
  /** Whether all of it belongs to the user of this process; undefined if the system cannot tell (Windows). */
  readonly owned: boolean | undefined;
}

/** Directories in a git directory whose files git reads or writes by name, following links. */
const DEEP = ["refs", "logs", "info", "rebase-merge", "rebase-apply", "sequencer"];
/** Entries that git does not read; hooks are checked when they are about to run. */
const NOT_OURS: ReadonlySet<string> = new Set(["hooks", "lfs", "annex"]);
const MAX_ALTERNATES = 100;

/**
 * Finds the repository that `start` is in. Like git it walks up, but never above the allowed directory, and every
 * part must be inside the bound: the git directory that a `.git` file or link names, the common directory, the
 * objects and their alternates.
 *
 * @param start a real directory inside the bound
 * @throws ToolError `not_a_repository`, `outside_roots`
 */
export async function locate(start: string, guard: PathGuard): Promise<Location> {
  const found = await findGitDir(start, guard);
  const gitDir = await inside(found.gitDir, "git directory", guard);
  const common = await readFile(join(gitDir, "commondir"), "utf8").catch(() => undefined);
  const commonDir =
    common === undefined ? gitDir : await inside(resolve(gitDir, common.trim()), "common directory", guard);
  await Promise.all([
    ...[...new Set([gitDir, commonDir])].map((directory) => checkLinks(directory, guard)),
    checkObjects(join(commonDir, "objects"), guard),
  ]);
  const owned = await isOwned([found.worktree ?? gitDir, found.entry, gitDir]);
  return { worktree: found.worktree, gitDir, commonDir, owned };
}

interface Found {
  readonly worktree: string | undefined;
  readonly gitDir: string;
  /** The `.git` entry, or the git directory itself. */
  readonly entry: string;
}

async function findGitDir(start: string, guard: PathGuard): Promise<Found> {
  // The git directory itself means the working tree around it.
  const from = basename(start) === ".git" && guard.contains(dirname(start)) ? dirname(start) : start;
  for (let directory = from; guard.contains(directory); directory = dirname(directory)) {
    const entry = join(directory, ".git");
    const stats = await lstat(entry).catch(() => undefined);
    if (stats?.isFile()) {
      const text = await readFile(entry, "utf8");
      const target = /^gitdir: (.+?)\r?\n?$/s.exec(text)?.[1];
      if (target === undefined) throw notARepository(start, guard, "its .git file is damaged");
      return { worktree: directory, gitDir: resolve(directory, target), entry };
    }
    if (stats !== undefined && (stats.isSymbolicLink() || (await isGitDir(entry))))
      return { worktree: directory, gitDir: entry, entry };
    if (await isGitDir(directory)) {
      if (directory === start) return { worktree: undefined, gitDir: directory, entry: directory };
      // safe.bareRepository=explicit: a bare repository on the path is not used by accident.
      throw notARepository(start, guard, `it is inside the git directory "${oneLine(directory)}"`);
    }
    if (dirname(directory) === directory) break;
  }
  throw notARepository(start, guard);
}

/**
 * Whether a path is a git directory or in one, where created files become part of git: a hook, a ref.
 *
 * @param path absolute, links resolved; need not exist
 */
export async function isInGitDir(path: string): Promise<boolean> {
  for (let directory = path; ; directory = dirname(directory)) {
    if (isGitName(basename(directory)) || (await isGitDir(directory))) return true;
    if (dirname(directory) === directory) return false;
  }
}

/** `.git` in any form that a file system may treat as equal. */
export function isGitName(name: string): boolean {
  return /^(\.git[. ]*(:.*)?|git~\d+)$/i.test(
    name.replaceAll(/[\u200c-\u200f\u202a-\u202e\u206a-\u206f\ufeff]/g, ""),
  );
}

/** What git treats as a git directory. */
async function isGitDir(directory: string): Promise<boolean> {
  const [head, objects, refs] = await Promise.all([
    lstat(join(directory, "HEAD")).catch(() => undefined),
    stat(join(directory, "objects")).catch(() => undefined),
    stat(join(directory, "refs")).catch(() => undefined),
  ]);
  const shared = await lstat(join(directory, "commondir")).catch(() => undefined);
  return (
    head !== undefined && (shared !== undefined || (objects?.isDirectory() && refs?.isDirectory()) === true)
  );
}

/** The objects and every alternate object directory that they name, however long the chain. */
async function checkObjects(objects: string, guard: PathGuard): Promise<void> {
  const waiting = [await inside(objects, "object directory", guard)];
  const seen = new Set<string>();
  for (let directory = waiting.pop(); directory !== undefined; directory = waiting.pop()) {
    if (seen.has(directory) || seen.size > MAX_ALTERNATES) continue;
    seen.add(directory);
    await checkLinksIn(directory, guard);
    const list = await readFile(join(directory, "info", "alternates"), "utf8").catch(() => "");
    for (const line of list.split("\n")) {
      if (line === "" || line.startsWith("#")) continue;
      const alternate = resolve(
        directory,
        line.startsWith('"') ? line.slice(1, line.lastIndexOf('"')) : line,
      );
      if ((await lstat(alternate).catch(() => undefined)) === undefined && !guard.contains(alternate))
        throw outside("alternate object directory", guard);
      waiting.push(await inside(alternate, "alternate object directory", guard));
    }
  }
}

/** The real path of a part, which must be inside the bound. */
async function inside(path: string, what: string, guard: PathGuard): Promise<string> {
  // A missing file cannot lead anywhere; git will report it.
  const real = await realpath(path).catch(() => path);
  if (!guard.contains(real)) throw outside(what, guard);
  return real;
}

/**
 * No link in a git directory may lead out of the bound, to an existing file or one that would be created: git writes commit
 * messages through COMMIT_EDITMSG, and appends to logs/HEAD.
 */
async function checkLinks(gitDir: string, guard: PathGuard): Promise<void> {
  await Promise.all([
    checkLinksIn(gitDir, guard),
    ...DEEP.map((name) => checkLinksIn(join(gitDir, name), guard, true)),
  ]);
}

async function checkLinksIn(directory: string, guard: PathGuard, recursive = false): Promise<void> {
  const entries = await readdir(directory, { withFileTypes: true }).catch(() => []);
  for (const entry of entries) {
    const path = join(directory, entry.name);
    if (entry.isSymbolicLink() && !NOT_OURS.has(entry.name)) await insideLink(path, guard);
    else if (recursive && entry.isDirectory()) await checkLinksIn(path, guard, true);
  }
}

async function insideLink(path: string, guard: PathGuard): Promise<void> {
  const target = resolve(dirname(path), await readlink(path));
  // A missing target could be created there.
  const real = await realpath(path).catch(() => undefined);
  const parent = await realpath(dirname(target)).catch(() => dirname(target));
  if (!guard.contains(real ?? join(parent, basename(target))))
    throw outside(`link "${oneLine(basename(path))}"`, guard);
}

/** Whether everything belongs to this process' user (CVE-2022-24765); git is asked if it does not. */
async function isOwned(paths: readonly string[]): Promise<boolean | undefined> {
  const user = process.geteuid?.();
  if (user === undefined) return undefined;
  const stats = await Promise.all(paths.map((path) => stat(path).catch(() => undefined)));
  return stats.every((one) => one === undefined || one.uid === user);
}

/**
 * @param what the part: `working tree`
 */
export function outside(what: string, guard: PathGuard): ToolError {
  return new ToolError(
    "denied",
    `The repository's ${what} is outside the allowed directories; ${describeAllowed(guard.allowed)}.`,
    {
      code: "outside_roots",
      hint: "All parts of a repository must be inside. The user can allow the other directory with --root.",
    },
  );
}

function notARepository(start: string, guard: PathGuard, why?: string): ToolError {
  const reason = why === undefined ? "" : `: ${why}`;
  return new ToolError("not_found", `"${oneLine(start)}" is not in a git repository${reason}.`, {
    code: "not_a_repository",
    hint: `Pass the repository's directory as repo_path; ${describeAllowed(guard.allowed)}. A repository whose root is above an allowed directory is not opened. git_init creates a new one.`,
  });
}
