import { realpathSync } from "node:fs";
import { basename, dirname, isAbsolute, join, relative, resolve, sep } from "node:path";
import { oneLine, ToolError } from "@refmcp/boundary/answer";
import { nulEnded } from "../run/text.ts";
import { isGitName } from "./git-directory.ts";
import type { Repository } from "./repository.ts";

/**
 * Converts a path from an argument to git's form: below the repository's root, with forward slashes, `.` for the root.
 * It never leaves the working tree (`git_add ../..`, CVE-2026-27735) nor enters a git directory.
 *
 * @throws ToolError `invalid`, code `bad_path`
 */
function pathIn(root: string, path: string): string {
  if (path === "") throw badPath(path, "is empty");
  if (path.includes("\0")) throw badPath(path, "contains a NUL character");
  const below = relative(root, realIfAbsolute(path, root));
  if (isAbsolute(below) || below === ".." || below.startsWith(`..${sep}`))
    throw badPath(path, "is outside the repository");
  const inside = below.split(sep).join("/");
  if (inside.split("/").some(isGitName)) throw badPath(path, "is inside a git directory");
  return inside === "" ? "." : inside;
}

/** For an absolute path that reaches the root through a link (macOS: /tmp), the real path of its directory counts. */
function realIfAbsolute(path: string, root: string): string {
  const absolute = resolve(root, path);
  if (!isAbsolute(path) || absolute === root || absolute.startsWith(root + sep)) return absolute;
  try {
    return join(realpathSync.native(dirname(absolute)), basename(absolute));
  } catch {
    return absolute;
  }
}

/** The same for a repository's working tree; in a bare one, paths refer to its commits. */
export async function pathsIn(repository: Repository, paths: readonly string[]): Promise<string[]> {
  const { worktree } = await repository.prepared();
  return paths.map((path) => pathIn(worktree ?? repository.location.gitDir, path));
}

/** Paths for commands that read them from stdin, NUL-terminated. */
export async function pathBytes(repository: Repository, paths: readonly string[]): Promise<Buffer> {
  await repository.worktree();
  return nulEnded(await pathsIn(repository, paths));
}

function badPath(path: string, what: string): ToolError {
  return new ToolError("invalid", `The path "${oneLine(path.slice(0, 200))}" ${what}.`, {
    code: "bad_path",
    hint: "Pass paths relative to the repository's root, as git_status and git_list_files show them, or absolute ones inside it.",
  });
}
