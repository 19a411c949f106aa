import { existsSync, statSync } from "node:fs";
import { homedir } from "node:os";
import { resolve } from "node:path";
import { ToolError } from "../answer/errors.ts";
import { fileSystemKind, innermost, isSpecialPlace, realPathOf } from "./check.ts";
import { formsOf, isFileSystemRoot, isInsideByAnyName, keyOf, parsePath } from "./names.ts";
import { errorCode, isMissing, quote } from "./path-errors.ts";
import type { AllowedDirectories, AllowedDirectory, DirectorySource } from "./types.ts";

export interface ConfiguredDirectory {
  /** Absolute, relative to the working directory, with `~`, or a `file://` URI. */
  readonly path: string;
  readonly source: DirectorySource;
  /** Default true. */
  readonly writable?: boolean;
}

/** A directory or file that the client offers (MCP `roots/list`). */
export interface ClientRoot {
  readonly uri: string;
  readonly name?: string | undefined;
}

export interface DirectoryAllowlistOptions {
  readonly configured: readonly ConfiguredDirectory[];
  /**
   * How the client's roots affect the configured directories: they `narrow` them, `replace` them (as in the official
   * server, except that a client can never open `/`), or are ignored (`off`), even if no directory is configured.
   */
  readonly mode: "narrow" | "replace" | "off";
  /** The directory to use if none is configured and the client offers none. */
  readonly fallback?: string;
}

/** How long the state of the directories is cached; it is always checked again before a refusal. */
const REMEMBERED_MS = 1000;

/**
 * The directories that a server may access: those configured, narrowed by the client's roots.
 *
 * A configured directory may be a link, may be missing at first, and may disappear and return: it is looked up again
 * while the server runs. But if it leads elsewhere than when it was first given, it is disabled until the server is
 * restarted: otherwise whoever can replace it with a symlink could choose what is allowed.
 */
export class DirectoryAllowlist implements AllowedDirectories {
  readonly #configured: readonly AllowedDirectory[];
  readonly #mode: DirectoryAllowlistOptions["mode"];
  readonly #fallback: readonly AllowedDirectory[];
  readonly #listeners = new Set<() => void>();
  /** Where each path led when it was first given. */
  readonly #firstRealPaths = new Map<string, string>();
  #roots: readonly AllowedDirectory[] = [];
  #directories: readonly AllowedDirectory[] = [];
  #refreshedAt = Number.NEGATIVE_INFINITY;

  /** @throws ToolError `invalid` for a configured path that is not valid (empty, NUL, a URI with a host). */
  constructor({ configured, mode, fallback = "/" }: DirectoryAllowlistOptions) {
    this.#mode = mode;
    this.#configured = configured.map(({ path, source, writable = true }) =>
      this.#inspect({ path: absolute(path), source, writable }),
    );
    // Some hosts start their servers in "/", which the user did not choose.
    this.#fallback = isFileSystemRoot(fallback)
      ? []
      : [this.#inspect({ path: absolute(fallback), source: "working directory", writable: true })];
    this.refresh();
  }

  directories(): readonly AllowedDirectory[] {
    if (performance.now() - this.#refreshedAt > REMEMBERED_MS) this.refresh();
    return this.#directories;
  }

  onChange(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  refresh(): void {
    const before = JSON.stringify(this.#directories);
    this.#directories = this.#effectiveDirectories().directories;
    this.#refreshedAt = performance.now();
    if (JSON.stringify(this.#directories) === before) return;
    for (const listener of [...this.#listeners]) listener();
  }

  /**
   * Sets the client's current roots; undefined or empty for none.
   *
   * @returns sentences for the log: which roots were ignored, and why
   */
  setClientRoots(roots: readonly ClientRoot[] | undefined): string[] {
    const notes: string[] = [];
    this.#roots = (this.#mode === "off" ? [] : (roots ?? [])).flatMap(({ uri }) => {
      try {
        if (!/^file:\/\//i.test(uri))
          throw new ToolError("invalid", `${quote(uri)} is not a file URI.`);
        return this.#inspect({ path: absolute(uri), source: "client root", writable: true });
      } catch (error) {
        if (!(error instanceof ToolError)) throw error;
        notes.push(`The client's root is ignored: ${error.message}`);
        return [];
      }
    });
    const why = "it is outside the configured directories, or a whole file system";
    for (const { path } of this.#effectiveDirectories().ignored)
      notes.push(`The client's root ${quote(path)} is ignored: ${why}.`);
    this.refresh();
    return notes;
  }

  #effectiveDirectories() {
    const configured = distinct(this.#configured.map((directory) => this.#inspect(directory)));
    const roots = this.#roots.map((root) => this.#inspect(root));
    const replaces = this.#mode === "replace" || configured.length === 0;
    const { directories, ignored } = withRoots(configured, roots, replaces);
    if (directories.length > 0) return { directories, ignored };
    const fallback = this.#fallback.map((directory) => this.#inspect(directory));
    return { directories: configured.length > 0 ? configured : fallback, ignored };
  }

  #inspect({ path, source, writable }: Omit<AllowedDirectory, "realPath">): AllowedDirectory {
    const realPath = realPathOf(formsOf(path).find((form) => existsSync(form)) ?? path);
    const first = this.#firstRealPaths.get(path) ?? realPath;
    this.#firstRealPaths.set(path, first);
    const isMoved = keyOf(realPath) !== keyOf(first);
    const unavailable = isMoved
      ? "now leads elsewhere through a symlink; restart the server to accept it"
      : problemOf(realPath);
    const entry = { path, realPath: first, source, writable };
    return unavailable === undefined ? { ...entry, realPath } : { ...entry, unavailable };
  }
}

function absolute(text: string): string {
  return resolve(parsePath(text, { platform: process.platform, home: homedir }).path);
}

/** Why a directory cannot be used now; undefined if it can. */
function problemOf(realPath: string): string | undefined {
  if (isSpecialPlace(realPath) || fileSystemKind(realPath) === "special")
    return "contains devices or processes, not files, and is never allowed";
  // Node.js decodes every byte that is not UTF-8 to this character, so two such names would look the same.
  if (realPath.includes("\uFFFD")) return "has a name that is not valid UTF-8";
  try {
    return statSync(realPath).isDirectory() ? undefined : "is not a directory";
  } catch (error) {
    return isMissing(error) ? "does not exist" : `cannot be accessed (${errorCode(error)})`;
  }
}

/**
 * What the client's roots make of the configured directories. A root inside one replaces it, a root around some leaves
 * those unchanged, so nothing is added that was outside; or (`replaces`) each root counts itself, except a whole file
 * system that is not configured. Read-only directories stay read-only.
 */
export function withRoots(
  configured: readonly AllowedDirectory[],
  roots: readonly AllowedDirectory[],
  replaces: boolean,
): { directories: AllowedDirectory[]; ignored: AllowedDirectory[] } {
  const directories: AllowedDirectory[] = [];
  const ignored: AllowedDirectory[] = [];
  for (const root of roots) {
    const container = innermost(configured, root.realPath);
    const inner = configured.filter(({ realPath }) => isInsideByAnyName(realPath, root.realPath));
    const counts = container !== undefined || (replaces && !isFileSystemRoot(root.realPath));
    if (counts) directories.push({ ...root, writable: container?.writable ?? true });
    if (!counts && (replaces || inner.length === 0)) ignored.push(root);
    else directories.push(...inner.filter(({ writable }) => !replaces || !writable));
  }
  return { directories: distinct(directories), ignored };
}

/** The first of each real path, read-only if any of its duplicates is. */
function distinct(directories: readonly AllowedDirectory[]): AllowedDirectory[] {
  const byRealPath = new Map<string, AllowedDirectory>();
  for (const directory of directories) {
    const old = byRealPath.get(directory.realPath) ?? directory;
    byRealPath.set(old.realPath, { ...old, writable: old.writable && directory.writable });
  }
  return [...byRealPath.values()];
}
