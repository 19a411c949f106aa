import { type Dirent, readdirSync } from "node:fs";
import { lstat, readFile, readlink, realpath, stat } from "node:fs/promises";
import { basename, dirname, join, resolve } from "node:path";
import { describeAllowed, type PathGuard } from "@refmcp/boundary";
import { oneLine, ToolError } from "@refmcp/boundary/answer";
import { failure, outside } from "../run/errors.ts";
import { pathText, records, stagedEntry } from "../run/text.ts";

/** The real paths of a repository's parts, all inside the allowed directories. */
export interface Location {
  /** The working tree's root; undefined for a bare repository. */
  readonly worktree: string | undefined;
  readonly gitDir: string;
  /** Where refs and objects are; differs from `gitDir` in a linked worktree. */
  readonly commonDir: string;
  /** The object directory, and the alternates. */
  readonly objects: readonly string[];
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
    common === undefined
      ? gitDir
      : await inside(resolve(gitDir, common.trim()), "common directory", guard);
  const [objects, owned] = await Promise.all([
    checkObjects(join(commonDir, "objects"), guard),
    isOwned([found.worktree ?? gitDir, found.entry, gitDir]),
    ...[...new Set([gitDir, commonDir])].map((directory) => checkLinks(directory, guard)),
  ]);
  return { worktree: found.worktree, gitDir, commonDir, objects, owned };
}

/** The working tree, the git directory, and the entry that names it: `.git`, or the git directory itself. */
async function findGitDir(start: string, guard: PathGuard) {
  // The git directory itself means the working tree around it.
  const from =
    basename(start) === ".git" && guard.contains(dirname(start)) ? dirname(start) : start;
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

async function isGitDir(directory: string): Promise<boolean> {
  const [head, objects, refs] = await Promise.all([
    lstat(join(directory, "HEAD")).catch(() => undefined),
    stat(join(directory, "objects")).catch(() => undefined),
    stat(join(directory, "refs")).catch(() => undefined),
  ]);
  const shared = await lstat(join(directory, "commondir")).catch(() => undefined);
  return (
    head !== undefined &&
    (shared !== undefined || (objects?.isDirectory() && refs?.isDirectory()) === true)
  );
}

/** The objects and every alternate object directory that they name, however long the chain. */
async function checkObjects(objects: string, guard: PathGuard): Promise<readonly string[]> {
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
      if (
        (await lstat(alternate).catch(() => undefined)) === undefined &&
        !guard.contains(alternate)
      )
        throw outside("alternate object directory", guard);
      waiting.push(await inside(alternate, "alternate object directory", guard));
    }
  }
  return [...seen];
}

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
  for (const entry of entriesOf(directory)) {
    const path = join(directory, entry.name);
    if (entry.isSymbolicLink() && !NOT_OURS.has(entry.name)) await insideLink(path, guard);
    else if (recursive && entry.isDirectory()) await checkLinksIn(path, guard, true);
  }
}

/** Without waiting: each of many small directories would cost a turn of the event loop. */
function entriesOf(directory: string): Dirent[] {
  try {
    return readdirSync(directory, { withFileTypes: true });
  } catch {
    return [];
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

function notARepository(start: string, guard: PathGuard, why?: string): ToolError {
  const reason = why === undefined ? "" : `: ${why}`;
  return failure("not_a_repository", `"${oneLine(start)}" is not in a git repository${reason}.`, {
    hint: `Pass the repository's directory as repo_path; ${describeAllowed(guard.allowed)}. A repository whose root is above an allowed directory is not opened. git_init creates a new one.`,
  });
}

const GITLINK = 0o160000;
/** Extensions that move the entries to another file, or to another part of this one. */
const INDIRECT = ["link", "IEOT"].map((name) => Buffer.from(name));
/** Paths that git never adds to an index, but would follow out of the working tree. */
const LEADS_OUT =
  process.platform === "win32"
    ? /^[/\\]|^[a-z]:|(^|[/\\])\.\.? *([/\\]|$)/i
    : /^\/|(^|[/\\])\.\.?([/\\]|$)/;
/** Only these, which may contain characters that some file systems ignore, can name the git directory. */
const MAY_BE_GIT = /git|[^\0-\x7f]/i;

/** Whether a path in an index leads out of the working tree or into the git directory, in a form that any file system accepts. */
function leadsOut(path: string, bytes: Buffer): boolean {
  if (LEADS_OUT.test(path)) return true;
  return MAY_BE_GIT.test(path) && bytes.toString("utf8").split(/[/\\]/).some(isGitName);
}

/** The path has one character for each byte. */
type Entry = readonly [mode: number, path: string];

/**
 * Checks the paths in an index, which may have come with the repository: git reads and writes the files that they name.
 *
 * @param file the index
 * @param oidBytes 20, or 32 with SHA-256
 * @param list asks git for the entries (`ls-files --stage -z`) if the file has another format
 * @returns the paths of its submodules
 * @throws ToolError `denied`, code `corrupt_index`
 */
export async function submodulesInIndex(
  file: string,
  oidBytes: number,
  list: () => Promise<{ readonly stdout: Buffer }>,
): Promise<string[]> {
  const index = await readFile(file).catch(() => undefined);
  if (index === undefined) return [];
  const entries = plainEntries(index, oidBytes) ?? listedEntries((await list()).stdout);
  const submodules: string[] = [];
  for (const [mode, path] of entries) {
    const bytes = Buffer.from(path, "latin1");
    if (mode === GITLINK) submodules.push(bytes.toString("utf8"));
    if (!leadsOut(path, bytes)) continue;
    const message = `The repository's index contains "${oneLine(pathText(bytes))}", which is not a path inside the working tree.`;
    const hint =
      "git never writes such an index. The user can remove .git/index and run git reset, or clone the repository again.";
    throw new ToolError("denied", message, { code: "corrupt_index", hint });
  }
  return submodules;
}

/** The entries in versions 2 and 3 of gitformat-index(5); undefined for anything else. */
function plainEntries(bytes: Buffer, oidBytes: number): Entry[] | undefined {
  if (bytes.length < 12 || INDIRECT.some((name) => bytes.includes(name))) return undefined;
  const [version, count] = [bytes.readUInt32BE(4), bytes.readUInt32BE(8)];
  if (version !== 2 && version !== 3) return undefined;
  const entries: Entry[] = [];
  for (let start = 12; entries.length < count; ) {
    const flags = start + 40 + oidBytes;
    if (flags + 4 > bytes.length) return undefined;
    const path = flags + ((bytes.readUInt8(flags) & 0x40) === 0 ? 2 : 4);
    const end = bytes.indexOf(0, path);
    if (end === -1) return undefined;
    entries.push([bytes.readUInt32BE(start + 24), bytes.toString("latin1", path, end)]);
    // Padded with at least one NUL to a multiple of eight bytes.
    start += (end - start + 8) & ~7;
  }
  return entries;
}

/** The entries from `git ls-files --stage -z`. */
function listedEntries(output: Buffer): Entry[] {
  const entries = records(output).map(stagedEntry);
  return entries.map(({ mode, path }) => [Number.parseInt(mode, 8), path.toString("latin1")]);
}
