import { isUtf8 } from "node:buffer";
import { type Dirent, existsSync, readdirSync, readFileSync } from "node:fs";
import { basename, dirname, isAbsolute, join, relative, sep } from "node:path";
import { oneLine, type ToolError } from "@refmcp/boundary/answer";
import { failure } from "../run/errors.ts";
import { attempt, statsOf } from "./configuration.ts";

/** Of a file that leads to another directory. */
const MAX_BYTES = 64 * 1024;

/**
 * Whether a path is a git directory or in one, where created files become part of git: a hook, a ref.
 *
 * @param path absolute, links resolved; need not exist
 */
export function isInGitDirectory(path: string): boolean {
  for (let directory = path; ; directory = dirname(directory)) {
    if (isGitName(basename(directory)) || isGitDirectory(directory)) return true;
    if (dirname(directory) === directory) return false;
  }
}

/** `.git` in any form that a file system may treat as equal (CVE-2014-9390, CVE-2019-1352). */
export function isGitName(name: string): boolean {
  return /^(\.git[. ]*(:.*)?|git~\d+)$/i.test(
    name.replaceAll(/[\u200c-\u200f\u202a-\u202e\u206a-\u206f\ufeff]/g, ""),
  );
}

export function isGitDirectory(directory: string): boolean {
  if (statsOf(join(directory, "HEAD")) === undefined) return false;
  if (statsOf(join(directory, "commondir")) !== undefined) return true;
  return ["objects", "refs"].every((name) => existsSync(`${directory}/${name}/.`));
}

/**
 * Refuses links, pipes and devices, which git never makes in a git directory, but would follow to
 * other files, or wait for.
 *
 * @param except names that are not looked at
 * @throws ToolError `unsafe_git_directory`
 */
export function refuseLinks(directory: string, except?: RegExp): void {
  for (const entry of entriesOf(directory)) {
    const path = join(directory, entry.name);
    if (except?.test(entry.name)) continue;
    if (entry.isDirectory()) refuseLinks(path);
    else if (entry.isSymbolicLink()) throw unusual(path, "is a symlink");
    else if (!entry.isFile() && !entry.isSocket()) throw unusual(path, "is a pipe or device");
  }
}

export function entriesOf(directory: string): Dirent[] {
  return attempt(() => readdirSync(directory, { withFileTypes: true })) ?? [];
}

/**
 * The text of a file that leads to another directory. git takes its bytes up to a NUL, so only a
 * small file of plain UTF-8 is read the same way here.
 *
 * @returns undefined if there is no such file
 * @throws ToolError `unsafe_git_directory`
 */
export function plainTextIn(file: string): string | undefined {
  const stats = statsOf(file);
  if (stats === undefined) return undefined;
  if (!stats.isFile() || stats.size > MAX_BYTES) throw unusual(file, "is not a small file");
  const bytes = readFileSync(file);
  const text = bytes.toString("utf8").replace(/\n+$/, "");
  if (isUtf8(bytes) && !/[^\n\P{Cc}]/u.test(text)) return text;
  throw unusual(file, "is not plain text");
}

export function unusual(path: string, why: string): ToolError {
  const message = `"${oneLine(path)}" ${why}. git makes nothing like that in a git directory.`;
  return failure("unsafe_git_directory", message);
}

/**
 * Refuses a git directory that is in its working tree, where a command could replace the
 * configuration before it starts other processes, which read it again. git checks nothing out below
 * a directory `.git`.
 *
 * @throws ToolError `unsafe_config`
 */
export function refuseInTree(worktree: string, gitDirectories: readonly string[]): void {
  const isPlain = (file: string) => relative(worktree, file).split(sep).includes(".git");
  const inside = gitDirectories.find(
    (directory) => isIn(directory, worktree) || (isIn(worktree, directory) && !isPlain(directory)),
  );
  if (inside === undefined) return;
  const message = `The repository's configuration is in its working tree ("${oneLine(inside)}"), where a command can change it.`;
  throw failure("unsafe_config", message, {
    hint: "git could then run a program that it names. The user can move it into .git.",
  });
}

function isIn(directory: string, path: string): boolean {
  const below = relative(directory, path);
  return below.split(sep)[0] !== ".." && !isAbsolute(below);
}
