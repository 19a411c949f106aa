import { isUtf8 } from "node:buffer";
import { type Dirent, readdirSync } from "node:fs";
import { lstat, readFile, realpath, stat } from "node:fs/promises";
import { basename, dirname, isAbsolute, join, relative, resolve, sep } from "node:path";
import { describeAllowed, type PathGuard } from "@refmcp/boundary";
import { oneLine, ToolError } from "@refmcp/boundary/answer";
import { realOf } from "../run/config.ts";
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

/**
 * Entries of a git directory that git does not read, such as locks of Emacs, and those that are checked when they are used: hooks,
 * and the git directories of submodules.
 */
const NOT_OURS = /^(hooks|modules|lfs|annex|\.#.*)$/;
const MAX_ALTERNATES = 100;
/** Of a file that leads to another directory. */
const MAX_BYTES = 64 * 1024;

/**
 * Finds the repository that `start` is in. Like git it walks up, but never above the allowed directory, and every
 * part must be inside the bound: the git directory that a `.git` file or link names, the common directory, the
 * objects and their alternates. What git never makes in these directories is refused.
 *
 * @param start a real directory inside the bound
 * @throws ToolError `not_a_repository`, `outside_roots`, `unsafe_git_directory`
 */
export async function locate(start: string, guard: PathGuard): Promise<Location> {
  const found = await findGitDir(start, guard);
  const gitDir = await inside(found.gitDir, "git directory", guard);
  refuseLinks(gitDir, NOT_OURS);
  const commonDir = await commonDirOf(gitDir, guard);
  if (commonDir !== gitDir) refuseLinks(commonDir, NOT_OURS);
  // git also resolves the HEAD of every linked worktree.
  for (const { name } of entriesOf(join(commonDir, "worktrees"))) {
    const linked = join(commonDir, "worktrees", name);
    const leads = await commonDirOf(linked, guard);
    if (leads !== commonDir && leads !== linked)
      throw unusual(join(linked, "commondir"), "leads to another repository");
  }
  const [objects, owned] = await Promise.all([
    checkObjects(join(commonDir, "objects"), guard),
    isOwned([found.worktree ?? gitDir, found.entry, gitDir]),
  ]);
  return { worktree: found.worktree, gitDir, commonDir, objects, owned };
}

async function commonDirOf(gitDir: string, guard: PathGuard): Promise<string> {
  const file = join(gitDir, "commondir");
  const text = await textIn(file);
  return text === undefined ? gitDir : target(file, gitDir, text, "common directory", guard);
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
      const [, line] = /^gitdir: (.+)$/s.exec((await textIn(entry)) ?? "") ?? [];
      if (line === undefined) throw notARepository(start, guard, "its .git file is damaged");
      const gitDir = await target(entry, directory, line, "git directory", guard);
      return { worktree: directory, gitDir, entry };
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
    if (seen.has(directory)) continue;
    const file = join(directory, "info", "alternates");
    if (seen.size === MAX_ALTERNATES) throw unusual(file, "leads to too many directories");
    // The repository's own objects were checked with it.
    if (seen.size > 0) refuseLinks(directory);
    seen.add(directory);
    for (const line of ((await textIn(file)) ?? "").split("\n")) {
      if (line === "" || line.startsWith("#")) continue;
      if (line.startsWith('"')) throw unusual(file, "has a line in quotes");
      waiting.push(await target(file, directory, line, "alternate object directory", guard));
    }
  }
  return [...seen];
}

/** The text of a file that leads to another directory; undefined if there is none. git reads its bytes, up to a NUL. */
async function textIn(file: string): Promise<string | undefined> {
  const stats = await lstat(file).catch(() => undefined);
  if (stats === undefined) return undefined;
  if (!stats.isFile() || stats.size > MAX_BYTES) throw unusual(file, "is not a small file");
  const bytes = await readFile(file);
  const text = bytes.toString("utf8").replace(/\n+$/, "");
  if (isUtf8(bytes) && !/[^\n\P{Cc}]/u.test(text)) return text;
  throw unusual(file, "is not plain text");
}

/** The real path that a line in a file names. */
async function target(
  file: string,
  directory: string,
  line: string,
  what: string,
  guard: PathGuard,
): Promise<string> {
  const path = isAbsolute(line) ? line : `${directory}${sep}${line}`;
  const plain = await inside(resolve(path), what, guard);
  // The system follows a link before a ".." behind it.
  if ((await realpath(path).catch(() => plain)) === plain) return plain;
  throw unusual(file, "leads through a link and back");
}

async function inside(path: string, what: string, guard: PathGuard): Promise<string> {
  // A missing file cannot lead anywhere; git will report it.
  const real = await realpath(path).catch(() => path);
  if (!guard.contains(real)) throw outside(what, guard);
  return real;
}

/**
 * Refuses links, pipes and devices, which git never makes in a git directory, but would follow to other files, or wait for.
 *
 * @param except names that are not looked at
 */
function refuseLinks(directory: string, except?: RegExp): void {
  for (const entry of entriesOf(directory)) {
    const path = join(directory, entry.name);
    if (except?.test(entry.name)) continue;
    if (entry.isDirectory()) refuseLinks(path);
    else if (entry.isSymbolicLink()) throw unusual(path, "is a symlink");
    else if (!entry.isFile() && !entry.isSocket()) throw unusual(path, "is a pipe or device");
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

/**
 * Refuses a configuration that is in a working tree, where a command could replace it before it starts other processes, which
 * read it again. git checks nothing out below `.git`.
 *
 * @throws ToolError `unsafe_config`
 */
export function refuseInTree(
  worktree: string,
  { gitDir, commonDir }: Location,
  includes: readonly string[],
): void {
  const files = [gitDir, commonDir, ...includes.map(realOf)];
  const isPlain = (file: string) => relative(worktree, file).split(sep).includes(".git");
  const found = isIn(gitDir, worktree)
    ? gitDir
    : files.find((file) => isIn(worktree, file) && !isPlain(file));
  if (found === undefined) return;
  const message = `The repository's configuration is in its working tree ("${oneLine(found)}"), where a command can change it.`;
  throw failure("unsafe_config", message, {
    hint: "git could then run a program that it names. The user can move it, or what it includes, into .git.",
  });
}

function isIn(directory: string, path: string): boolean {
  const below = relative(directory, path);
  return below.split(sep)[0] !== ".." && !isAbsolute(below);
}

function unusual(path: string, why: string): ToolError {
  const message = `"${oneLine(path)}" ${why}. git makes nothing like that in a git directory.`;
  return failure("unsafe_git_directory", message);
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
