import { lstatSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import {
  ensureDirectory,
  errorCode,
  type HiddenPlaces,
  hiddenAt,
  ownDirectory,
  type WalkedDirectory,
} from "@refmcp/boundary";

/** The images of a root that is on another disk than the records. */
export const TRASH = ".refmcp-trash";
/** Also the desktop's trash, on Linux and macOS: a model must not read or change what a user deleted. */
const TRASH_NAMES =
  /(?:^|[\\/])(?:\.Trash(?:-\d+)?|\.refmcp-trash|\.local[\\/]share[\\/]Trash)(?:[\\/]|$)/;

/** What no tool may access: the records and images of this server, and every trash. */
export function hiddenPlaces(stateDirectories: readonly string[]): HiddenPlaces {
  const below = hiddenAt(stateDirectories.map((state) => join(state, "journal")));
  return {
    paths: below.paths,
    hides: (realPath) => TRASH_NAMES.test(realPath) || below.hides(realPath),
  };
}

/** Opens a directory for images in an allowed one, which only this user can change; undefined if it cannot be private. */
export function openTrash(path: string): WalkedDirectory | undefined {
  try {
    const isNew = lstatSync(path, { throwIfNoEntry: false }) === undefined;
    if (isNew) ensureDirectory(path, 0o700);
    const trash = ownDirectory(path);
    const { uid, mode } = lstatSync(trash.entry("."));
    const isPrivate =
      process.getuid === undefined || (uid === process.getuid() && (mode & 0o077) === 0);
    if (isPrivate && isNew) writeFileSync(trash.entry(".gitignore"), "*\n");
    if (isPrivate) return trash;
    trash.close();
  } catch (error) {
    if (errorCode(error) === undefined) throw error;
  }
  return undefined;
}
