import { dirname, join } from "node:path";
import type { GuardedDirectory, GuardedFile, GuardedPlace, PathGuard } from "@refmcp/boundary";
import { Line } from "@refmcp/boundary";
import { ToolError } from "@refmcp/boundary/answer";
import { failure, named } from "./errors.ts";

/** Runs `work` with the opened file, and closes it. */
export async function withFile<Result>(
  guard: PathGuard,
  path: string,
  work: (file: GuardedFile) => Promise<Result>,
): Promise<Result> {
  const file = await guard.openFile(path);
  return work(file).finally(() => file.handle.close());
}

export async function withDirectory<Result>(
  guard: PathGuard,
  path: string,
  work: (directory: GuardedDirectory) => Promise<Result>,
): Promise<Result> {
  const directory = await guard.openDirectory(path);
  return work(directory).finally(() => directory.close());
}

/** Runs `work` with a writable place, and closes its parent. */
export async function withPlace<Result>(
  guard: PathGuard,
  path: string,
  work: (place: GuardedPlace) => Promise<Result>,
): Promise<Result> {
  const place = await guard.place(path, { write: true });
  return work(place).finally(() => place.parent.close());
}

/** The place at `path`, whose parent is already closed. */
export async function placeOf(guard: PathGuard, path: string, options?: { write: boolean }) {
  const place = await guard.place(path, options);
  await place.parent.close();
  return place;
}

/** Opens the directory at `path`; undefined if it is a file. */
export async function directoryAt(
  guard: PathGuard,
  path: string,
): Promise<GuardedDirectory | undefined> {
  return guard.openDirectory(path).catch((error: unknown) => {
    if (error instanceof ToolError && error.code === "not_directory") return undefined;
    throw error;
  });
}

/** Opens the file at `path`, or returns undefined if nothing is there. Close its handle. */
export async function openIfThere(
  guard: PathGuard,
  path: string,
): Promise<GuardedFile | undefined> {
  return (await guard.exists(path)) ? guard.openFile(path).catch(orNothing) : undefined;
}

/**
 * The real path to lock for `path`: that of the entry itself or, if it is written through a symlink (`follow`), of its
 * target.
 */
export async function lockPath(guard: PathGuard, path: string, follow: boolean): Promise<string> {
  const place = await placeOf(guard, path).catch(orNothing);
  const isFollowed = follow && place?.stat?.isSymbolicLink() === true;
  const file = isFollowed ? await guard.openFile(path).catch(orNothing) : undefined;
  await file?.handle.close();
  if (file !== undefined) return file.realPath;
  // If the parent is also missing, everyone who creates both locks the same text.
  return place === undefined ? guard.resolve(path) : join(place.parent.realPath, place.name);
}

/** Ignores `not_found`; rethrows every other error. */
export function orNothing(error: unknown): undefined {
  if (!(error instanceof ToolError) || error.kind !== "not_found") throw error;
}

/** Returns nothing for a refusal of the guard; rethrows every other error. */
export function orRefused(error: unknown): undefined {
  if (!(error instanceof ToolError)) throw error;
}

/** Throws the guard's `not_found`, which suggests similar names, for a missing path. */
export async function notThere(guard: PathGuard, path: string): Promise<never> {
  await (await guard.openFile(path)).handle.close();
  throw failure("just_created", `${named(path)} was just created by another program.`);
}

/** Returns the missing directories of a path, outermost first; each directory is looked up once. */
export function missingDirectories(guard: PathGuard) {
  const results = new Map<string, readonly string[]>();
  return async function find(path: string): Promise<readonly string[]> {
    const before = results.get(path);
    if (before !== undefined) return before;
    const isThere = guard.contains(path) && (await guard.exists(path));
    const directory = isThere ? await guard.openDirectory(path).catch(orNothing) : undefined;
    await directory?.close();
    const isTop = dirname(path) === path;
    const missing = directory === undefined && !isTop ? [...(await find(dirname(path))), path] : [];
    results.set(path, missing);
    return missing;
  };
}

/**
 * One lock per path in this process. Only the holder of a path's lock changes the path. Locks are granted in request
 * order.
 */
export class Locks {
  readonly #line = new Line();

  /**
   * Runs `work` while holding the locks of all `paths` (absolute real paths).
   *
   * @throws the signal's reason if it aborts before the locks are held
   */
  async hold<Result>(
    paths: readonly string[],
    work: () => Promise<Result>,
    signal?: AbortSignal,
  ): Promise<Result> {
    // Always in the same order, so that no two callers wait for each other; two forms of a name share a lock.
    const keys = [...new Set(paths.map((path) => path.normalize("NFC").toLowerCase()))].sort();
    const locked = keys.reduceRight<() => Promise<Result>>(
      (next, key) => () => this.#line.run(key, next, signal),
      async () => {
        signal?.throwIfAborted();
        return work();
      },
    );
    return locked();
  }
}
