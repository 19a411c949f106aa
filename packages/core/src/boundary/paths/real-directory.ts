import { readlinkSync, realpathSync, statSync } from "node:fs";
import { basename, dirname, isAbsolute, join, parse, sep } from "node:path";
import { fileSystemKind, isSpecialPlace } from "./special-places.ts";
import { errorCode } from "./system-error.ts";

/** The real location of a directory, or why it cannot be used. */
export interface RealDirectory {
  /** Every link resolved; for a missing directory those of its nearest existing ancestor. */
  readonly realPath: string;
  readonly unavailable?: string;
}

/** Looks up an absolute path on the disk. Also finds a name that is stored in the other Unicode form (NFC, NFD). */
export function lookUp(path: string): RealDirectory {
  let failure: unknown;
  for (const candidate of new Set([path, path.normalize("NFC"), path.normalize("NFD")])) {
    try {
      const realPath = realpathSync.native(candidate);
      if (isSpecialPlace(realPath, process.platform) || fileSystemKind(realPath) === "special") {
        return { realPath, unavailable: "contains devices or processes, not files, and is never allowed" };
      }
      if (realPath.includes("\uFFFD")) {
        // Node writes every byte that is not UTF-8 so: two such names would look alike.
        return { realPath, unavailable: "has a name that is not valid UTF-8" };
      }
      return statSync(realPath).isDirectory()
        ? { realPath }
        : { realPath, unavailable: "is not a directory" };
    } catch (error) {
      failure ??= error;
    }
  }
  return { realPath: nearestRealPath(path), unavailable: reason(failure) };
}

function reason(error: unknown): string {
  const code = errorCode(error);
  if (code === "ENOENT" || code === "ENOTDIR") return "does not exist";
  if (code === "EACCES" || code === "EPERM") return "cannot be accessed: permission denied";
  if (code === "ELOOP") return "is a loop of symlinks";
  return `cannot be accessed (${code ?? "unknown error"})`;
}

function nearestRealPath(path: string): string {
  const parent = dirname(path);
  if (parent === path) return path;
  try {
    return join(realpathSync.native(parent), basename(path));
  } catch {
    return join(nearestRealPath(parent), basename(path));
  }
}

/**
 * The real places of the links that are followed on the way to `path`, in order; at most 40, as Linux allows.
 * Who can write to one of these places decides where `path` leads.
 */
export function linksOnTheWay(path: string): string[] {
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
    // Not a link, or nothing at all.
    return undefined;
  }
}
