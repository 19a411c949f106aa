import { readdir } from "node:fs/promises";
import { posix } from "node:path";
import type { PathGuard } from "@refmcp/boundary";
import { orRefused, withDirectory } from "./open-path.ts";

/** The protocol's limit on suggestions. */
const MAX_SUGGESTIONS = 100;

/**
 * Absolute paths that begin with `typed`: entries of its directory, directories with a trailing slash, or the allowed
 * directories themselves if it is not inside one yet.
 *
 * @param typed with `/` between components, also on Windows.
 */
export async function completePath(guard: PathGuard, typed: string): Promise<string[]> {
  const allowed = guard.allowed.directories().map((directory) => directory.path.replaceAll("\\", "/"));
  const above = allowed
    .filter((directory) => directory.startsWith(typed) || directory === typed)
    .map((directory) => `${directory}/`);
  if (above.length > 0) return above.slice(0, MAX_SUGGESTIONS);
  const folder = posix.dirname(`${typed}x`);
  const start = typed.slice(typed.lastIndexOf("/") + 1);
  const found = await withDirectory(guard, folder, async (directory) => {
    const entries = await readdir(directory.entry(""), { withFileTypes: true });
    return entries
      .filter((entry) => entry.name.startsWith(start))
      .map((entry) => posix.join(folder, entry.name) + (entry.isDirectory() ? "/" : ""))
      .sort()
      .slice(0, MAX_SUGGESTIONS);
  }).catch(orRefused);
  // No suggestions outside the allowed directories, or if it is not a directory.
  return found ?? [];
}
