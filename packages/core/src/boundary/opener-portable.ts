import { type BigIntStats, constants } from "node:fs";
import { lstat, open, realpath, stat as statPath } from "node:fs/promises";
import { dirname, join } from "node:path";
import { type Identity, isSame } from "./identity.ts";
import type { Membership } from "./membership.ts";
import { checkEntryName, type Opener } from "./opener.ts";
import { mayBeInside } from "./platform.ts";
import {
  changedMeanwhile,
  isDirectory,
  isNoDirectory,
  leadsOutside,
  specialFile,
  specialPlace,
} from "./refusals.ts";
import { isSpecialFileSystem } from "./special-places.ts";
import type { AllowedDirectory, Bound } from "./types.ts";

/** Windows has neither flag; nothing there blocks on opening, and the identity check tells a link. */
const readFlags = constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0);

/** A swap that goes on and on is refused after this many tries. */
const tries = 5;

/**
 * macOS, Windows, and Linux without /proc: the real path is verified, opened without following a link, and its
 * device and inode are compared before and after. What is read is the opened handle.
 *
 * Weaker than on Linux: a program that swaps a parent directory back and forth at exactly the right moments, several
 * times within one call, can pass it; and what `entry` names is a path, so that `verify` can tell a swap only
 * afterwards.
 */
export function portableOpener(bound: Bound, membership: Membership): Opener {
  /** Where `path` leads, if that is inside and stays the same while we look. */
  async function find(path: string, asked: string) {
    const realPath = await realpath(path);
    const directory = membership.surelyAround(realPath) ?? (await aroundByIdentity(realPath, bound));
    if (directory === undefined) throw leadsOutside(asked, bound);
    const identity = await lstat(realPath, { bigint: true });
    if (identity.isSymbolicLink()) return undefined;
    if (!identity.isFile() && !identity.isDirectory()) throw specialFile(asked, identity);
    if (isSpecialFileSystem(realPath)) throw specialPlace(asked);
    return { realPath, directory, identity };
  }

  return {
    async openFile(path, asked) {
      for (let attempt = 0; attempt < tries; attempt++) {
        const found = await find(path, asked);
        if (found === undefined) continue;
        if (!found.identity.isFile()) throw isDirectory(asked);
        const handle = await open(found.realPath, readFlags);
        try {
          const opened = await handle.stat({ bigint: true });
          if (isSame(opened, found.identity) && (await isStill(found.realPath, opened))) {
            const { realPath, directory } = found;
            return { handle, path: asked, realPath, directory, stat: await handle.stat() };
          }
        } catch (error) {
          await handle.close();
          throw error;
        }
        await handle.close();
      }
      throw changedMeanwhile(asked);
    },

    async openDirectory(path, asked) {
      for (let attempt = 0; attempt < tries; attempt++) {
        const found = await find(path, asked);
        if (found === undefined || !(await isStill(found.realPath, found.identity))) continue;
        if (!found.identity.isDirectory()) throw isNoDirectory(asked);
        const { realPath, directory, identity } = found;
        const stat = await lstat(realPath);
        return {
          path: asked,
          realPath,
          directory,
          stat,
          entry(name) {
            checkEntryName(name);
            return join(realPath, name);
          },
          async verify() {
            if (!(await isStill(realPath, identity))) throw changedMeanwhile(asked);
          },
          async close() {},
        };
      }
      throw changedMeanwhile(asked);
    },
  };
}

/** Whether `realPath` still is a real path and still names the same thing. */
async function isStill(realPath: string, identity: Identity): Promise<boolean> {
  try {
    if ((await realpath(realPath)) !== realPath) return false;
    return isSame(await lstat(realPath, { bigint: true }), identity);
  } catch {
    return false;
  }
}

/** For file systems on which one directory has several spellings: compares each ancestor with the allowed directories. */
async function aroundByIdentity(realPath: string, bound: Bound): Promise<AllowedDirectory | undefined> {
  const candidates: { directory: AllowedDirectory; identity: BigIntStats }[] = [];
  for (const directory of bound.directories()) {
    if (directory.unavailable !== undefined || !mayBeInside(realPath, directory.realPath, process.platform))
      continue;
    candidates.push({ directory, identity: await statPath(directory.realPath, { bigint: true }) });
  }
  for (let path = realPath; candidates.length > 0; path = dirname(path)) {
    const here = await lstat(path, { bigint: true });
    const found = candidates.find(({ identity }) => isSame(identity, here));
    if (found !== undefined) return found.directory;
    if (dirname(path) === path) return undefined;
  }
  return undefined;
}
