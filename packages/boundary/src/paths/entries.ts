import { lstatSync } from "node:fs";
import { lstat, mkdir, readdir, readlink, stat } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { nearest, ToolError } from "../answer/errors.ts";
import { directoryAround, type ExistingPart, existingPart, unavailableAround } from "./check.ts";
import { containsByAnyName, isInside } from "./names.ts";
import {
  errorCode,
  isMissing,
  joinNames,
  leadsOutsideError,
  orMissing,
  outsideError,
  pathError,
  quote,
  systemError,
} from "./path-errors.ts";
import type {
  AllowedDirectory,
  GuardContext,
  GuardedDirectory,
  GuardedPlace,
  LinkTarget,
} from "./types.ts";

/** The allowed directory that `path` names. */
const allowedAt = (path: string, { allowed }: GuardContext): AllowedDirectory | undefined =>
  allowed.directories().find((directory) => directory.path === path || directory.realPath === path);

/** How a path is opened, whose last component need not exist. */
interface EntryOptions {
  /** It is going to be changed: read-only directories and the allowed directories themselves are refused. */
  readonly write?: boolean;
  /** If it is a link, its target is going to be changed instead. */
  readonly through?: boolean;
}

/**
 * Opens and verifies the parent of `path`; returns it with the entry of the last component, where a link is not
 * followed.
 */
export async function openEntry(
  path: string,
  context: GuardContext,
  { write = false, through = false }: EntryOptions = {},
): Promise<GuardedPlace> {
  const parentPath = dirname(path);
  const { allowed, opener } = context;
  let parent: GuardedDirectory;
  try {
    if (parentPath === path) throw outsideError(path, allowed);
    parent = await opener.openDirectory(parentPath, parentPath);
  } catch (error) {
    const allowedDirectory = allowedAt(path, context);
    throw allowedDirectory === undefined
      ? error
      : pathError("allowed_directory", path, { detail: quote(allowedDirectory.path) });
  }
  try {
    const name = basename(path);
    const entry = parent.entry(name);
    const stat = await statIn(parent, entry);
    const place = { parent, name, path, entry, stat };
    if (allowed.hidden?.hides(join(parent.realPath, name))) throw pathError("hidden", path);
    if (write && !(through && stat?.isSymbolicLink())) requireWritable(place, context);
    return place;
  } catch (error) {
    await parent.close();
    throw error;
  }
}

/** lstat of an entry, in the thread pool if it may wait for a file server; undefined if nothing is there. */
export const statIn = async ({ isLocal }: GuardedDirectory, entry: string) =>
  isLocal ? lstatSync(entry, { throwIfNoEntry: false }) : lstat(entry).catch(orMissing);

/** The same with the numbers that identify a file. @throws the operating system's error */
export const identityIn = async ({ isLocal }: GuardedDirectory, entry: string) =>
  isLocal ? lstatSync(entry, { bigint: true }) : lstat(entry, { bigint: true });

/**
 * @throws ToolError `denied` if the path is in a read-only directory, or is or contains an allowed directory
 */
function requireWritable({ parent, name, path }: GuardedPlace, { allowed }: GuardContext): void {
  requireWritableDirectory(parent, path);
  const real = join(parent.realPath, name);
  if (allowed.hidden?.paths.some((place) => isInside(place, real))) throw pathError("hidden", path);
  for (const directory of allowed.directories())
    if ([directory.path, directory.realPath].some((root) => containsByAnyName(real, root)))
      throw pathError("allowed_directory", path, { detail: quote(directory.path) });
}

function requireWritableDirectory({ directory }: GuardedDirectory, path: string): void {
  if (!directory.writable) throw pathError("read_only", path, { detail: quote(directory.path) });
}

/** Runs `work` with an entry, and closes its parent. */
export async function withEntry<Result>(
  path: string,
  context: GuardContext,
  options: EntryOptions,
  work: (place: GuardedPlace) => Promise<Result>,
): Promise<Result> {
  const place = await openEntry(path, context, options);
  return work(place).finally(() => place.parent.close());
}

/** See `PathGuard.readLink`. */
export async function readLinkAt(path: string, context: GuardContext): Promise<LinkTarget> {
  return withEntry(path, context, {}, async ({ entry, stat }) => {
    if (stat?.isSymbolicLink() === false) throw pathError("not_link", path);
    const target = await readlink(entry);
    const { real, missing } = await existingPart(path);
    const inside = missing.length === 0 && directoryAround(real, context.allowed) !== undefined;
    return { target, inside };
  });
}

/** See `PathGuard.exists`. */
export async function entryExists(path: string, context: GuardContext): Promise<boolean> {
  const allowedDirectory = allowedAt(path, context);
  if (allowedDirectory !== undefined) return allowedDirectory.unavailable === undefined;
  try {
    return await withEntry(path, context, {}, async ({ stat }) => stat !== undefined);
  } catch (error) {
    if (!isMissing(error)) throw error;
    await existingInside(path, context);
    return false;
  }
}

/**
 * Creates the directory at `path` and any missing parents. Each is created in its opened and verified parent, so a
 * swapped link cannot redirect it outside.
 *
 * @returns the directories that were created, outermost first
 */
export async function makeDirectories(path: string, context: GuardContext): Promise<string[]> {
  const { allowed, opener } = context;
  const created: string[] = [];
  const existing = await existingInside(path, context);
  let directory = await opener.openDirectory(existing.real, existing.existingText);
  try {
    for (const name of existing.missing) {
      const at = join(directory.path, name);
      if (allowed.hidden?.hides(join(directory.realPath, name))) throw pathError("hidden", path);
      requireWritableDirectory(directory, path);
      await directory.verify();
      await mkdir(directory.entry(name)).then(
        () => created.push(at),
        (error: unknown) => {
          // Perhaps another program has just created it.
          if (errorCode(error) !== "EEXIST") throw error;
        },
      );
      await directory.verify();
      const next = await opener.openDirectory(directory.entry(name), at);
      await directory.close();
      directory = next;
    }
    return created;
  } finally {
    await directory.close();
  }
}

/**
 * How much of a path exists.
 *
 * @throws ToolError for one whose existing part is outside now: the same whether it exists or not
 */
export async function existingInside(path: string, { allowed }: GuardContext) {
  const existing = await existingPart(path);
  if (directoryAround(existing.real, allowed) !== undefined) return existing;
  throw unavailableAround(path, allowed) ?? leadsOutsideError(path, allowed);
}

/**
 * The error to throw for `path`, with an explanation.
 *
 * @throws ToolError for everything outside the allowed directories
 */
export async function explain(
  error: unknown,
  path: string,
  context: GuardContext,
): Promise<unknown> {
  if (error instanceof ToolError || errorCode(error) === undefined) return error;
  const existing = await existingInside(path, context);
  return isMissing(error) ? missingError(path, existing, context) : systemError(error, path);
}

/** How many names in a directory are compared with a missing one. */
const MAX_NAMES_COMPARED = 5000;

/** `not_found`, with the nearest existing directory and the names in it that are similar to the missing one. */
async function missingError(
  path: string,
  { real, missing: [name], existingText }: ExistingPart,
  { opener }: GuardContext,
): Promise<ToolError> {
  if (name === undefined) return pathError("changed_meanwhile", path);
  if ((await stat(real).catch(() => undefined))?.isDirectory() !== true)
    return pathError("enoent", path, { detail: `: ${quote(existingText)} is a file` });
  // Names that cannot be read make no suggestions.
  const directory = await opener.openDirectory(real, real).catch(() => undefined);
  const names = directory && (await readdir(directory.entry("")).catch(() => undefined));
  await directory?.close();
  const similar = nearest(name, (names ?? []).slice(0, MAX_NAMES_COMPARED));
  const suggestion = similar.length > 0 ? ` and contains ${joinNames(similar.map(quote))}` : "";
  const detail = `; the nearest existing directory is ${quote(existingText)}${suggestion}`;
  return pathError("enoent", path, { detail });
}
