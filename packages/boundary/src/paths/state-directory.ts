import type { Stats } from "node:fs";
import { chmod, lstat, realpath } from "node:fs/promises";
import { homedir, tmpdir, userInfo } from "node:os";
import { isAbsolute, join, relative } from "node:path";
import envPaths from "env-paths";
import { ensureDirectory } from "./ensure-directory.ts";
import { realPathOf } from "./existing.ts";
import { errorCode } from "./path-errors.ts";
import type { AllowedDirectories, HiddenPlaces } from "./types.ts";

/**
 * Possible locations of what a server must remember, in order of preference: the user's state directory, then directories
 * for temporary files, on Linux first the one that survives a restart (Filesystem Hierarchy Standard 5.15). The latter
 * are used if an allowed directory, such as the home directory, contains the first.
 *
 * @param server the server's name, which its directory has
 */
export function stateDirectories(server: string): string[] {
  const { data, log } = envPaths("refmcp", { suffix: "" });
  // On Linux, env-paths calls the state directory ($XDG_STATE_HOME) that of logs.
  const named = ["darwin", "win32"].includes(process.platform) ? data : log;
  // The XDG Base Directory Specification requires absolute paths; others are ignored.
  const state = isAbsolute(named) ? named : join(homedir(), ".local", "state", "refmcp");
  const temporary = process.platform === "linux" ? ["/var/tmp", tmpdir()] : [tmpdir()];
  const user = process.getuid?.().toString() ?? userInfo().username.replace(/[^\w.-]/g, "_");
  return [
    join(state, server),
    ...temporary.map((directory) => join(directory, `refmcp-${server}-${user}`)),
  ];
}

/**
 * The private directory `name` in the first of `candidates` that can be private and is outside the bound. If each is inside,
 * as with the root `/`, the first one that is hidden from all tools.
 *
 * @param create creates it if it is missing; otherwise the result may not exist.
 * @returns its real path, and whether it is permanent: false in a directory for temporary files, which a restart of the
 * machine may clear. Or the reason why none is usable.
 */
export async function openStateDirectory(
  candidates: readonly string[],
  allowed: AllowedDirectories,
  { name, create = true }: { readonly name: string; readonly create?: boolean },
): Promise<{ directory: string; lasting: boolean } | { reason: string }> {
  let reason = "no directory for it is configured";
  const tries = [false, true].flatMap((mayBeInside) =>
    candidates.map((candidate) => ({ candidate, mayBeInside })),
  );
  for (const { candidate, mayBeInside } of tries) {
    const lasting = candidate === candidates[0] || !within(candidate, tmpdir());
    try {
      const directory = await openIn(candidate, allowed, { name, create, mayBeInside });
      if (directory !== undefined) return { directory, lasting };
      reason = `its directory ${candidate} is in an allowed directory, or contains one`;
    } catch (error) {
      if (!create && errorCode(error) === "ENOENT")
        return { directory: join(candidate, name), lasting };
      reason = `${candidate} cannot be used (${errorCode(error) ?? (error instanceof Error ? error.message : error)})`;
    }
  }
  return { reason };
}

async function openIn(
  candidate: string,
  allowed: AllowedDirectories,
  { name, create, mayBeInside }: { name: string; create: boolean; mayBeInside: boolean },
): Promise<string | undefined> {
  // Checked first, so that nothing is created in an allowed directory.
  if (!isUsable(candidate, name, allowed, mayBeInside)) return undefined;
  if (create) ensureDirectory(candidate, 0o700);
  const state = await realpath(candidate);
  if (!isUsable(state, name, allowed, mayBeInside)) return undefined;
  // In a world-writable directory, another user may have created it first.
  demandOwner(await lstat(state), [process.getuid?.(), 0]);
  // A subdirectory, since the mode of a directory chosen by the user must not change.
  const directory = join(state, name);
  if (create) ensureDirectory(directory, 0o700);
  const stat = await lstat(directory);
  demandOwner(stat, [process.getuid?.()]);
  if ((stat.mode & 0o077) !== 0) await chmod(directory, 0o700);
  return directory;
}

/** @throws Error that says what is wrong with the directory */
function demandOwner(stat: Stats, owners: readonly (number | undefined)[]): void {
  if (!stat.isDirectory()) throw new Error("not a directory");
  if (process.getuid !== undefined && !owners.includes(stat.uid))
    throw new Error("it belongs to another user");
}

/** Whether no allowed directory is in `directory`, nor vice versa; or whether it is at least hidden from tools. */
function isUsable(
  directory: string,
  name: string,
  allowed: AllowedDirectories,
  mayBeInside: boolean,
): boolean {
  const isHidden = mayBeInside && allowed.hidden?.hides(join(directory, name)) === true;
  return allowed
    .directories()
    .every(({ path, realPath }) =>
      [path, realPath].every(
        (one) => (isHidden || !within(directory, one)) && !within(one, directory),
      ),
    );
}

/** Whether `path` is `directory` or is below it; both absolute and normalized. */
export function within(path: string, directory: string): boolean {
  const way = relative(directory, path);
  return way === "" || (way !== ".." && !/^\.\.[/\\]/.test(way) && !isAbsolute(way));
}

/** Hides files and directories, which need not exist, and everything below them, from all tools. */
export function hiddenAt(places: readonly string[]): HiddenPlaces {
  const paths = [...new Set(places.flatMap((path) => [path, realPathOf(path)]))];
  return {
    paths,
    // Called for every entry of every walk.
    hides: (realPath) =>
      paths.some(
        (path) => realPath.startsWith(path) && /^$|^[\\/]/.test(realPath.slice(path.length)),
      ),
  };
}
