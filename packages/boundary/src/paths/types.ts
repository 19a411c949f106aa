import type { Stats } from "node:fs";
import type { KeyedLock } from "./keyed-lock.ts";
import type { Membership } from "./membership.ts";
import type { Opener } from "./opener.ts";
import type { Platform } from "./platform.ts";
import type { ReadHandle } from "./read-handle.ts";
import type { CopyTreeOptions, Inventory, Spot } from "./tree.ts";

/** Where an allowed directory came from. */
export type DirectorySource = "argument" | "environment" | "client root" | "working directory";

/** A directory that the server may access. */
export interface AllowedDirectory {
  /** Absolute and normalized, as the user wrote it (links not resolved). */
  readonly path: string;
  /** The same with every link resolved; if the directory does not exist now, as far as its location is known. */
  readonly realPath: string;
  readonly source: DirectorySource;
  /** False if it was configured as read-only. */
  readonly writable: boolean;
  /** Why it cannot be used now, for example "does not exist"; absent if it can. Checked again on use. */
  readonly unavailable?: string;
}

/** The allowed directories, which change with the client's roots. */
export interface Bound {
  directories(): readonly AllowedDirectory[];
  /** Calls `listener` after each change of `directories()`; returns a function that removes it. */
  onChange(listener: () => void): () => void;
  /** Checks the disk again now; `directories()` briefly caches its result. */
  refresh?(): void;
}

/** A regular file that was opened and then verified to be inside the bound. Close the handle. */
export interface GuardedFile {
  readonly handle: ReadHandle;
  /** The requested absolute path, normalized. */
  readonly path: string;
  /** Where the opened file really is. */
  readonly realPath: string;
  readonly stat: Stats;
  readonly directory: AllowedDirectory;
}

/**
 * A directory that was opened and then verified to be inside the bound. On Linux, `entry(name)` refers to an entry of
 * the opened directory itself (through `/proc/self/fd`), so swapping a parent has no effect. On other systems it is a
 * path below `realPath`, and `verify()` after use checks that the directory was not swapped. Close it; paths from
 * `entry` are valid only until then, and only in this process.
 */
export interface GuardedDirectory {
  readonly path: string;
  readonly realPath: string;
  readonly stat: Stats;
  readonly directory: AllowedDirectory;
  /** A path for fs calls on the entry `name` (one component) of the opened directory; "" names the directory itself. */
  entry(name: string): string;
  /**
   * Throws `conflict` if the directory was swapped since it was opened. Does nothing on Linux, where `entry` cannot be
   * redirected.
   */
  verify(): Promise<void>;
  close(): Promise<void>;
}

/** A path inside the bound that may not exist yet: an opened parent and a name in it. Close the parent. */
export interface GuardedPlace {
  readonly parent: GuardedDirectory;
  readonly name: string;
  /** The requested absolute path, normalized. */
  readonly path: string;
  /** `parent.entry(name)`. */
  readonly entry: string;
  /** lstat of the entry (a link is not followed), or undefined if nothing is there. */
  readonly stat: Stats | undefined;
}

/** The target of a symlink, without following it out of the bound. */
export interface LinkTarget {
  /** The link's own text. */
  readonly target: string;
  /** Whether the resolved target is inside the bound; also false for a broken link. */
  readonly inside: boolean;
}

export interface WriteOptions {
  /** `overwrite` (default) replaces or creates; `create` fails with `conflict` if something is there. */
  mode?: "overwrite" | "create";
  /**
   * Called with a handle of the current content (undefined if there is none) right before it is replaced; throw to
   * refuse.
   */
  check?(existing: GuardedFile | undefined): Promise<void>;
}

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

/** Shared by the guard's operations. */
export interface GuardContext {
  readonly bound: Bound;
  readonly membership: Membership;
  readonly opener: Opener;
  readonly platform: Platform;
  /** Serializes the writers of a file in this process; the key is its real path. */
  readonly writing: KeyedLock;
}

/** Identifies a file independently of its path: numbers of a `bigint` stat, since inodes may exceed 2^53. */
export interface Identity {
  readonly dev: bigint;
  readonly ino: bigint;
}

export function isSame(a: Identity, b: Identity): boolean {
  return a.dev === b.dev && a.ino === b.ino;
}
