import type { Stats } from "node:fs";
import type { FileHandle } from "node:fs/promises";
import { Line } from "../line.ts";
import { type WalkedDirectory, walkedDirectory } from "./below.ts";
import { directoryAround, locate, realPathOf } from "./check.ts";
import { entryExists, explain, makeDirectories, openEntry, readLinkAt } from "./entries.ts";
import { moveEntry } from "./move.ts";
import { within } from "./names.ts";
import { hasProc, openerOf, type Verification } from "./open.ts";
import type {
  AllowedDirectories,
  GuardContext,
  GuardedDirectory,
  GuardedFile,
  GuardedPlace,
  HiddenPlaces,
  LinkTarget,
  WriteOptions,
} from "./types.ts";
import { updateFileAt, writeFileAt } from "./write.ts";

/**
 * The only way from a path in an argument to the disk. Every method throws `ToolError`: `invalid` (NUL
 * byte, reserved name, too long, `is_directory`, `not_directory`), `denied` (`outside`, `read_only`, `special_file`:
 * device, FIFO, socket, /proc), `not_found`, `conflict`, `unavailable` (`directory_unavailable`: an allowed directory
 * does not exist now; no space left). The words with an underscore, and `outside`, are `code`s.
 */
export interface PathGuard {
  readonly allowed: AllowedDirectories;
  /**
   * The same for paths that `resolve` returned: looks up no name in its other Unicode form, since on Linux a directory may
   * contain both.
   */
  exact(): PathGuard;
  /**
   * Converts text from an argument to an absolute, normalized path that is lexically inside an allowed directory. A relative path
   * is resolved in the first directory in which it exists, or else in the first one. Supports `~` and `file://` URIs,
   * translates other names of an allowed directory, and finds a name in its other Unicode form (NFC, NFD).
   */
  resolve(path: string): Promise<string>;
  /**
   * Whether something is at a path; a link counts itself. Unlike an error about a missing path, it looks for no similar
   * names, so it costs little.
   */
  exists(path: string): Promise<boolean>;
  /** Follows links that stay inside. */
  openFile(path: string): Promise<GuardedFile>;
  openDirectory(path: string): Promise<GuardedDirectory>;
  /**
   * A path to create, replace, move or delete: the parent is opened and verified, the last component is not followed.
   * `write` refuses read-only directories (`read_only`), and paths that are or contain an allowed directory
   * (`allowed_directory`), since moving or deleting one would change what is allowed.
   */
  place(path: string, options?: { write?: boolean }): Promise<GuardedPlace>;
  readLink(path: string): Promise<LinkTarget>;
  /**
   * Whether an absolute real path is in an allowed directory now, by its text alone (for watch events and walks).
   */
  contains(realPath: string): boolean;
  /**
   * Writes a whole file atomically: a temporary file in the same directory, fsync, rename. After a power failure it has
   * its old or its new content. Keeps the mode and owner of
   * an existing file; it becomes a new inode, so a hard link elsewhere keeps the old content. Writes through a link
   * that stays inside, even a dangling one; a link that leads outside is `denied`. A failure leaves nothing behind.
   * Writers of this guard are serialized from before `check` until after the replacement.
   *
   * @returns `path`: where the content is now; the target of a link that was written through
   */
  writeFile(
    path: string,
    content: Uint8Array,
    options?: WriteOptions,
  ): Promise<{ created: boolean; path: string }>;
  /**
   * Runs `work` with an existing file, open to append to it or to truncate it in place. Its writes go to the end of the
   * file, at any position.
   */
  updateFile<Result>(
    path: string,
    work: (handle: FileHandle, stat: Stats) => Promise<Result>,
  ): Promise<Result>;
  /** Creates the directory and any missing parents; returns the created ones, outermost first. */
  createDirectory(path: string): Promise<string[]>;
  /**
   * Moves atomically within one file system; across two, with a copy that is renamed when complete, after which the
   * source is removed. A link is moved as a link, with its text unchanged. An existing target is a `conflict`, decided by
   * the file system. Allowed directories and their ancestors cannot be moved (`denied`, `allowed_directory`).
   *
   * @param check called with a path for fs calls on the source before anything is changed; throw to refuse
   */
  move(from: string, to: string, check?: (entry: string) => void): Promise<void>;
  /** The directory for a walk, or to copy or remove something in it with `copyTree` and `removeTree`. */
  walk(directory: GuardedDirectory): WalkedDirectory;
}

/** Hides files and directories, which need not exist, and everything below them, from all tools. */
export function hiddenAt(places: readonly string[]): HiddenPlaces {
  const paths = [...new Set(places.flatMap((path) => [path, realPathOf(path)]))];
  // Called for every entry of every walk.
  return { paths, hides: (realPath) => paths.some((path) => within(realPath, path)) };
}

/** The same allowed directories without places that a guard must never access. */
export function withHidden(allowed: AllowedDirectories, hidden: HiddenPlaces): AllowedDirectories {
  return {
    directories: () => allowed.directories(),
    onChange: (listener) => allowed.onChange(listener),
    refresh: () => allowed.refresh?.(),
    hidden,
  };
}

/**
 * Creates the guard of the allowed directories, without their `hidden` places.
 *
 * @param verification default: the strongest that this system supports
 */
export function createPathGuard(
  allowed: AllowedDirectories,
  verification: Verification = hasProc() ? "proc" : "portable",
): PathGuard {
  const opener = openerOf(allowed, verification);
  return guardOf({ allowed, opener, writers: new Line() }, false);
}

function guardOf(context: GuardContext, isExact: boolean): PathGuard {
  const { allowed, opener } = context;
  const resolve = (path: string) => locate(path, allowed, isExact);
  /** Runs `work` with the absolute path; its errors are explained. */
  async function at<Result>(path: string, work: (path: string) => Promise<Result>) {
    const target = await resolve(path);
    try {
      return await work(target);
    } catch (error) {
      throw await explain(error, target, context);
    }
  }
  return {
    allowed,
    exact: () => guardOf(context, true),
    resolve,
    contains: (realPath) => directoryAround(realPath, allowed) !== undefined,
    exists: (path) => at(path, (target) => entryExists(target, context)),
    openFile: (path) => at(path, (target) => opener.openFile(target, target)),
    openDirectory: (path) => at(path, (target) => opener.openDirectory(target, target)),
    place: (path, options) => at(path, (target) => openEntry(target, context, options)),
    writeFile: (path, content, options = {}) =>
      at(path, (target) => writeFileAt(target, content, options, context)),
    updateFile: (path, work) => at(path, (target) => updateFileAt(target, work, context)),
    createDirectory: (path) => at(path, (target) => makeDirectories(target, context)),
    move: (from, to, check) =>
      at(from, async (located) => moveEntry(located, await resolve(to), context, check)),
    walk: (directory) => walkedDirectory(directory, allowed),
    readLink: (path) => at(path, (target) => readLinkAt(target, context)),
  };
}
