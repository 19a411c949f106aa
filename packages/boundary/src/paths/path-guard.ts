import { lstat, readlink, realpath, stat } from "node:fs/promises";
import { homedir } from "node:os";
import { dirname, join, relative, resolve } from "node:path";
import { ToolError } from "../answer/errors.ts";
import { writeFileAt } from "./atomic-write.ts";
import { explain } from "./explain.ts";
import { keyedLock } from "./keyed-lock.ts";
import {
  innermostByText,
  isAvailable,
  isSpecialPlace,
  membershipOf,
  unavailableAround,
} from "./membership.ts";
import { moveEntry } from "./move.ts";
import type { GuardContext } from "./open.ts";
import { hasProc, procOpener } from "./open.ts";
import { portableOpener } from "./opener-portable.ts";
import { type Platform, parsePath, type TextRules } from "./path-text.ts";
import { makeDirectories, openDirectoryAt, openFileAt, openPlace } from "./places.ts";
import { reach } from "./reach.ts";
import { gone, outside, specialPlace } from "./refusals.ts";
import { quote } from "./system-error.ts";
import type { CopyTreeOptions, Inventory, Spot } from "./tree.ts";
import { copyTree, removeTree } from "./tree.ts";
import type { GuardedDirectory, GuardedFile, GuardedPlace, LinkTarget, WriteOptions } from "./types.ts";
import { type AllowedDirectory, type Bound, type Identity, isSame } from "./types.ts";

/**
 * The only way from a path in an argument to the disk. Every method throws `ToolError`: `invalid` (NUL
 * byte, reserved name, too long, `is_directory`, `not_directory`), `denied` (`outside`, `read_only`, `special_file`:
 * device, FIFO, socket, /proc), `not_found`, `conflict`, `unavailable` (`directory_unavailable`: an allowed directory
 * does not exist now; no space left). The words with an underscore, and `outside`, are `code`s.
 */
export interface PathGuard {
  readonly bound: Bound;
  /**
   * Converts text from an argument to an absolute, normalized path that is lexically inside the bound. A relative path
   * is resolved in the first directory in which it exists, or else in the first one. Supports `~` and `file://` URIs,
   * and translates other names of an allowed directory. Opens nothing.
   */
  resolve(path: string): Promise<string>;
  /** Follows links that stay inside. Also finds a name in its other Unicode form (NFC, NFD). */
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
   * Whether an absolute real path is inside the bound now, by its text alone (for watch events and walks).
   */
  contains(realPath: string): boolean;
  /**
   * Writes a whole file atomically: a temporary file in the same directory, fsync, rename. Keeps the mode and owner of
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
  /** Creates the directory and any missing parents; returns the created ones, outermost first. */
  createDirectory(path: string): Promise<string[]>;
  /**
   * Moves atomically within one file system; across two, with a copy that is renamed when complete, after which the
   * source is removed. A link is moved as a link, with its text unchanged. Without `overwrite`, an existing target is a
   * `conflict`, decided by the file system; with it, a file replaces a file or link, and a directory an empty
   * directory. Allowed directories and their ancestors cannot be moved (`denied`, `allowed_directory`).
   */
  move(from: string, to: string, options?: { overwrite?: boolean }): Promise<void>;
  /** See `copyTree` of tree.ts. Either side may be in a directory of `ownDirectory`. */
  copyTree(from: Spot | GuardedDirectory, to: Spot, options?: CopyTreeOptions): Promise<Inventory>;
  /** Removes an entry with everything below it; links are removed, never followed. */
  removeTree(spot: Spot): Promise<void>;
}

/** How a guard verifies what it opened: by the kernel's own path (Linux), or by comparing before and after. */
export type Verification = "proc" | "portable";

const platform: Platform = process.platform;
const rules: TextRules = { platform, home: homedir };

/**
 * Creates the guard of a bound.
 *
 * @param verification default: the strongest that this system supports
 */
export function createPathGuard(bound: Bound, verification?: Verification): PathGuard {
  const membership = membershipOf(bound, platform);
  const by = verification ?? (hasProc() ? "proc" : "portable");
  const opener = by === "proc" ? procOpener(bound, membership) : portableOpener(bound, membership);
  const context: GuardContext = { bound, membership, opener, platform, writing: keyedLock() };
  const resolve = (path: string): Promise<string> => locateText(path, bound);

  return {
    bound,
    resolve,
    contains: (realPath) => membership.around(realPath) !== undefined,
    openFile: async (path) => openFileAt(await resolve(path), context),
    openDirectory: async (path) => openDirectoryAt(await resolve(path), context),
    place: async (path, options) => openPlace(await resolve(path), context, options),
    writeFile: async (path, content, options = {}) =>
      writeFileAt(await resolve(path), content, options, context),
    move: async (from, to, options = {}) =>
      moveEntry(await resolve(from), await resolve(to), options, context),

    copyTree: (from, to, options) => copyTree(from, to, opener, options),
    removeTree: (spot) => removeTree(spot, opener),

    createDirectory: async (path) => makeDirectories(await resolve(path), context),

    async readLink(path) {
      const absolute = await resolve(path);
      const place = await openPlace(absolute, context);
      try {
        if (place.stat !== undefined && !place.stat.isSymbolicLink()) {
          throw new ToolError("invalid", `${quote(absolute)} is not a symlink.`, {
            code: "not_link",
            hint: "Read it as a file or list it as a directory.",
          });
        }
        const target = await readlink(place.entry);
        const { real, missing } = await reach(absolute);
        return { target, inside: missing.length === 0 && membership.surelyAround(real) !== undefined };
      } catch (error) {
        throw await explain(error, absolute, context);
      } finally {
        await place.parent.close();
      }
    },
  };
}

/**
 * Converts the text of an argument to an absolute, normalized path that is, judging by its text, inside an allowed
 * directory. Its target is known only when it is opened.
 *
 * A relative path is resolved against the first directory in which it exists, or else the first one.
 *
 * @throws ToolError `invalid`, `denied` (outside), `unavailable` (the allowed directory does not exist)
 */
async function locateText(text: string, bound: Bound): Promise<string> {
  const parsed = parsePath(text, rules);
  const path = parsed.absolute ? parsed.path : await belowDirectories(parsed.path, bound);
  if (path === undefined) throw outside(text, bound);
  if (innermostByText(path, bound, isAvailable) !== undefined) return plain(path, text);

  bound.refresh?.();
  if (innermostByText(path, bound, isAvailable) !== undefined) return plain(path, text);
  const missing = unavailableAround(path, bound);
  if (missing !== undefined) throw gone(text, missing);
  const other = await otherName(path, bound);
  if (other === undefined) throw outside(text, bound);
  return plain(other, text);
}

function plain(path: string, text: string): string {
  if (isSpecialPlace(path, platform)) throw specialPlace(text);
  return path;
}

/** Undefined if it would be outside. */
async function belowDirectories(path: string, bound: Bound): Promise<string | undefined> {
  const candidates = bound.directories().map((directory) => resolve(directory.path, path));
  const inside = candidates.filter((candidate) => innermostByText(candidate, bound) !== undefined);
  if (candidates.length > 1) {
    for (const candidate of inside) {
      if (await isThere(candidate, bound)) return candidate;
    }
  }
  return inside.find((candidate) => candidate === candidates[0]);
}

/** A link that leads out of the bound does not count: the choice of directory would reveal its target. */
async function isThere(path: string, bound: Bound): Promise<boolean> {
  try {
    if (innermostByText(await realpath(dirname(path)), bound) === undefined) return false;
    await lstat(path);
    return true;
  } catch {
    return false;
  }
}

/**
 * Translates an absolute path that refers to an allowed directory by another name: through a link above it (macOS's
 * `/tmp`), in another case or Unicode form, or as a Windows short name. Its ancestors are compared by device and inode;
 * the result is below the directory as configured.
 *
 * Network shares are not accessed: connecting to an arbitrary server would send it the user's credentials.
 */
async function otherName(path: string, bound: Bound): Promise<string | undefined> {
  if (path.startsWith("\\\\")) return undefined;
  const known: { directory: AllowedDirectory; identity: Identity }[] = [];
  for (const directory of bound.directories()) {
    const identity = directory.unavailable === undefined ? await identify(directory.realPath) : undefined;
    if (identity !== undefined) known.push({ directory, identity });
  }
  for (let at = path; known.length > 0; at = dirname(at)) {
    const identity = await identify(at);
    const match = known.find((one) => identity !== undefined && isSame(one.identity, identity));
    if (match !== undefined) return join(match.directory.realPath, relative(at, path));
    if (dirname(at) === at) return undefined;
  }
  return undefined;
}

function identify(path: string): Promise<Identity | undefined> {
  return stat(path, { bigint: true }).catch(() => undefined);
}
