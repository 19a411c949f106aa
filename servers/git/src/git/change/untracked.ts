import { lstat } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { Repository } from "../open/repository.ts";
import { differing } from "../read/changes.ts";
import { failure } from "../run/errors.ts";
import { firstNames, pathText, records } from "../run/text.ts";

const MAX_ARGUMENTS = 500;

/**
 * Untracked files, ignored ones too, where a commit has files. git replaces ignored files without a
 * word when it writes that commit, except in `switch` and a fast-forward.
 *
 * @param to the commit
 * @param from only the files that differ between this commit and `to` are written; by default all
 */
export async function untrackedAt(
  repository: Repository,
  to: string,
  from?: string,
): Promise<string[]> {
  const paths = async (...args: string[]) =>
    records(await differing(repository, ...args)).map(pathText);
  const changed = from && new Set(await paths("--diff-filter=d", from, to));
  const missing = await paths("--cached", "--diff-filter=D", to);
  return untrackedAmong(
    repository,
    missing.filter((path) => !changed || changed.has(path)),
  );
}

/** Untracked files at these paths, below them, or in place of a directory above them. */
export async function untrackedAmong(
  repository: Repository,
  paths: readonly string[],
): Promise<string[]> {
  const root = await repository.worktree();
  const statsOf = (path: string) => lstat(join(root, path)).catch(() => undefined);
  const places = new Set<string>();
  for (const written of paths) {
    let path = written;
    while (path !== "." && (await statsOf(path)) === undefined) path = dirname(path);
    if (path === written || (await statsOf(path))?.isDirectory() === false) places.add(path);
  }
  const list = ["ls-files", "--others", "-z", "--"];
  const files: string[] = [];
  for (let rest = [...places]; rest.length > 0; rest = rest.slice(MAX_ARGUMENTS)) {
    const part = [...list, ...rest.slice(0, MAX_ARGUMENTS)];
    files.push(...(await repository.paths(part, "list the files")));
  }
  return files;
}

/** @throws ToolError `local_changes` if there are such files */
export function refuseUntracked(files: readonly string[]): void {
  if (files.length === 0) return;
  const message = `These untracked files would be overwritten: ${firstNames(files)}. Nothing was changed.`;
  throw failure("local_changes", message, {
    hint: "Move them away first. git_clean with these files and ignored: true deletes them and keeps them for recovery.",
  });
}
