import { realpathSync } from "node:fs";
import { readlink, realpath } from "node:fs/promises";
import { basename, dirname, isAbsolute, join, parse, sep } from "node:path";

/** How much of a path exists: its deepest existing part, and the missing names below it. */
export interface ExistingPart {
  /** Absolute, every link resolved. */
  readonly real: string;
  /** The names below `real` that do not exist; none if the path exists. */
  readonly missing: readonly string[];
  /** The path's own text up to `real`; if a dangling link was followed, `real` itself. */
  readonly existingText: string;
}

/** How many links Linux follows in one path. */
const MAX_LINKS = 40;

/**
 * Follows an absolute path as far as it exists, including dangling links, whose target counts instead of their
 * location. It also looks outside the allowed directories, so the caller must not reveal anything before it has checked
 * that `real` is inside.
 */
export async function existingPart(path: string): Promise<ExistingPart> {
  let at = path;
  for (let links = 0; ; links++) {
    const { real, missing } = await deepestExisting(at);
    const [next, ...restNames] = missing;
    // A loop of links has no target, so its own location counts.
    const target =
      next === undefined || links >= MAX_LINKS
        ? undefined
        : await readlink(join(real, next)).catch(() => undefined);
    if (target === undefined && !missing.includes("..")) {
      const existingText = links === 0 ? missing.reduce((part) => dirname(part), path) : real;
      return { real, missing, existingText };
    }
    // Not normalized if it is a link: `..` after it is the parent of the link's target.
    at =
      target === undefined
        ? join(real, ...missing)
        : [isAbsolute(target) ? target : real + sep + target, ...restNames].join(sep);
  }
}

/** The same without following a dangling link, which counts as missing. */
export async function deepestExisting(path: string): Promise<{ real: string; missing: string[] }> {
  const { root } = parse(path);
  const names = path
    .slice(root.length)
    .split(sep === "\\" ? /[\\/]/ : "/")
    .filter((name) => name !== "" && name !== ".");
  for (let length = names.length; ; length--) {
    try {
      const real = await realpath(root + names.slice(0, length).join(sep));
      return { real, missing: names.slice(length) };
    } catch {
      if (length === 0) return { real: root, missing: names };
    }
  }
}

/** The real path that an absolute path has or, with its missing end, would have. */
export function realPathOf(path: string): string {
  try {
    return realpathSync.native(path);
  } catch {
    return dirname(path) === path ? path : join(realPathOf(dirname(path)), basename(path));
  }
}
