import { constants, statSync } from "node:fs";
import { join } from "node:path";
import { checkEntryName, type Opener, openUnlinked } from "./opener.ts";
import type { GuardedDirectory } from "./types.ts";

const own = new WeakSet<GuardedDirectory>();

/**
 * A directory outside the bound that only this process can access, such as a journal: trees can be copied
 * from and to it. Its path comes from the server itself, never from an argument.
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

/** Opens what is below an own directory; there is nothing to verify, but links are not followed. */
const ownOpener: Opener = {
  async openFile(path, asked) {
    const handle = await openUnlinked(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
    const { directory } = ownDirectory(join(path, ".."));
    return { handle, path: asked, realPath: path, stat: await handle.stat(), directory };
  },
  openDirectory: async (path) => ownDirectory(path),
};

/** The opener for what is below `parent`. */
export function openerBelow(parent: GuardedDirectory, opener: Opener): Opener {
  return own.has(parent) ? ownOpener : opener;
}
