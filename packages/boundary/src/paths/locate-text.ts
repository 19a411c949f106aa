import { lstat, realpath, stat } from "node:fs/promises";
import { homedir } from "node:os";
import { dirname, join, relative, resolve } from "node:path";
import { isSpecialPlace } from "./membership.ts";
import { parsePath, type TextRules } from "./path-text.ts";
import { foldsCase, isInside, mayBeInside, type Platform } from "./platform.ts";
import { gone, outside, specialPlace } from "./refusals.ts";
import { type AllowedDirectory, type Bound, type Identity, isSame } from "./types.ts";

const platform: Platform = process.platform;
const rules: TextRules = { platform, home: homedir };

/**
 * Converts the text of an argument to an absolute, normalized path that is, judging by its text, inside an allowed
 * directory. Its target is known only when it is opened.
 *
 * A relative path is resolved against the first directory in which it exists, or else the first one.
 *
 * @throws ToolError `invalid`, `denied` (outside), `unavailable` (the allowed directory does not exist)
 */
export async function locateText(text: string, bound: Bound): Promise<string> {
  const parsed = parsePath(text, rules);
  const path = parsed.absolute ? parsed.path : await belowDirectories(parsed.path, bound);
  if (path === undefined) throw outside(text, bound);
  if (innermost(path, bound, isAvailable) !== undefined) return plain(path, text);

  bound.refresh?.();
  if (innermost(path, bound, isAvailable) !== undefined) return plain(path, text);
  const missing = unavailableAround(path, bound);
  if (missing !== undefined) throw gone(text, missing);
  const other = await otherName(path, bound);
  if (other === undefined) throw outside(text, bound);
  return plain(other, text);
}

/** The allowed directory around `path`, by its text, if the only one does not exist now. */
export function unavailableAround(path: string, bound: Bound): AllowedDirectory | undefined {
  return innermost(path, bound, isAvailable) === undefined ? innermost(path, bound) : undefined;
}

/** The innermost allowed directory around `path`, by its text: as configured or with links resolved. */
function innermost(
  path: string,
  bound: Bound,
  which: (directory: AllowedDirectory) => boolean = () => true,
): AllowedDirectory | undefined {
  const inside = foldsCase(platform) ? mayBeInside : isInside;
  let found: AllowedDirectory | undefined;
  let length = -1;
  for (const directory of bound.directories().filter(which)) {
    for (const start of [directory.path, directory.realPath]) {
      if (start.length <= length || !inside(path, start, platform)) continue;
      found = directory;
      length = start.length;
    }
  }
  return found;
}

function isAvailable({ unavailable }: AllowedDirectory): boolean {
  return unavailable === undefined;
}

function plain(path: string, text: string): string {
  if (isSpecialPlace(path, platform)) throw specialPlace(text);
  return path;
}

/** Undefined if it would be outside. */
async function belowDirectories(path: string, bound: Bound): Promise<string | undefined> {
  const candidates = bound.directories().map((directory) => resolve(directory.path, path));
  const inside = candidates.filter((candidate) => innermost(candidate, bound) !== undefined);
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
    if (innermost(await realpath(dirname(path)), bound) === undefined) return false;
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
