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
  /** The same with every link resolved; if the directory does not exist now, its location as far as known. */
  readonly realPath: string;
  readonly source: DirectorySource;
  /** False if it was configured as read-only. */
  readonly writable: boolean;
  /** Why it cannot be used now, for example "does not exist"; absent if it can. Looked up again on use. */
  readonly unavailable?: string;
}

/** The allowed directories, which change with the client's roots. */
export interface Bound {
  directories(): readonly AllowedDirectory[];
  /** Calls back after each change of `directories()`; returns a function that stops it. */
  onChange(listener: () => void): () => void;
  /** Checks the disk again now; `directories()` caches what it saw for a moment. */
  refresh?(): void;
}

/** A regular file that was opened and then verified to lie inside the bound. Close the handle. */
export interface GuardedFile {
  readonly handle: ReadHandle;
  /** The absolute path as asked for, normalized. */
  readonly path: string;
  /** Where the opened file really is. */
  readonly realPath: string;
  readonly stat: Stats;
  readonly directory: AllowedDirectory;
}

/**
 * A directory that was opened and then verified to lie inside the bound. `entry(name)` names something in the
 * opened directory itself (through `/proc/self/fd` on Linux), so a swapped parent cannot lead elsewhere.
 * Elsewhere it is a path below `realPath`, and `verify()` after use tells whether the directory was still there.
 * Close it; what `entry` gave is good only until then, and only in this process.
 */
export interface GuardedDirectory {
  readonly path: string;
  readonly realPath: string;
  readonly stat: Stats;
  readonly directory: AllowedDirectory;
  /** A path for fs calls on the entry `name` (one component) of the opened directory; "" names the directory itself. */
  entry(name: string): string;
  /**
   * Throws `conflict` if the directory was swapped since it was opened. Nothing to do on Linux: `entry`
   * cannot be redirected.
   */
  verify(): Promise<void>;
  close(): Promise<void>;
}

/** A location inside the bound that need not exist: an opened parent and a name in it. Close the parent. */
export interface GuardedPlace {
  readonly parent: GuardedDirectory;
  readonly name: string;
  /** The absolute path as asked for, normalized. */
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
  /** Whether the target, resolved, is inside the bound; false also if it is broken. */
  readonly inside: boolean;
}

export interface WriteOptions {
  /** `overwrite` (default) replaces or creates; `create` fails with `conflict` if something is there. */
  mode?: "overwrite" | "create";
  /**
   * Called with the present content's handle (undefined if there is none) right before the replacement;
   * throw to refuse.
   */
  check?(existing: GuardedFile | undefined): Promise<void>;
}

/**
 * The only way from a path in an argument to something on the disk. Every method throws `ToolError`: `invalid` (NUL
 * byte, reserved name, too long, `is_directory`, `not_directory`), `denied` (`outside`, `read_only`, `special_file`:
 * device, FIFO, socket, /proc), `not_found`, `conflict`, `unavailable` (`directory_unavailable`: an allowed directory is
 * not there now; no space left). The words with an underscore, and `outside`, are `code`s.
 */
export interface PathGuard {
  readonly bound: Bound;
  /**
   * Text from an argument → absolute normalized path that is lexically inside the bound. Relative paths are
   * taken below the directories in their order (the first in which it exists, else the first).
   * `~` and `file://` URIs are understood, other names of an allowed directory translated. Nothing on the disk is
   * opened.
   */
  resolve(path: string): Promise<string>;
  /** Links that stay inside are followed. A name is also found in its other Unicode form (NFC, NFD). */
  openFile(path: string): Promise<GuardedFile>;
  openDirectory(path: string): Promise<GuardedDirectory>;
  /**
   * A place for creating, replacing, moving or deleting: the parent is opened and verified, the last component is not
   * followed. `write` refuses read-only directories (`read_only`), and places that are or hold an allowed directory
   * (`allowed_directory`), since moving or deleting one would change what is allowed.
   */
  place(path: string, options?: { write?: boolean }): Promise<GuardedPlace>;
  readLink(path: string): Promise<LinkTarget>;
  /**
   * Whether an absolute real path is inside the bound now (for watch events and walks), by its text alone.
   */
  contains(realPath: string): boolean;
  /**
   * Writes a whole file, atomically: a temporary file in the same directory, fsync, rename. Mode and ownership of an
   * existing file are kept; it becomes a new inode, so that a hard link elsewhere keeps the old content. A link that
   * stays inside is written through, a dangling one too; one that leads outside is `denied`. A failure leaves nothing
   * behind. Writers of this guard take turns from before `check` until after the replacement.
   *
   * @returns `path`: where the content is now, which is the link's target if it was written through
   */
  writeFile(
    path: string,
    content: Uint8Array,
    options?: WriteOptions,
  ): Promise<{ created: boolean; path: string }>;
  /** Creates the directory and its missing parents; returns those created, outermost first (none: it was there). */
  createDirectory(path: string): Promise<string[]>;
  /**
   * Atomic within one file system; across two, a copy that is renamed when complete, then the source is
   * removed. A link is moved as a link, its text unchanged. Without `overwrite` an existing target is a
   * `conflict`, decided by the file system; with it a file replaces a file or link, a directory an empty
   * directory. An allowed directory, and what holds one, stays where it is (`denied`, `allowed_directory`).
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
  /** Serializes writers of one file in this process; the key is its real path. */
  readonly writing: KeyedLock;
}

/** What identifies a file whatever its path: numbers of a `bigint` stat, since inodes may pass 2^53. */
export interface Identity {
  readonly dev: bigint;
  readonly ino: bigint;
}

export function isSame(a: Identity, b: Identity): boolean {
  return a.dev === b.dev && a.ino === b.ino;
}
