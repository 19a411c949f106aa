import { lstat, readdir, readlink, realpath } from "node:fs/promises";
import { isAbsolute, join, parse, sep } from "node:path";
import type { GuardContext } from "./open.ts";
import type { GuardedDirectory } from "./types.ts";

/** How much of a path exists: its deepest existing part, and the missing names below it. */
export interface Reach {
  /** Absolute, every link resolved. */
  readonly real: string;
  /** The names below `real` that do not exist; none if the path exists. */
  readonly missing: readonly string[];
  /** False if a dangling link was followed, so `missing` are not the path's own last components. */
  readonly direct: boolean;
}

/** How many links Linux follows in one path. */
const MAX_LINKS = 40;

/**
 * Follows an absolute path as far as it exists, including dangling links, whose target counts instead of their
 * location. It also looks outside the bound, so the caller must not reveal anything before it has checked that `real`
 * is inside.
 */
export async function reach(path: string): Promise<Reach> {
  let at = path;
  for (let links = 0; ; links++) {
    const found = await deepestExisting(at);
    const { real, missing } = found;
    const [next = "", ...others] = missing;
    const target = next === "" ? undefined : await targetOf(join(real, next));
    // A loop of links has no target, so its own location counts.
    if (links === MAX_LINKS) return { ...found, direct: false };
    if (target !== undefined) {
      // Not normalized: `..` after a link is the parent of the link's target.
      at = [isAbsolute(target) ? target : real + sep + target, ...others].join(sep);
    } else if (missing.includes("..")) {
      at = join(real, ...missing);
    } else {
      return { ...found, direct: links === 0 };
    }
  }
}

async function deepestExisting(path: string): Promise<{ real: string; missing: string[] }> {
  const { root } = parse(path);
  const names = path
    .slice(root.length)
    .split(sep === "\\" ? /[\\/]/ : "/")
    .filter((name) => name !== "" && name !== ".");
  for (let length = names.length; ; length--) {
    try {
      return { real: await realpath(root + names.slice(0, length).join(sep)), missing: names.slice(length) };
    } catch {
      if (length === 0) return { real: root, missing: names };
    }
  }
}

async function targetOf(link: string): Promise<string | undefined> {
  try {
    return (await lstat(link)).isSymbolicLink() ? await readlink(link) : undefined;
  } catch {
    return undefined;
  }
}

/**
 * Whether `text` has more than one Unicode form, so a name may be stored in another form than requested.
 */
export function hasForms(text: string): boolean {
  return text.normalize("NFC") !== text.normalize("NFD");
}

/** The entry of `directory` that is `name` in another Unicode form (NFC, NFD), if `name` itself does not exist. */
export async function storedName(directory: GuardedDirectory, name: string): Promise<string | undefined> {
  if (!hasForms(name)) return undefined;
  const composed = name.normalize("NFC");
  const names = await readdir(directory.entry(""));
  return names.includes(name) ? undefined : names.find((one) => one.normalize("NFC") === composed);
}

/** `path` with the missing name as stored; undefined if no form of the name exists. */
export async function storedPath(
  path: string,
  { opener, membership }: GuardContext,
): Promise<string | undefined> {
  if (!hasForms(path)) return undefined;
  const { real, missing } = await reach(path);
  const [name, ...others] = missing;
  if (name === undefined || membership.around(real) === undefined) return undefined;
  let directory: GuardedDirectory | undefined;
  try {
    directory = await opener.openDirectory(real, real);
    const stored = await storedName(directory, name);
    return stored === undefined ? undefined : join(directory.realPath, stored, ...others);
  } catch {
    return undefined;
  } finally {
    await directory?.close();
  }
}
