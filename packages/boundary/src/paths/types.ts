import type { BigIntStats, ReadStream, Stats } from "node:fs";
import type { Line } from "../line.ts";

export type DirectorySource = "argument" | "environment" | "client root" | "working directory";

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
export interface AllowedDirectories {
  directories(): readonly AllowedDirectory[];
  /** Calls `listener` after each change of `directories()`; returns a function that removes it. */
  onChange(listener: () => void): () => void;
  /** Checks the disk again now; `directories()` briefly caches its result. */
  refresh?(): void;
  /** Places inside that are never accessed, such as a server's own journal and trash. */
  readonly hidden?: HiddenPlaces;
}

export interface HiddenPlaces {
  /** Absolute real paths, which cannot be moved or deleted with a directory around them either. */
  readonly paths: readonly string[];
  /** Whether an absolute real path is one of these places or in one. */
  hides(realPath: string): boolean;
}

/** Operations on a file opened for reading: the methods of `FileHandle` that `LocalFile` also has. */
export interface ReadHandle {
  /** -1 once it is closed. */
  readonly fd: number;
  read(
    buffer: Uint8Array,
    offset: number,
    length: number,
    position: number,
  ): Promise<{ bytesRead: number }>;
  readFile(): Promise<Buffer>;
  stat(options: { bigint: true }): Promise<BigIntStats>;
  createReadStream(options: { start: number; autoClose: false }): ReadStream;
  close(): Promise<void>;
}

/** What was opened and then verified to be in an allowed directory. */
interface GuardedEntry {
  /** The requested absolute path, normalized. */
  readonly path: string;
  readonly realPath: string;
  readonly stat: Stats;
  readonly directory: AllowedDirectory;
}

/** A verified regular file. Close the handle. */
export interface GuardedFile extends GuardedEntry {
  readonly handle: ReadHandle;
}

/**
 * A verified directory. On Linux, `entry(name)` refers to an entry of the opened directory itself (through
 * `/proc/self/fd`), so swapping a parent has no effect. On other systems it is a path below `realPath`, and `verify()`
 * after use checks that the directory was not swapped. Close it; paths from `entry` are valid only until then, and only
 * in this process.
 */
export interface GuardedDirectory extends GuardedEntry {
  /** Whether calls on its entries wait for no network and no other program, so that they can be synchronous. */
  readonly isLocal: boolean;
  /** A path for fs calls on the entry `name` (one component) of the opened directory; "" names the directory itself. */
  entry(name: string): string;
  /**
   * Throws `conflict` if the directory was swapped since it was opened. Does nothing on Linux, where `entry` cannot be
   * redirected.
   */
  verify(): Promise<void>;
  close(): Promise<void>;
}

/** An entry of a verified directory, which may not exist. Close the parent. */
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

/** The target of a symlink, without following it out of the allowed directories. */
export interface LinkTarget {
  readonly target: string;
  /** Whether the resolved target is in an allowed directory; also false for a broken link. */
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
 * Opens the target of a path, following links, and verifies its location before anything is read. `path` is for the
 * system, `asked` for messages and the result.
 *
 * Both throw `denied` (outside, device, FIFO, socket), `invalid` (a directory instead of a file, or vice versa), and
 * errors of the operating system unchanged.
 */
export interface Opener {
  readonly openFile: (path: string, requestedPath: string) => Promise<GuardedFile>;
  readonly openDirectory: (path: string, requestedPath: string) => Promise<GuardedDirectory>;
}

export interface GuardContext {
  readonly allowed: AllowedDirectories;
  readonly opener: Opener;
  /** Serializes the writers of a file in this process; the key is its real path. */
  readonly writers: Line;
}

/** Identifies a file independently of its path: numbers of a `bigint` stat, since inodes may exceed 2^53. */
export interface Identity {
  readonly dev: bigint;
  readonly ino: bigint;
}

export function isSame(a: Identity, b: Identity): boolean {
  return a.dev === b.dev && a.ino === b.ino;
}
