import type { Stats } from "node:fs";
import { lstat, mkdir, readlink } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { directoryAround } from "./check.ts";
import { existingPart } from "./existing.ts";
import { explain, isInsideNow, refusalOf } from "./explain.ts";
import { containsByAnyName, isInside } from "./names.ts";
import { openDirectoryAt } from "./open.ts";
import {
  errorCode,
  hiddenPlace,
  isAllowedDirectory,
  isMissing,
  leadsOutside,
  outside,
  pathError,
  readOnly,
} from "./path-errors.ts";
import type {
  AllowedDirectory,
  GuardContext,
  GuardedDirectory,
  GuardedPlace,
  LinkTarget,
} from "./types.ts";

/**
 * Opens and verifies the parent of `path`; returns it with the entry of the last component, where a link is not
 * followed.
 *
 * @param options.write the entry is going to be changed, so read-only directories and the allowed directories
 * themselves are refused
 */
export async function openEntry(
  path: string,
  context: GuardContext,
  options: { write?: boolean } = {},
): Promise<GuardedPlace> {
  const parentPath = dirname(path);
  const { allowed } = context;
  const itself = allowedAt(path, context);
  if (parentPath === path)
    throw itself === undefined ? outside(path, allowed) : isAllowedDirectory(path, itself);
  let parent: GuardedDirectory;
  try {
    parent = await openDirectoryAt(parentPath, context);
  } catch (error) {
    throw itself === undefined ? error : isAllowedDirectory(path, itself);
  }
  try {
    const name = basename(path);
    const stat = await statEntry(parent, name);
    const place = { parent, name, path, entry: parent.entry(name), stat };
    if (allowed.hidden?.hides(join(parent.realPath, name))) throw hiddenPlace(path);
    if (options.write) requireWritable(place, context);
    return place;
  } catch (error) {
    await parent.close();
    throw await explain(error, path, context);
  }
}

/**
 * @throws ToolError `denied` if the path is in a read-only directory, or is or contains an allowed directory
 */
export function requireWritable(place: GuardedPlace, { allowed }: GuardContext): void {
  const { parent, name, path } = place;
  if (!parent.directory.writable) throw readOnly(path, parent.directory);
  const real = join(parent.realPath, name);
  const { hidden } = allowed;
  if (hidden?.paths.some((one) => isInside(one, real))) throw hiddenPlace(path);
  for (const directory of allowed.directories()) {
    if ([directory.path, directory.realPath].some((one) => containsByAnyName(real, one)))
      throw isAllowedDirectory(path, directory);
  }
}

export async function statEntry(
  parent: GuardedDirectory,
  name: string,
): Promise<Stats | undefined> {
  return lstat(parent.entry(name)).catch((error: unknown) => {
    if (errorCode(error) === "ENOENT") return undefined;
    throw error;
  });
}

/** Runs `work` with an entry that is being opened, and closes its parent. Errors of `work` are explained for `path`. */
export async function withEntry<Result>(
  path: string,
  opening: Promise<GuardedPlace>,
  context: GuardContext,
  work: (place: GuardedPlace) => Promise<Result>,
): Promise<Result> {
  const place = await opening;
  try {
    return await work(place);
  } catch (error) {
    throw await explain(error, path, context);
  } finally {
    await place.parent.close();
  }
}

/** See `PathGuard.readLink`. */
export async function readLinkAt(path: string, context: GuardContext): Promise<LinkTarget> {
  return withEntry(path, openEntry(path, context), context, async ({ entry, stat }) => {
    if (stat?.isSymbolicLink() === false) throw pathError("not_link", path);
    const target = await readlink(entry);
    const { real, missing } = await existingPart(path);
    const inside = missing.length === 0 && directoryAround(real, context.allowed) !== undefined;
    return { target, inside };
  });
}

/** The allowed directory that `path` names. */
const allowedAt = (path: string, { allowed }: GuardContext): AllowedDirectory | undefined =>
  allowed.directories().find((one) => one.path === path || one.realPath === path);

/** See `PathGuard.exists`. */
export async function entryExists(path: string, context: GuardContext): Promise<boolean> {
  const itself = allowedAt(path, context);
  if (itself !== undefined) return itself.unavailable === undefined;
  const parent = dirname(path);
  let directory: GuardedDirectory | undefined;
  try {
    directory = await context.opener.openDirectory(parent, parent);
    return (await statEntry(directory, basename(path))) !== undefined;
  } catch (error) {
    if (!isMissing(error)) throw await explain(error, path, context);
    const refusal = await refusalOf(path, await existingPart(path), context);
    if (refusal !== undefined) throw refusal;
    return false;
  } finally {
    await directory?.close();
  }
}

/**
 * Creates the directory at `path` and any missing parents. Each is created in its opened and verified parent, so a
 * swapped link cannot redirect it outside.
 *
 * @returns the directories that were created, outermost first
 */
export async function makeDirectories(path: string, context: GuardContext): Promise<string[]> {
  const created: string[] = [];
  const existing = await existingPart(path);
  if (!(await isInsideNow(existing, context))) throw leadsOutside(path, context.allowed);
  let directory: GuardedDirectory | undefined;
  try {
    directory = await context.opener.openDirectory(existing.real, existing.written);
    for (const name of existing.missing) {
      const at = join(directory.path, name);
      if (context.allowed.hidden?.hides(join(directory.realPath, name))) throw hiddenPlace(path);
      if (await makeIn(directory, name, path)) created.push(at);
      const next: GuardedDirectory = await context.opener.openDirectory(directory.entry(name), at);
      await directory.close();
      directory = next;
    }
    return created;
  } catch (error) {
    throw await explain(error, path, context);
  } finally {
    await directory?.close();
  }
}

/** Creates one directory; false if something already exists there, even if another program has just created it. */
async function makeIn(directory: GuardedDirectory, name: string, path: string): Promise<boolean> {
  if (!directory.directory.writable) throw readOnly(path, directory.directory);
  await directory.verify();
  try {
    await mkdir(directory.entry(name));
  } catch (error) {
    if (errorCode(error) === "EEXIST") return false;
    throw error;
  }
  await directory.verify();
  return true;
}
