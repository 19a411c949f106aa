import { readlinkSync, realpathSync, statSync } from "node:fs";
import { homedir } from "node:os";
import { dirname, isAbsolute, join, parse, resolve, sep } from "node:path";
import { ToolError } from "../answer/errors.ts";
import { fileSystemKind, innermost, isSpecialPlace } from "./check.ts";
import { realPathOf } from "./existing.ts";
import { isFileSystemRoot, isInside, type Platform } from "./names.ts";
import { errorCode, listed, quote } from "./path-errors.ts";
import { parsePath } from "./resolve.ts";
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
 * while the server runs. Links that were on its path from the start may change. But if its target changes because a
 * directory was replaced by a symlink, or because of a link inside an allowed directory, it is disabled until the
 * server is restarted: otherwise whoever can write there could choose what is allowed.
 */
export class DirectoryAllowlist implements AllowedDirectories {
  readonly #configured: readonly AllowedDirectory[];
  readonly #mode: DirectoryAllowlistOptions["mode"];
  readonly #fallback: readonly AllowedDirectory[];
  readonly #listeners = new Set<() => void>();
  /** The target of each path when it first existed, and the links on the way. */
  readonly #trusted = new Map<string, { realPath: string; links: ReadonlySet<string> }>();
  #roots: readonly AllowedDirectory[] = [];
  #directories: readonly AllowedDirectory[] = [];
  #seenAt = Number.NEGATIVE_INFINITY;

  /** @throws ToolError `invalid` for a configured path that is not valid (empty, NUL, a URI with a host). */
  constructor(options: DirectoryAllowlistOptions) {
    this.#mode = options.mode;
    this.#configured = options.configured.map((one) =>
      this.#introduce(absolute(one.path), one.source, one.writable ?? true),
    );
    const fallback = options.fallback === undefined ? undefined : absolute(options.fallback);
    // Some hosts start their servers in "/", which the user did not choose.
    this.#fallback =
      fallback === undefined || isFileSystemRoot(fallback)
        ? []
        : [this.#introduce(fallback, "working directory", true)];
    this.refresh();
  }

  directories(): readonly AllowedDirectory[] {
    if (performance.now() - this.#seenAt > REMEMBERED_MS) this.refresh();
    return this.#directories;
  }

  onChange(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => {
      this.#listeners.delete(listener);
    };
  }

  refresh(): void {
    const before = JSON.stringify(this.#directories);
    this.#directories = this.#apply().directories;
    this.#seenAt = performance.now();
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
    const offered: AllowedDirectory[] = [];
    if (this.#mode !== "off") {
      for (const { uri } of roots ?? []) {
        const path = pathOfRoot(uri, notes);
        if (path !== undefined) offered.push(this.#introduce(path, "client root", true));
      }
    }
    this.#roots = offered;
    const { ignored, why, directories } = this.#apply();
    notes.push(
      ...ignored.map((root) => `The client's root ${quote(root.path)} is ignored: ${why}.`),
    );
    if (ignored.length > 0 && ignored.length === offered.length && this.#configured.length > 0) {
      const paths = listed(directories.map((directory) => quote(directory.path)));
      notes.push(
        `None of the client's roots can be used, so the configured directories remain: ${paths}.`,
      );
    }
    this.refresh();
    return notes;
  }

  #apply(): Applied {
    const configured = withoutDuplicates(this.#configured.map((one) => this.#lookAgain(one)));
    const roots = this.#roots.map((one) => this.#lookAgain(one));
    const applied =
      this.#mode === "narrow" && configured.length > 0
        ? narrow(configured, roots)
        : replace(configured, roots);
    if (applied.directories.length > 0) return applied;
    const instead =
      configured.length > 0 ? configured : this.#fallback.map((one) => this.#lookAgain(one));
    return { ...applied, directories: instead };
  }

  /** A path that the user or the client has just given; they mean its current target. */
  #introduce(path: string, source: DirectorySource, writable: boolean): AllowedDirectory {
    const found = lookUp(path);
    if (found.unavailable === undefined && !this.#trusted.has(path))
      this.#trust(path, found.realPath);
    return { path, source, writable, ...found };
  }

  #lookAgain({ path, source, writable }: AllowedDirectory): AllowedDirectory {
    return { path, source, writable, ...this.#confirm(path, lookUp(path)) };
  }

  #trust(path: string, realPath: string): void {
    this.#trusted.set(path, { realPath, links: new Set(linksOnTheWay(path)) });
  }

  #confirm(path: string, found: RealDirectory): RealDirectory {
    const trusted = this.#trusted.get(path);
    if (found.unavailable !== undefined || found.realPath === trusted?.realPath) return found;
    const allowed = [...this.#configured, ...this.#directories];
    const isChosenInside = (link: string) =>
      allowed.some((directory) => isInside(dirname(link), directory.realPath));
    for (const link of linksOnTheWay(path)) {
      const isNew = trusted !== undefined && !trusted.links.has(link);
      if (!isNew && !isChosenInside(link)) continue;
      const change = isNew
        ? "was replaced by a symlink"
        : "was changed by a symlink inside an allowed directory";
      const unavailable = `${change}; restart the server to accept it`;
      return { realPath: trusted?.realPath ?? path, unavailable };
    }
    this.#trust(path, found.realPath);
    return found;
  }
}

function absolute(text: string): string {
  return resolve(parsePath(text, { platform: process.platform, home: homedir }).path);
}

function pathOfRoot(uri: string, notes: string[]): string | undefined {
  if (!/^file:\/\//i.test(uri)) {
    notes.push(`The client's root ${quote(uri)} is ignored: only file:// URIs name directories.`);
    return undefined;
  }
  try {
    return absolute(uri);
  } catch (error) {
    if (!(error instanceof ToolError)) throw error;
    notes.push(`The client's root is ignored. ${error.message}`);
    return undefined;
  }
}

type RealDirectory = Pick<AllowedDirectory, "realPath" | "unavailable">;

/**
 * Resolves all links of an absolute path; for a missing directory, those of its nearest existing ancestor. Also finds a
 * name that is stored in the other Unicode form (NFC, NFD).
 */
function lookUp(path: string): RealDirectory {
  let failure: unknown;
  for (const candidate of new Set([path, path.normalize("NFC"), path.normalize("NFD")])) {
    try {
      const realPath = realpathSync.native(candidate);
      if (isSpecialPlace(realPath) || fileSystemKind(realPath) === "special") {
        return {
          realPath,
          unavailable: "contains devices or processes, not files, and is never allowed",
        };
      }
      if (realPath.includes("\uFFFD")) {
        // Node.js decodes every byte that is not UTF-8 to this character, so two such names would look the same.
        return { realPath, unavailable: "has a name that is not valid UTF-8" };
      }
      return statSync(realPath).isDirectory()
        ? { realPath }
        : { realPath, unavailable: "is not a directory" };
    } catch (error) {
      failure ??= error;
    }
  }
  return { realPath: realPathOf(path), unavailable: reason(failure) };
}

function reason(error: unknown): string {
  const code = errorCode(error);
  if (code === "ENOENT" || code === "ENOTDIR") return "does not exist";
  if (code === "EACCES" || code === "EPERM") return "cannot be accessed: permission denied";
  if (code === "ELOOP") return "is a loop of symlinks";
  return `cannot be accessed (${code ?? "unknown error"})`;
}

/**
 * The real paths of the links that are followed on the way to `path`, in order; at most 40, as on Linux. Whoever can
 * write there decides where `path` leads.
 */
function linksOnTheWay(path: string): string[] {
  const links: string[] = [];
  let at = parse(path).root;
  let rest = path.slice(at.length).split(separator);
  while (rest.length > 0 && links.length < 40) {
    const [name = "", ...others] = rest;
    rest = others;
    if (name === "..") at = dirname(at);
    if (name === "" || name === "." || name === "..") continue;
    const next = join(at, name);
    const target = targetOf(next);
    if (target === undefined) {
      at = next;
      continue;
    }
    links.push(next);
    if (isAbsolute(target)) at = parse(target).root;
    rest = [...target.slice(parse(target).root.length).split(separator), ...rest];
  }
  return links;
}

const separator = sep === "\\" ? /[\\/]/ : "/";

function targetOf(path: string): string | undefined {
  try {
    return readlinkSync(path);
  } catch {
    // Not a link, or missing.
    return undefined;
  }
}

/** How the client's roots combine with configured directories. */
export interface Applied {
  readonly directories: AllowedDirectory[];
  readonly ignored: AllowedDirectory[];
  /** Ignored roots, and why. */
  readonly why: string;
}

/**
 * The part of `configured` that the client's `roots` cover: a root inside a configured directory replaces it,
 * a root around one leaves it unchanged. The result never contains anything that was outside before, and read-only
 * directories stay read-only.
 */
export function narrow(
  configured: readonly AllowedDirectory[],
  roots: readonly AllowedDirectory[],
  platform: Platform = process.platform,
): Applied {
  const inside = (path: string, directory: string) => isInside(path, directory, platform);
  const directories: AllowedDirectory[] = [];
  const ignored: AllowedDirectory[] = [];
  for (const root of roots) {
    const around = innermost(configured, root.realPath, inside);
    const within = configured.filter((one) => inside(one.realPath, root.realPath));
    if (around === undefined && within.length === 0) ignored.push(root);
    if (around !== undefined && around.realPath !== root.realPath) {
      directories.push({ ...root, writable: around.writable });
    }
    directories.push(...within);
  }
  const why = "it is outside the configured directories";
  return { directories: withoutDuplicates(directories), ignored, why };
}

/**
 * The client's `roots` instead of `configured`, as in the official server, with two exceptions: a whole file system is
 * accepted only if one is configured, and directories configured as read-only stay read-only.
 */
export function replace(
  configured: readonly AllowedDirectory[],
  roots: readonly AllowedDirectory[],
  platform: Platform = process.platform,
): Applied {
  const inside = (path: string, directory: string) => isInside(path, directory, platform);
  const wholeAllowed = configured.some((one) => isFileSystemRoot(one.realPath, platform));
  const directories: AllowedDirectory[] = [];
  const ignored: AllowedDirectory[] = [];
  for (const root of roots) {
    if (isFileSystemRoot(root.realPath, platform) && !wholeAllowed) {
      ignored.push(root);
      continue;
    }
    const around = innermost(configured, root.realPath, inside);
    directories.push({ ...root, writable: around?.writable ?? true });
    directories.push(
      ...configured.filter((one) => !one.writable && inside(one.realPath, root.realPath)),
    );
  }
  const why = "it is a whole file system, which only a directory argument or --root can allow";
  return { directories: withoutDuplicates(directories), ignored, why };
}

/** The first of each real path, read-only if any of its duplicates is. */
export function withoutDuplicates(directories: readonly AllowedDirectory[]): AllowedDirectory[] {
  const kept = new Map<string, AllowedDirectory>();
  for (const directory of directories) {
    const known = kept.get(directory.realPath);
    if (known === undefined) kept.set(directory.realPath, directory);
    else if (known.writable && !directory.writable)
      kept.set(directory.realPath, { ...known, writable: false });
  }
  return [...kept.values()];
}
