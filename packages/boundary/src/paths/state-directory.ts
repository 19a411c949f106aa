import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  realpathSync,
  type Stats,
  statSync,
} from "node:fs";
import { homedir, tmpdir, userInfo } from "node:os";
import { dirname, isAbsolute, join, resolve } from "node:path";
import envPaths from "env-paths";
import { reasonOf } from "../answer/errors.ts";
import { within } from "./names.ts";
import { errorCode } from "./path-errors.ts";
import type { AllowedDirectories } from "./types.ts";

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
  const base = ["darwin", "win32"].includes(process.platform) ? data : log;
  // The XDG Base Directory Specification requires absolute paths; others are ignored.
  const state = isAbsolute(base) ? base : join(homedir(), ".local", "state", "refmcp");
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
export function openStateDirectory(
  candidates: readonly string[],
  allowed: AllowedDirectories,
  { name, create = true }: { readonly name: string; readonly create?: boolean },
): { directory: string; lasting: boolean } | { reason: string } {
  let reason = "no directory for it is configured";
  for (const mayBeInside of [false, true])
    for (const candidate of candidates) {
      const isPermanent = candidate === candidates[0] || !within(candidate, tmpdir());
      const demandUsable = (directory: string) => {
        const isHidden = mayBeInside && allowed.hidden?.hides(join(directory, name)) === true;
        for (const root of allowed.directories().flatMap(({ path, realPath }) => [path, realPath]))
          if ((!isHidden && within(directory, root)) || within(root, directory))
            throw new Error("it is in an allowed directory, or contains one");
      };
      try {
        // Checked first, so that nothing is created in an allowed directory.
        demandUsable(resolve(candidate));
        if (create) ensureDirectory(candidate, 0o700);
        const state = realpathSync.native(candidate);
        demandUsable(state);
        return { directory: privateIn(state, name, create), lasting: isPermanent };
      } catch (error) {
        if (!create && errorCode(error) === "ENOENT")
          return { directory: join(candidate, name), lasting: isPermanent };
        reason = `${candidate} cannot be used (${errorCode(error) ?? reasonOf(error)})`;
      }
    }
  return { reason };
}

/** A subdirectory, since the mode of a directory chosen by the user must not change. */
function privateIn(state: string, name: string, create: boolean): string {
  // In a world-writable directory, another user may have created it first.
  demandOwner(lstatSync(state), [process.getuid?.(), 0]);
  const directory = join(state, name);
  if (create) ensureDirectory(directory, 0o700);
  const stat = lstatSync(directory);
  demandOwner(stat, [process.getuid?.()]);
  if ((stat.mode & 0o077) !== 0) chmodSync(directory, 0o700);
  return directory;
}

/** @throws Error that says what is wrong with the directory */
function demandOwner(stat: Stats, owners: readonly (number | undefined)[]): void {
  if (!stat.isDirectory()) throw new Error("not a directory");
  if (process.getuid !== undefined && !owners.includes(stat.uid))
    throw new Error("it belongs to another user");
}

/**
 * Creates a directory and any missing parents. Succeeds if it already exists. Use it instead of Node.js's recursive `mkdir`,
 * which creates the parents and retries after every ENOENT: below /proc, mkdir(2) always fails with it, so that never ends.
 *
 * @throws the operating system's error; below /proc EPERM, mkdir(2)'s code for a file system without new directories
 */
export function ensureDirectory(path: string, mode = 0o777): void {
  if (statSync(path, { throwIfNoEntry: false })?.isDirectory()) return;
  const parent = dirname(path);
  if (parent !== path && !existsSync(parent)) ensureDirectory(parent, mode);
  try {
    mkdirSync(path, { mode });
  } catch (error) {
    if (statSync(path, { throwIfNoEntry: false })?.isDirectory()) return;
    if (errorCode(error) !== "ENOENT" || !existsSync(parent)) throw error;
    const message = `EPERM: this file system does not support creating directories, mkdir '${path}'`;
    throw Object.assign(new Error(message, { cause: error }), { code: "EPERM" });
  }
}
