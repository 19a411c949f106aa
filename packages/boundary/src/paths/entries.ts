import { lstatSync, type Stats, statSync } from "node:fs";
import { lstat, mkdir } from "node:fs/promises";
import { basename, dirname, join, sep } from "node:path";
import { existingPart, explain, hasForms, isInsideNow, storedName } from "./explain.ts";
import { openDirectoryAt } from "./open.ts";
import {
  errorCode,
  hiddenPlace,
  isAllowedDirectory,
  leadsOutside,
  outside,
  readOnly,
} from "./path-errors.ts";
import { isInside, mayBeInside } from "./resolve.ts";
import { type GuardContext, type GuardedDirectory, type GuardedPlace, isSame } from "./types.ts";

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
  const itself = allowed.directories().find((one) => one.path === path || one.realPath === path);
  if (parentPath === path)
    throw itself === undefined ? outside(path, allowed) : isAllowedDirectory(path, itself);
  let parent: GuardedDirectory;
  try {
    parent = await openDirectoryAt(parentPath, context);
  } catch (error) {
    throw itself === undefined ? error : isAllowedDirectory(path, itself);
  }
  try {
    const { name, stat } = await findEntry(parent, basename(path));
    const place = { parent, name, path, entry: parent.entry(name), stat };
    if (allowed.hidden?.hides(join(parent.realPath, name))) throw hiddenPlace(path);
    if (options.write) requireWritable(place, context);
    return place;
  } catch (error) {
    await parent.close();
    throw await explain(error, path, context);
  }
}

/** The entry `asked`, or one whose name differs only in Unicode form. */
async function findEntry(
  parent: GuardedDirectory,
  asked: string,
): Promise<{ name: string; stat: Stats | undefined }> {
  const stat = await statEntry(parent, asked);
  if (stat !== undefined || !hasForms(asked)) return { name: asked, stat };
  const name = (await storedName(parent, asked)) ?? asked;
  return { name, stat: await statEntry(parent, name) };
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
    const isHeld = [directory.path, directory.realPath].some(
      (one) => isInside(one, real) || (mayBeInside(one, real) && isAncestor(place, real, one)),
    );
    if (isHeld) throw isAllowedDirectory(path, directory);
  }
}

/** Whether the path is an ancestor of `directory` under another name. */
function isAncestor({ entry }: GuardedPlace, real: string, directory: string): boolean {
  const depth = real.split(sep).length;
  const ancestor = directory.split(sep).slice(0, depth).join(sep);
  const one = lstatSync(entry, { bigint: true, throwIfNoEntry: false });
  const other = statSync(ancestor, { bigint: true, throwIfNoEntry: false });
  return one !== undefined && other !== undefined && isSame(one, other);
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
    for (const asked of existing.missing) {
      const name = (await storedName(directory, asked)) ?? asked;
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
