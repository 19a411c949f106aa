import { constants, lstatSync, realpathSync } from "node:fs";
import { lstat, realpath } from "node:fs/promises";
import { join } from "node:path";
import { directoryAround, fileSystemKind } from "./check.ts";
import { checkEntryName, openUnlinked } from "./open.ts";
import {
  hiddenPlace,
  inSpecialFileSystem,
  leadsOutside,
  pathError,
  specialFile,
} from "./path-errors.ts";
import {
  type AllowedDirectories,
  type GuardedDirectory,
  type Identity,
  isSame,
  type Opener,
} from "./types.ts";

/** Windows has no O_NONBLOCK, and opening never blocks there. */
const READ_FLAGS = constants.O_RDONLY | (constants.O_NONBLOCK ?? 0);

/** How many attempts are made to open a path that keeps being swapped. */
const MAX_ATTEMPTS = 5;

/** How many times a path is checked before it is trusted. */
const CHECKS = 5;

/**
 * macOS, Windows, and Linux without /proc: verifies the real path, opens it without following a link, and compares its
 * device and inode before and after. Reads use the opened handle.
 *
 * This is weaker than on Linux, especially when directories are changed: `entry` is a path, so `verify` detects a
 * swapped parent only afterwards. Reading on macOS is as safe as on Linux, because no component may be a link
 * (`openUnlinked`); elsewhere, a program would have to swap a parent directory at the right microsecond a dozen times
 * within one call.
 */
export function portableOpener(allowed: AllowedDirectories): Opener {
  /** The target of `path`, if it is inside and did not change during the check. */
  async function find(path: string, asked: string) {
    const realPath = await realpath(path);
    if (allowed.hidden?.hides(realPath)) throw hiddenPlace(asked);
    const directory = directoryAround(realPath, allowed);
    if (directory === undefined) throw leadsOutside(asked, allowed);
    const identity = await lstat(realPath, { bigint: true });
    if (identity.isSymbolicLink()) return undefined;
    if (!identity.isFile() && !identity.isDirectory()) throw specialFile(asked, identity);
    if (fileSystemKind(realPath) === "special") throw inSpecialFileSystem(asked);
    return { realPath, directory, identity };
  }

  /** Opens what it finds, unless the path changes in between; then it tries again. */
  async function settled<Opened>(
    path: string,
    asked: string,
    open: (found: NonNullable<Awaited<ReturnType<typeof find>>>) => Promise<Opened | undefined>,
  ): Promise<Opened> {
    for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
      const found = await find(path, asked);
      const opened = found === undefined ? undefined : await open(found);
      if (opened !== undefined) return opened;
    }
    throw pathError("changed_meanwhile", asked);
  }

  return {
    hidden: allowed.hidden,

    openFile: (path, asked) =>
      settled(path, asked, async ({ realPath, directory, identity }) => {
        if (!identity.isFile()) throw pathError("is_directory", asked);
        const handle = await openUnlinked(realPath, READ_FLAGS);
        try {
          const opened = await handle.stat({ bigint: true });
          if (isSame(opened, identity) && isStill(realPath, opened))
            return { handle, path: asked, realPath, directory, stat: await handle.stat() };
        } catch (error) {
          await handle.close();
          throw error;
        }
        await handle.close();
        return undefined;
      }),

    openDirectory: (path, asked) =>
      settled(path, asked, async ({ realPath, directory, identity }) => {
        if (!isStill(realPath, identity)) return undefined;
        if (!identity.isDirectory()) throw pathError("not_directory", asked);
        return {
          path: asked,
          realPath,
          directory,
          stat: await lstat(realPath),
          entry(name) {
            checkEntryName(name);
            return join(realPath, name);
          },
          async verify() {
            if (!isStill(realPath, identity)) throw pathError("changed_meanwhile", asked);
          },
          async close() {},
        } satisfies GuardedDirectory;
      }),
  };
}

/**
 * Whether `realPath` is still a real path and still refers to the same file. It is checked several times in a row: a
 * program that swaps a directory back and forth has to hit the microseconds between two checks each time.
 */
function isStill(realPath: string, identity: Identity): boolean {
  try {
    for (let check = 0; check < CHECKS; check++) {
      if (realpathSync.native(realPath) !== realPath) return false;
      if (!isSame(lstatSync(realPath, { bigint: true }), identity)) return false;
    }
    return true;
  } catch {
    return false;
  }
}
