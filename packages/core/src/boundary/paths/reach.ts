import { lstat, readlink, realpath } from "node:fs/promises";
import { isAbsolute, join, parse, sep } from "node:path";

/** How far a path leads: the deepest place that exists, and the names that are missing below it. */
export interface Reach {
  /** Absolute, every link resolved. */
  readonly real: string;
  /** The names below `real` that do not exist; none if the path leads to something. */
  readonly missing: readonly string[];
  /** False if a dangling link was followed by hand, so that `missing` are not the path's own last names. */
  readonly direct: boolean;
}

/** As many links as Linux follows in one path. */
const mostLinks = 40;

/**
 * Follows an absolute path as far as it goes, dangling links too: their target counts, not their location. It
 * also looks outside the bound, so the caller must not reveal anything before `real` is known to be inside.
 */
export async function reach(path: string): Promise<Reach> {
  let at = path;
  for (let links = 0; ; links++) {
    const found = await deepestExisting(at);
    const { real, missing } = found;
    const [next = "", ...others] = missing;
    const target = next === "" ? undefined : await targetOf(join(real, next));
    // A loop of links leads nowhere: it belongs to its own location.
    if (links === mostLinks) return { ...found, direct: false };
    if (target !== undefined) {
      // Not normalised: `..` after a link means the parent of what the link leads to.
      at = [isAbsolute(target) ? target : real + sep + target, ...others].join(sep);
    } else if (missing.includes("..")) {
      at = join(real, ...missing);
    } else {
      return { ...found, direct: links === 0 };
    }
  }
}

/** The path that would be created. */
export function placeOf({ real, missing }: Reach): string {
  return join(real, ...missing);
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
