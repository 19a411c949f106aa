import { dirname } from "node:path";
import type { PathGuard } from "@refmcp/boundary";
import { orNothing } from "../open-path.ts";

/** Returns the missing directories of a path, outermost first; each directory is looked up once. */
export function missingDirectories(guard: PathGuard) {
  const known = new Map<string, readonly string[]>();
  return async function find(path: string): Promise<readonly string[]> {
    const before = known.get(path);
    if (before !== undefined) return before;
    const isThere = guard.contains(path) && (await guard.exists(path));
    const directory = isThere ? await guard.openDirectory(path).catch(orNothing) : undefined;
    await directory?.close();
    const isTop = dirname(path) === path;
    const missing = directory === undefined && !isTop ? [...(await find(dirname(path))), path] : [];
    known.set(path, missing);
    return missing;
  };
}
