import { constants, statSync } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import { join } from "node:path";
import { errorCode } from "./system-error.ts";
import type { GuardedDirectory, GuardedFile } from "./types.ts";

/**
 * Opens the target of a path, following links, and verifies its location before anything is read. `path` is for the
 * system, `asked` for messages and the result.
 *
 * Both throw `denied` (outside, device, FIFO, socket), `invalid` (a directory instead of a file, or vice versa), and
 * errors of the operating system unchanged.
 */
export interface Opener {
  openFile(path: string, asked: string): Promise<GuardedFile>;
  openDirectory(path: string, asked: string): Promise<GuardedDirectory>;
}

/** Checks that `name` is a single component, as `entry` requires. */
export function checkEntryName(name: string): void {
  if (
    name === "." ||
    name === ".." ||
    /[/\0]/.test(name) ||
    (process.platform === "win32" && name.includes("\\"))
  ) {
    throw new TypeError(`Not a valid directory entry name: ${JSON.stringify(name)}`);
  }
}

/**
 * open(2) on macOS 11 and newer: refuses a link in any component, not only in the last. Node.js has no constant for it.
 */
const O_NOFOLLOW_ANY = 0x20000000;

/** Opens the entry at `path` itself, not a link's target. Windows has no such flag, so callers compare identities. */
export async function openUnlinked(path: string, flags: number, mode?: number): Promise<FileHandle> {
  if (process.platform !== "darwin") return open(path, flags | (constants.O_NOFOLLOW ?? 0), mode);
  try {
    return await open(path, flags | O_NOFOLLOW_ANY, mode);
  } catch (error) {
    if (errorCode(error) !== "EINVAL") throw error;
    return open(path, flags | constants.O_NOFOLLOW, mode);
  }
}

const own = new WeakSet<GuardedDirectory>();

/**
 * A private directory outside the bound, such as a journal, from and to which trees can be copied. Its path comes from
 * the server itself, never from an argument.
 */
export function ownDirectory(path: string): GuardedDirectory {
  const directory = {
    path,
    realPath: path,
    stat: statSync(path),
    directory: { path, realPath: path, source: "argument" as const, writable: true },
    entry(name: string) {
      if (name !== "") checkEntryName(name);
      return join(path, name);
    },
    verify: async () => {},
    close: async () => {},
  };
  own.add(directory);
  return directory;
}

/** Opens files and directories below a private directory; there is nothing to verify, but links are not followed. */
const ownOpener: Opener = {
  async openFile(path, asked) {
    const handle = await openUnlinked(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
    const { directory } = ownDirectory(join(path, ".."));
    return { handle, path: asked, realPath: path, stat: await handle.stat(), directory };
  },
  openDirectory: async (path) => ownDirectory(path),
};

/** The opener for entries below `parent`. */
export function openerBelow(parent: GuardedDirectory, opener: Opener): Opener {
  return own.has(parent) ? ownOpener : opener;
}
